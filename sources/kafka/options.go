package kafka

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"time"
)

// Names of the start policies and SASL mechanisms.
const (
	StartCommitted = "committed"
	StartEarliest  = "earliest"
	StartLatest    = "latest"

	MechanismPlain       = "plain"
	MechanismScramSHA256 = "scram-sha-256"
	MechanismScramSHA512 = "scram-sha-512"
)

// Options describes a Kafka source. The zero values of all but Brokers, Topics and Group stand for the defaults,
// which [New] fills in.
type Options struct {
	// Brokers are the addresses, host:port, to learn the cluster from.
	Brokers []string
	// Topics are the names of the topics to read.
	Topics []string
	// Group is the consumer group to join.
	Group string
	// ClientID is how the brokers' logs and quotas call this client. Default "urlmill".
	ClientID string

	// Start says where to begin in a partition for which the group has committed no offset and the sink
	// holds no position: "earliest", "latest", or a time in RFC 3339 form, for the first record that is
	// not older. "committed", the default, is another word for "earliest": go on where the group
	// stopped, and leave nothing out. Where a partition is found to begin is committed at once, so that
	// "latest" is decided once and not again at every restart; and a partition that is added to a topic
	// while the source runs begins at its earliest record always.
	Start string

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
	// MaxRecordBytes is where a longer record is cut, with the fault record-too-large. Default 16 MiB.
	MaxRecordBytes int

	// DialTimeout bounds connecting to a broker, with TLS handshake and login. Default 10 s.
	DialTimeout time.Duration
	// ConnectTimeout is how long a run waits at its start for a broker to be there. Default 0: for ever.
	ConnectTimeout time.Duration
	// TopicTimeout is how long a run waits at its start for missing topics to be created. Default 15 s;
	// negative: for ever.
	TopicTimeout time.Duration
}

// TLS says how connections are encrypted.
type TLS struct {
	Enabled bool
	// CAFile is a PEM file of the authorities to trust instead of the system's.
	CAFile string
	// CertFile and KeyFile are PEM files of this client's own certificate, for brokers that ask for one.
	CertFile, KeyFile string
	// ServerName is the name to expect in the brokers' certificates instead of their host names.
	ServerName string
	// InsecureSkipVerify accepts any certificate: anybody in between can read and change everything.
	InsecureSkipVerify bool
}

// SASL says how to log in. No Mechanism means not to.
type SASL struct {
	Mechanism string // "plain", "scram-sha-256" or "scram-sha-512"
	Username  string
	Password  string
}

const (
	maxRecordBytesLimit = 1 << 30
	maxFetchBytesLimit  = 1 << 30
)

func (o Options) withDefaults() Options {
	defaultTo(&o.ClientID, "urlmill")
	defaultTo(&o.Start, StartCommitted)
	defaultTo(&o.SessionTimeout, 30*time.Second)
	defaultTo(&o.HeartbeatInterval, min(3*time.Second, o.SessionTimeout/3))
	defaultTo(&o.RebalanceTimeout, 60*time.Second)
	defaultTo(&o.MaxWait, 500*time.Millisecond)
	defaultTo(&o.MinBytes, 1)
	defaultTo(&o.MaxBytes, 1<<20)
	defaultTo(&o.MaxRecordBytes, 16<<20)
	defaultTo(&o.DialTimeout, 10*time.Second)
	defaultTo(&o.TopicTimeout, 15*time.Second)
	return o
}

func defaultTo[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}

// Validate returns every problem of the options, joined; each one's text begins with the name of its field and
// a colon.
func (o Options) Validate() error {
	var p problems
	p.addresses(o.Brokers)
	p.topics(o.Topics)
	if o.Group == "" {
		p.add("Group", "empty; name the consumer group, such as \"urlmill\"; instances with the same name share the partitions")
	}
	if _, err := parseStart(o.Start); err != nil {
		p.add("Start", "%v", err)
	}
	p.tls(o.TLS)
	p.sasl(o.SASL)
	p.timing(o)
	p.sizes(o)
	return errors.Join(p...)
}

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
	if o.MaxRecordBytes < 0 || o.MaxRecordBytes > maxRecordBytesLimit {
		p.add("MaxRecordBytes", "%d is out of range; want up to 1 GiB", o.MaxRecordBytes)
	}
	if o = o.withDefaults(); o.MinBytes > o.MaxBytes {
		p.add("MinBytes", "%d is more than MaxBytes, %d", o.MinBytes, o.MaxBytes)
	}
}

// start is a parsed start policy: one of the special times of the protocol, or milliseconds since 1970 UTC.
type start struct {
	timestamp int64
	text      string
}

// Special times of the protocol's ListOffsets request.
const (
	latestTime   = -1
	earliestTime = -2
)

func parseStart(s string) (start, error) {
	switch s {
	case "", StartCommitted, StartEarliest:
		return start{earliestTime, StartEarliest}, nil
	case StartLatest:
		return start{latestTime, StartLatest}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return start{}, fmt.Errorf("%q; want %s, %s, %s or a time such as 2026-01-31T15:04:05Z",
			s, StartCommitted, StartEarliest, StartLatest)
	}
	if t.UnixMilli() < 0 {
		return start{}, fmt.Errorf("%q is before 1970, where Kafka's time begins", s)
	}
	// A fraction of a millisecond rounds up: no record may be older.
	ms := t.UnixMilli()
	if t.After(time.UnixMilli(ms)) {
		ms++
	}
	return start{ms, s}, nil
}
