package kafkaconn

import (
	"fmt"
	"net"
	"os"
	"strconv"
)

// Problems are what is wrong with options. The text of each begins with the name of its field and a colon.
type Problems []error

// Add adds one.
func (p *Problems) Add(field, format string, args ...any) {
	*p = append(*p, fmt.Errorf("%s: %s", field, fmt.Sprintf(format, args...)))
}

// Addresses adds those of brokers, which are a field of that name.
func (p *Problems) Addresses(field string, brokers []string) {
	if len(brokers) == 0 {
		p.Add(field, "empty; give at least one host:port")
	}
	for _, b := range brokers {
		host, port, err := net.SplitHostPort(b)
		if err != nil {
			p.Add(field, "%q is not host:port, such as \"localhost:9092\"", b)
			continue
		}
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 || host == "" {
			p.Add(field, "%q: want a host and a port from 1 to 65535", b)
		}
	}
}

// TLS adds those of t, under the field TLS.
func (p *Problems) TLS(t TLS) {
	if !t.Enabled && t != (TLS{}) {
		p.Add("TLS.Enabled", "false, but other TLS options are set; enable TLS or remove them")
	}
	files := []struct{ field, path string }{{"TLS.CAFile", t.CAFile}, {"TLS.CertFile", t.CertFile}, {"TLS.KeyFile", t.KeyFile}}
	for _, f := range files {
		if f.path == "" {
			continue
		}
		file, err := os.Open(f.path)
		if err != nil {
			p.Add(f.field, "%v", err)
			continue
		}
		_ = file.Close()
	}
	if (t.CertFile == "") != (t.KeyFile == "") {
		p.Add("TLS.CertFile", "a certificate needs its key and a key its certificate; give both or neither")
	}
}

// SASL adds those of s, under the field SASL.
func (p *Problems) SASL(s SASL) {
	switch s.Mechanism {
	case MechanismPlain, MechanismScramSHA256, MechanismScramSHA512:
		if s.Username == "" {
			p.Add("SASL.Username", "empty; %s needs one", s.Mechanism)
		}
		if s.Password == "" {
			p.Add("SASL.Password", "empty; %s needs one", s.Mechanism)
		}
	case "":
		if s.Username != "" || s.Password != "" {
			p.Add("SASL.Mechanism", "empty, but there are credentials; want %s, %s or %s", MechanismPlain, MechanismScramSHA256, MechanismScramSHA512)
		}
	default:
		p.Add("SASL.Mechanism", "%q is unknown; want %s, %s or %s", s.Mechanism, MechanismPlain, MechanismScramSHA256, MechanismScramSHA512)
	}
}

// IsTopic tells whether brokers take a name as that of a topic.
func IsTopic(name string) bool {
	legal := name != "" && name != "." && name != ".." && len(name) <= 249
	for _, c := range []byte(name) {
		legal = legal && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-')
	}
	return legal
}
