package kafka

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

type problems []error

func (p *problems) add(field, format string, args ...any) {
	*p = append(*p, fmt.Errorf("%s: %s", field, fmt.Sprintf(format, args...)))
}

func (p *problems) addresses(brokers []string) {
	if len(brokers) == 0 {
		p.add("Brokers", "empty; give at least one host:port")
	}
	for _, b := range brokers {
		host, port, err := net.SplitHostPort(b)
		if err != nil {
			p.add("Brokers", "%q is not host:port, such as \"localhost:9092\"", b)
			continue
		}
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 || host == "" {
			p.add("Brokers", "%q: want a host and a port from 1 to 65535", b)
		}
	}
}

func (p *problems) topics(topics []string) {
	if len(topics) == 0 {
		p.add("Topics", "empty; name at least one topic")
	}
	for i, t := range topics {
		if slices.Contains(topics[:i], t) {
			p.add("Topics", "%q is there twice", t)
		}
		legal := t != "" && t != "." && t != ".." && len(t) <= 249
		for _, c := range []byte(t) {
			legal = legal && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-')
		}
		if !legal {
			p.add("Topics", "%q is no topic name: those have 1 to 249 of a-z A-Z 0-9 . _ -; patterns are not supported", t)
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
		{"OnCorrupt", o.OnCorrupt, []string{PolicyStop, PolicyDeadLetter}},
	} {
		if !slices.Contains(c.choices, c.value) {
			p.add(c.field, "%q is unknown; want one of %s", c.value, strings.Join(c.choices, ", "))
		}
	}
}

func (p *problems) tls(t TLS) {
	if !t.Enabled && t != (TLS{}) {
		p.add("TLS.Enabled", "false, but other TLS options are set; enable TLS or remove them")
	}
	files := []struct{ field, path string }{{"TLS.CAFile", t.CAFile}, {"TLS.CertFile", t.CertFile}, {"TLS.KeyFile", t.KeyFile}}
	for _, f := range files {
		if f.path == "" {
			continue
		}
		file, err := os.Open(f.path)
		if err != nil {
			p.add(f.field, "%v", err)
			continue
		}
		_ = file.Close()
	}
	if (t.CertFile == "") != (t.KeyFile == "") {
		p.add("TLS.CertFile", "a certificate needs its key and a key its certificate; give both or neither")
	}
}

func (p *problems) sasl(s SASL) {
	switch s.Mechanism {
	case MechanismPlain, MechanismScramSHA256, MechanismScramSHA512:
		if s.Username == "" {
			p.add("SASL.Username", "empty; %s needs one", s.Mechanism)
		}
		if s.Password == "" {
			p.add("SASL.Password", "empty; %s needs one", s.Mechanism)
		}
	case "":
		if s.Username != "" || s.Password != "" {
			p.add("SASL.Mechanism", "empty, but there are credentials; want %s, %s or %s", MechanismPlain, MechanismScramSHA256, MechanismScramSHA512)
		}
	default:
		p.add("SASL.Mechanism", "%q is unknown; want %s, %s or %s", s.Mechanism, MechanismPlain, MechanismScramSHA256, MechanismScramSHA512)
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
			p.add(d.field, "%v is out of range; want up to 24h", d.value)
		}
	}
	o = o.withDefaults()
	if o.HeartbeatInterval > o.SessionTimeout/3 {
		p.add("HeartbeatInterval", "%v is more than a third of SessionTimeout, %v: one lost heartbeat would cost the membership", o.HeartbeatInterval, o.SessionTimeout)
	}
	if o.RebalanceTimeout < 2*o.HeartbeatInterval {
		p.add("RebalanceTimeout", "%v is less than two heartbeats of %v: a member would not hear of a rebalance in time", o.RebalanceTimeout, o.HeartbeatInterval)
	}
	if o.MaxWait > 10*time.Second {
		p.add("MaxWait", "%v would make a stop slow; want at most 10s", o.MaxWait)
	}
}

func (p *problems) sizes(o Options) {
	if o.MinBytes < 0 {
		p.add("MinBytes", "%d is negative", o.MinBytes)
	}
	if o.MaxBytes < 0 || o.MaxBytes > maxFetchBytesLimit {
		p.add("MaxBytes", "%d is out of range; want up to 1 GiB", o.MaxBytes)
	}
	if o.FetchMemory < 0 {
		p.add("FetchMemory", "%d is negative", o.FetchMemory)
	}
	if o.MaxRecordBytes < 0 || o.MaxRecordBytes > maxRecordBytesLimit {
		p.add("MaxRecordBytes", "%d is out of range; want up to 1 GiB", o.MaxRecordBytes)
	}
	if o = o.withDefaults(); o.MinBytes > o.MaxBytes {
		p.add("MinBytes", "%d is more than MaxBytes, %d", o.MinBytes, o.MaxBytes)
	}
}
