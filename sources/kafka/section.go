package kafka

import (
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources"
	"github.com/urlmill/urlmill/sources/codec"
)

// Kind is the source of topics.
var Kind = sources.Kind{Name: "kafka", Doc: "Topics, read as a member of a consumer group.", New: func() sources.Options {
	o := defaults()
	o.TopicTimeout = 15 * time.Second
	return &o
}}

// maxTimeout bounds durations that a process waits for while it runs, and maxStartTimeout those at its start.
const (
	maxTimeout      = time.Hour
	maxStartTimeout = 24 * time.Hour
)

// aliases are what Kafka's own clients, and other readers of topics, call keys of the section.
var aliases = map[string]string{
	"topic": "topics", "topic.name": "topics", "subscribe": "topics",
	"group.id": "group", "consumer.group": "group", "consumer.group.id": "group",
	"group.instance.id": instanceKey, "client.rack": "rack", "broker.rack": "rack",
	"auto.offset.reset": "start", "offset.reset": "start", "start.from": "start", "starting.offsets": "start",
	"isolation.level":    "isolation",
	"session.timeout.ms": "session_timeout", "heartbeat.interval.ms": heartbeatKey, "max.poll.interval.ms": "rebalance_timeout",
	"fetch.min.bytes": "min_bytes", "fetch.max.wait.ms": "max_wait", "fetch.wait.max.ms": "max_wait",
	"max.partition.fetch.bytes": "max_bytes", "fetch.message.max.bytes": "max_bytes", "fetch.max.bytes": fetchMemoryKey,
}

const heartbeatKey, fetchMemoryKey, instanceKey = "heartbeat_interval", "fetch_memory", "instance_id"

// Section implements [sources.Options].
func (o *Options) Section() config.Section {
	brokers := kafkaconn.Brokers(&o.Brokers)
	brokers.Example = "brokers: [localhost:9092]"
	fields := []config.Field{
		brokers,
		{Name: "topics", Doc: "Topics to read; their partitions are read side by side.", Value: config.Texts(&o.Topics, "[clicks]"), Example: "topics: [clicks]"},
		{Name: "group", Doc: "The consumer group; processes with the same one share the partitions.", Value: config.Text(&o.Group, "urlmill-clicks"), Example: "group: urlmill-clicks"},
		{Name: instanceKey, Doc: "A name that this process alone has, and has again after a restart: it then gets its partitions back without a rebalance.", Value: config.Text(&o.InstanceID, "urlmill-0")},
		{Name: "rack", Doc: "Where this process runs, as in broker.rack: records come from replicas there, if the brokers allow it.", Value: config.Text(&o.Rack, "eu-central-1a")},
		kafkaconn.ClientID(&o.ClientID),
		{Name: "start", Doc: "Where a partition begins for which there is no position yet.", Value: startValue(&o.Start)},
	}
	fields = append(fields, o.policyFields()...)
	fields = append(fields, kafkaconn.Security(&o.TLS, &o.SASL)...)
	return config.Section{
		Fields:  append(fields, o.flowFields()...),
		Aliases: kafkaconn.Aliases(aliases),
		Refused: map[string]string{"enable.auto.commit": "positions are committed when their rows are, and not by time; take the key out"},
		Check: func(d *config.Check) {
			if !d.Given(heartbeatKey) { // the default has to fit the session
				o.HeartbeatInterval = o.usualHeartbeat()
			}
		},
	}
}

// policyFields are the fields of what to do when something is not as expected.
func (o *Options) policyFields() []config.Field {
	return []config.Field{
		{Name: "isolation", Doc: "Whether records of aborted and open transactions are left out.", Value: config.Names(&o.Isolation, isolationLevels...)},
		{Name: "on_group_ahead", Was: "on_ahead", Doc: "What to do when the group has committed more than the output holds: stop, rewind to what the output holds, or skip to the group's offset.", Value: config.Names(&o.OnAhead, aheadPolicies...)},
		{Name: "on_truncated", Doc: "What to do when retention has deleted records that were not read yet.", Value: config.Names(&o.OnTruncated, truncatedPolicies...)},
		{Name: "on_recreated", Doc: "What to do when the topic is another one than the output has read, made anew or of another cluster: stop, or restart with its first record.", Value: config.Names(&o.OnRecreated, recreatedPolicies...)},
		{Name: "on_corrupt", Doc: "What to do with a batch that cannot be read: go on with its bytes in a row with the error record-corrupt, which goes where on_error says, or stop.", Value: config.Names(&o.OnCorrupt, corruptPolicies...)},
	}
}

// flowFields are the fields of times and sizes.
func (o *Options) flowFields() []config.Field {
	return []config.Field{
		{Name: "session_timeout", Doc: "After how long without a heartbeat the group takes a member for dead.", Value: config.Duration(&o.SessionTimeout, time.Second, maxTimeout)},
		{Name: heartbeatKey, Doc: "How often the group is told that this member lives; at most a third of session_timeout.", Value: config.Duration(&o.HeartbeatInterval, 100*time.Millisecond, maxTimeout)},
		{Name: "rebalance_timeout", Doc: "How long a rebalance waits for members to commit; pipeline.drain_timeout has to be shorter.", Value: config.Duration(&o.RebalanceTimeout, time.Second, maxTimeout)},
		kafkaconn.DialTimeout(&o.DialTimeout),
		{Name: "max_wait", Doc: "How long a broker may wait for min_bytes.", Value: config.Duration(&o.MaxWait, time.Millisecond, time.Minute)},
		{Name: "min_bytes", Doc: "How much a broker collects before it answers.", Value: config.Size(&o.MinBytes, 1, maxFetchBytesLimit)},
		{Name: "max_bytes", Doc: "How much of a partition a broker sends at a time.", Value: config.Size(&o.MaxBytes, 1<<10, maxFetchBytesLimit)},
		{Name: fetchMemoryKey, Doc: "What all partitions together have fetched and not read yet. Not set: a share of memory_limit, at most this.", Value: config.Size(&o.FetchMemory, 1<<20, 1<<30)},
		{Name: "max_record_bytes", Doc: "The longest record; a longer one is a row with the error record-too-large.", Value: config.Size(&o.MaxRecordBytes, 1<<10, maxRecordBytesLimit)},
		{Name: "connect_timeout", Doc: "How long the start waits for a broker; 0s is for ever.", Value: config.Duration(&o.ConnectTimeout, 0, maxStartTimeout)},
		{Name: "topic_timeout", Doc: "How long the start waits for topics to be created; 0s is for ever.", Value: config.Duration(&o.TopicTimeout, 0, maxStartTimeout)},
	}
}

// Asks implements [sources.Options].
func (o *Options) Asks() sources.Asks {
	asks := sources.Asks{
		Origin: sources.Topics, Topics: o.Topics,
		Cluster:   &kafkaconn.Cluster{Brokers: o.Brokers, TLS: o.TLS, SASL: o.SASL},
		Rebalance: o.RebalanceTimeout, RebalanceKey: "rebalance_timeout",
		Fetches: true, Fetch: int64(o.FetchMemory), LowerKey: fetchMemoryKey,
	}
	if o.OnCorrupt == PolicyDeadLetter {
		asks.DeadLetters = "on_corrupt"
	}
	return asks
}

// InGroup implements [sources.Grouped].
func (o *Options) InGroup(suffix string) sources.Options {
	c := *o
	c.Group += suffix
	return &c
}

// Open implements [sources.Options].
func (o *Options) Open(e sources.Env, f codec.Factory) (pipeline.Source, error) {
	return New(o.in(e), f, e.Log)
}

// OpenSample implements [sources.Sampler].
func (o *Options) OpenSample(e sources.Env, f codec.Factory, last int64) (pipeline.Source, error) {
	return NewSample(o.in(e), f, last, e.Log)
}

// in returns the options with the memory that a process has for them.
func (o *Options) in(e sources.Env) Options {
	c := *o
	c.FetchMemory = int(e.FetchMemory)
	return c
}
