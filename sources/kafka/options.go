package kafka

import (
	"cmp"
	"time"

	"github.com/urlmill/urlmill/internal/kafkaconn"
)

// Names of the policies, isolation levels and SASL mechanisms.
const (
	StartCommitted = "committed"
	StartEarliest  = "earliest"
	StartLatest    = "latest"

	ReadCommitted   = "read_committed"
	ReadUncommitted = "read_uncommitted"

	PolicyStop       = "stop"
	PolicySkip       = "skip"
	PolicyRewind     = "rewind"
	PolicyRestart    = "restart"
	PolicyDeadLetter = "dead_letter"

	MechanismPlain       = kafkaconn.MechanismPlain
	MechanismScramSHA256 = kafkaconn.MechanismScramSHA256
	MechanismScramSHA512 = kafkaconn.MechanismScramSHA512
)

// Options describes a Kafka source. The zero values of all but Brokers, Topics and Group stand for the defaults,
// which [New] fills in. They are those of a configuration, but for TopicTimeout, which a configuration bounds.
type Options struct {
	// Brokers are the addresses, host:port, to learn the cluster from.
	Brokers []string
	// Topics are the names of the topics to read.
	Topics []string
	// Group is the consumer group to join.
	Group string
	// InstanceID, if not empty, is the name by which this process comes back to the group within SessionTimeout and finds its
	// partitions again, without a rebalance. No other process may have it.
	InstanceID string
	// Rack is where this process runs. Records come from a replica there, if the brokers have one and choose it.
	Rack string
	// ClientID is how the brokers' logs and quotas call this client. Default "urlmill".
	ClientID string

	// Start says where to begin in a partition for which the group has committed no offset and the sink
	// holds no position: "earliest", "latest", or a time in RFC 3339 form, for the first record that is
	// not older. "committed", the default, is another word for "earliest": go on where the group
	// stopped, and leave nothing out. Where the partitions of a topic are found to begin is committed at
	// once for all of them, so that "latest" is decided once and not again at every restart; and a
	// partition that is added later, whether the source is running then or not, begins at its earliest
	// record always.
	Start string

	// Isolation says what is read of transactions: "read_committed", the default, leaves out what was
	// aborted and waits where one is still open; "read_uncommitted" reads everything at once.
	Isolation string
	// OnAhead says what to do where the group's committed offset is ahead of the position that the sink
	// has: "stop", the default; "rewind", begin at the sink's position; or "skip", begin at the
	// committed offset and leave out what is between.
	OnAhead string
	// OnTruncated says what to do where the log begins only after the wanted offset, because retention has
	// deleted what was not read yet: "stop", the default, or "skip", go on where the log begins.
	OnTruncated string
	// OnRecreated says what to do where the topic is another one than that whose positions the sink has, because it was deleted
	// and made anew or the cluster is another one: "stop", the default, or "restart", read it from its first record on, in
	// lanes with a session of their own.
	OnRecreated string
	// OnCorrupt says what becomes of a batch that still cannot be read when it is fetched once more: "dead_letter",
	// the default, one row with the fault record-corrupt and the bytes of the batch as received, as far as
	// MaxRecordBytes, and reading goes on behind it; or "stop". A batch whose end cannot be told stops the
	// lane in any case. One that decompresses to more than FetchMemory, and than twice MaxRecordBytes, cannot
	// be read either.
	OnCorrupt string

	TLS  TLS
	SASL SASL

	// SessionTimeout is after how long without a heartbeat the group gives this member up. Default 30 s.
	SessionTimeout time.Duration
	// HeartbeatInterval is the time between two heartbeats. Default 3 s, at most a third of SessionTimeout.
	HeartbeatInterval time.Duration
	// RebalanceTimeout is how long the group waits for its members when it rebalances. Lanes have a bit
	// less than that to commit what they have read. Default 60 s.
	RebalanceTimeout time.Duration

	// MaxWait is how long a broker may hold a fetch back that finds less than MinBytes. Default 500 ms.
	MaxWait time.Duration
	// MinBytes is what a broker is to wait for. Default 1.
	MinBytes int
	// MaxBytes bounds the answer to one fetch of one partition, if not by less than one batch. A lane
	// holds up to two of them. Default 1 MiB.
	MaxBytes int
	// FetchMemory bounds the answers that all lanes hold together, and what these decompress to. With many lanes,
	// each asks for less than MaxBytes: FetchMemory / (2 × lanes), but for 16 KiB at least; and waits while the others
	// hold all there is. Batches come whole, so one that is larger than expected goes beyond it, alone or nearly so.
	// Default 256 MiB.
	FetchMemory int
	// MaxRecordBytes is where a longer record is cut, with the fault record-too-large. Default 16 MiB.
	MaxRecordBytes int

	// DialTimeout bounds connecting to a broker, with TLS handshake and login. Default 10 s.
	DialTimeout time.Duration
	// ConnectTimeout is how long a run waits at its start for a broker to be there. Default 0: for ever.
	ConnectTimeout time.Duration
	// TopicTimeout is how long a run waits at its start for missing topics to be created. Default 0: for ever.
	TopicTimeout time.Duration
}

// TLS says how connections are encrypted.
type TLS = kafkaconn.TLS

// SASL says how to log in. No Mechanism means not to.
type SASL = kafkaconn.SASL

const (
	maxRecordBytesLimit = 128 << 20 // as for files: a row of that size, with U+FFFD for every byte, stays below 1 GiB
	maxFetchBytesLimit  = 1 << 30
)

// defaults returns the options of which nothing is said.
func defaults() Options {
	return Options{
		ClientID:          kafkaconn.DefaultClientID,
		Start:             StartCommitted,
		Isolation:         ReadCommitted,
		OnAhead:           PolicyStop,
		OnTruncated:       PolicyStop,
		OnRecreated:       PolicyStop,
		OnCorrupt:         PolicyDeadLetter,
		SessionTimeout:    30 * time.Second,
		HeartbeatInterval: 3 * time.Second,
		RebalanceTimeout:  60 * time.Second,
		MaxWait:           500 * time.Millisecond,
		MinBytes:          1,
		MaxBytes:          1 << 20,
		FetchMemory:       256 << 20,
		MaxRecordBytes:    16 << 20,
		DialTimeout:       kafkaconn.DefaultDialTimeout,
	}
}

func (o Options) withDefaults() Options {
	d := defaults()
	o.ClientID = cmp.Or(o.ClientID, d.ClientID)
	o.Start = cmp.Or(o.Start, d.Start)
	o.Isolation = cmp.Or(o.Isolation, d.Isolation)
	o.OnAhead = cmp.Or(o.OnAhead, d.OnAhead)
	o.OnTruncated = cmp.Or(o.OnTruncated, d.OnTruncated)
	o.OnRecreated = cmp.Or(o.OnRecreated, d.OnRecreated)
	o.OnCorrupt = cmp.Or(o.OnCorrupt, d.OnCorrupt)
	o.SessionTimeout = cmp.Or(o.SessionTimeout, d.SessionTimeout)
	o.HeartbeatInterval = cmp.Or(o.HeartbeatInterval, o.usualHeartbeat())
	o.RebalanceTimeout = cmp.Or(o.RebalanceTimeout, d.RebalanceTimeout)
	o.MaxWait = cmp.Or(o.MaxWait, d.MaxWait)
	o.MinBytes = cmp.Or(o.MinBytes, d.MinBytes)
	o.MaxBytes = cmp.Or(o.MaxBytes, d.MaxBytes)
	o.FetchMemory = cmp.Or(o.FetchMemory, d.FetchMemory)
	o.MaxRecordBytes = cmp.Or(o.MaxRecordBytes, d.MaxRecordBytes)
	o.DialTimeout = cmp.Or(o.DialTimeout, d.DialTimeout)
	return o
}

// usualHeartbeat returns the interval of heartbeats of which nothing is said: the default, or less in a session that is too short
// for it.
func (o Options) usualHeartbeat() time.Duration {
	return min(defaults().HeartbeatInterval, o.SessionTimeout/3)
}

// Validate returns every problem of the options, joined, each a [*pipeline.FieldError]. It does not look at the files of TLS;
// [New] does.
func (o Options) Validate() error {
	var p problems
	p.Join(kafkaconn.CheckAddresses(o.Brokers))
	p.topics(o.Topics)
	if o.Group == "" {
		p.Add("group", "empty").Advise("name the consumer group, such as \"urlmill\"; instances with the same name share the partitions")
	}
	if _, err := parseStart(o.Start); err != nil {
		p.Join(err)
	}
	p.instance(o.InstanceID)
	p.policies(o)
	p.Join(o.TLS.Validate())
	p.Join(o.SASL.Validate())
	p.timing(o)
	p.sizes(o)
	return p.Err()
}

// minFetchBytes is what a lane asks for at least, however many there are.
const minFetchBytes = 16 << 10

// fetchBytes returns how many bytes each of the given number of lanes may ask for: two answers of each fit into FetchMemory,
// unless minFetchBytes is more.
func (o Options) fetchBytes(lanes int) int {
	return min(o.MaxBytes, max(minFetchBytes, o.FetchMemory/(2*max(1, lanes))))
}

// decodedLimit returns what a batch may decompress to: what there is for all of them, and no less than two of the longest records
// need.
func (o Options) decodedLimit() int { return max(o.FetchMemory, 2*o.MaxRecordBytes) }
