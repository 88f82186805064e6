package kafka

import (
	"slices"
	"strings"
	"time"

	"github.com/urlmill/urlmill/internal/kafkaconn"
)

// problems collects what is wrong with options.
type problems struct{ kafkaconn.Problems }

func (p *problems) topics(topics []string) {
	if len(topics) == 0 {
		p.Add("Topics", "empty; name at least one topic")
	}
	for i, t := range topics {
		if slices.Contains(topics[:i], t) {
			p.Add("Topics", "%q is there twice", t)
		}
		if !kafkaconn.IsTopic(t) {
			p.Add("Topics", "%q is no topic name: those have 1 to 249 of a-z A-Z 0-9 . _ -; patterns are not supported", t)
		}
	}
}

func (p *problems) policies(o Options) {
	o = o.withDefaults()
	for _, c := range []struct {
		field, value string
		choices      []string
	}{
		{"Isolation", o.Isolation, []string{ReadCommitted, ReadUncommitted}},
		{"OnAhead", o.OnAhead, []string{PolicyStop, PolicyRewind, PolicySkip}},
		{"OnTruncated", o.OnTruncated, []string{PolicyStop, PolicySkip}},
		{"OnRecreated", o.OnRecreated, []string{PolicyStop, PolicyRestart}},
		{"OnCorrupt", o.OnCorrupt, []string{PolicyStop, PolicyDeadLetter}},
	} {
		if !slices.Contains(c.choices, c.value) {
			p.Add(c.field, "%q is unknown; want one of %s", c.value, strings.Join(c.choices, ", "))
		}
	}
}

func (p *problems) timing(o Options) {
	for _, d := range []struct {
		field string
		value time.Duration
	}{
		{"SessionTimeout", o.SessionTimeout},
		{"HeartbeatInterval", o.HeartbeatInterval},
		{"RebalanceTimeout", o.RebalanceTimeout},
		{"MaxWait", o.MaxWait},
		{"DialTimeout", o.DialTimeout},
		{"ConnectTimeout", o.ConnectTimeout},
	} {
		if d.value < 0 || d.value > 24*time.Hour {
			p.Add(d.field, "%v is out of range; want up to 24h", d.value)
		}
	}
	o = o.withDefaults()
	if o.HeartbeatInterval > o.SessionTimeout/3 {
		p.Add("HeartbeatInterval", "%v is more than a third of SessionTimeout, %v: one lost heartbeat would cost the membership", o.HeartbeatInterval, o.SessionTimeout)
	}
	if o.RebalanceTimeout < 2*o.HeartbeatInterval {
		p.Add("RebalanceTimeout", "%v is less than two heartbeats of %v: a member would not hear of a rebalance in time", o.RebalanceTimeout, o.HeartbeatInterval)
	}
	if o.MaxWait > 10*time.Second {
		p.Add("MaxWait", "%v would make a stop slow; want at most 10s", o.MaxWait)
	}
}

func (p *problems) sizes(o Options) {
	if o.MinBytes < 0 {
		p.Add("MinBytes", "%d is negative", o.MinBytes)
	}
	if o.MaxBytes < 0 || o.MaxBytes > maxFetchBytesLimit {
		p.Add("MaxBytes", "%d is out of range; want up to 1 GiB", o.MaxBytes)
	}
	if o.FetchMemory < 0 {
		p.Add("FetchMemory", "%d is negative", o.FetchMemory)
	}
	if o.MaxRecordBytes < 0 || o.MaxRecordBytes > maxRecordBytesLimit {
		p.Add("MaxRecordBytes", "%d is out of range; want up to 128 MiB", o.MaxRecordBytes)
	}
	if o = o.withDefaults(); o.MinBytes > o.MaxBytes {
		p.Add("MinBytes", "%d is more than MaxBytes, %d", o.MinBytes, o.MaxBytes)
	}
}
