package kafka

import (
	"slices"
	"strings"
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/pipeline"
)

// problems collects what is wrong with options.
type problems struct{ pipeline.Problems }

func (p *problems) topics(topics []string) {
	if len(topics) == 0 {
		p.Add("topics", "empty").Advise("name at least one topic")
	}
	for i, t := range topics {
		if slices.Contains(topics[:i], t) {
			p.Value("topics", t, "is there twice")
		}
		if !kafkaconn.IsTopic(t) {
			p.Value("topics", t, kafkaconn.NoTopic+"; patterns are not supported")
		}
	}
}

// instance adds what is wrong with the name of this process in the group. Brokers take those that topics may have.
func (p *problems) instance(id string) {
	if id != "" && !kafkaconn.IsTopic(id) {
		p.Value(instanceKey, id, "is no name of an instance: those have 1 to 249 of a-z A-Z 0-9 . _ -")
	}
}

// What the options of that kind may be.
var (
	isolationLevels   = []string{ReadCommitted, ReadUncommitted}
	aheadPolicies     = []string{PolicyStop, PolicyRewind, PolicySkip}
	truncatedPolicies = []string{PolicyStop, PolicySkip}
	recreatedPolicies = []string{PolicyStop, PolicyRestart}
	corruptPolicies   = []string{PolicyDeadLetter, PolicyStop}
)

func (p *problems) policies(o Options) {
	o = o.withDefaults()
	for _, c := range []struct {
		key, value string
		choices    []string
	}{
		{"isolation", o.Isolation, isolationLevels},
		{"on_group_ahead", o.OnAhead, aheadPolicies},
		{"on_truncated", o.OnTruncated, truncatedPolicies},
		{"on_recreated", o.OnRecreated, recreatedPolicies},
		{"on_corrupt", o.OnCorrupt, corruptPolicies},
	} {
		if !slices.Contains(c.choices, c.value) {
			p.Value(c.key, c.value, "is not known").Advise("use one of %s", strings.Join(c.choices, ", "))
		}
	}
}

func (p *problems) timing(o Options) {
	for _, d := range []struct {
		key   string
		value time.Duration
	}{
		{"session_timeout", o.SessionTimeout},
		{"heartbeat_interval", o.HeartbeatInterval},
		{"rebalance_timeout", o.RebalanceTimeout},
		{"max_wait", o.MaxWait},
		{"dial_timeout", o.DialTimeout},
		{"connect_timeout", o.ConnectTimeout},
		{"topic_timeout", o.TopicTimeout},
	} {
		if d.value < 0 || d.value > 24*time.Hour {
			p.Value(d.key, d.value, "is out of range").Advise("use up to 24h")
		}
	}
	o = o.withDefaults()
	if o.HeartbeatInterval > o.SessionTimeout/3 {
		p.Value("heartbeat_interval", o.HeartbeatInterval, "is more than a third of session_timeout, %v", o.SessionTimeout).Advise("give at most a third, so that one may be lost")
	}
	if o.RebalanceTimeout < 2*o.HeartbeatInterval {
		p.Value("rebalance_timeout", o.RebalanceTimeout, "is less than two heartbeats of %v: a member would not hear of a rebalance in time", o.HeartbeatInterval)
	}
	if o.MaxWait > 10*time.Second {
		p.Value("max_wait", o.MaxWait, "would make a stop slow").Advise("use at most 10s")
	}
}

func (p *problems) sizes(o Options) {
	if o.MinBytes < 0 {
		p.Value("min_bytes", o.MinBytes, "is negative")
	}
	if o.MaxBytes < 0 || o.MaxBytes > maxFetchBytesLimit {
		p.Value("max_bytes", o.MaxBytes, "is out of range").Advise("use up to 1 GiB")
	}
	if o.FetchMemory < 0 {
		p.Value("fetch_memory", o.FetchMemory, "is negative")
	}
	if o.MaxRecordBytes < 0 || o.MaxRecordBytes > maxRecordBytesLimit {
		p.Value("max_record_bytes", o.MaxRecordBytes, "is out of range").Advise("use up to 128 MiB")
	}
	if o = o.withDefaults(); o.MinBytes > o.MaxBytes {
		p.Add("min_bytes", "%s is more than max_bytes, %s", config.FormatSize(int64(o.MinBytes)), config.FormatSize(int64(o.MaxBytes)))
	}
}
