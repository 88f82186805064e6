package kafkaconn

import (
	"net"
	"strconv"

	"github.com/urlmill/urlmill/pipeline"
)

// CheckAddresses returns what is wrong with brokers, whose key is brokers.
func CheckAddresses(brokers []string) error {
	var p pipeline.Problems
	if len(brokers) == 0 {
		p.Add("brokers", "empty").Advise("give at least one host:port")
	}
	for _, b := range brokers {
		host, port, err := net.SplitHostPort(b)
		if err != nil {
			p.Value("brokers", b, "is not host:port, such as \"localhost:9092\"")
			continue
		}
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 || host == "" {
			p.Value("brokers", b, "is not a host and a port from 1 to 65535")
		}
	}
	return p.Err()
}

// Validate returns what is wrong with t, whose section is tls. It does not look at the files; [TLS.Config] does.
func (t TLS) Validate() error {
	var p pipeline.Problems
	if !t.Enabled && t != (TLS{}) {
		p.Add("tls.enabled", "false, but other options of tls are set").Advise("set it to true, or take them out")
	}
	if (t.CertFile == "") != (t.KeyFile == "") {
		p.Add("tls.cert_file", "a certificate needs its key and a key its certificate").Advise("give both cert_file and key_file, or neither")
	}
	return p.Err()
}

// Validate returns what is wrong with s, whose section is sasl.
func (s SASL) Validate() error {
	var p pipeline.Problems
	switch s.Mechanism {
	case MechanismPlain, MechanismScramSHA256, MechanismScramSHA512:
		if s.Username == "" {
			p.Add("sasl.username", "empty; %s needs one", s.Mechanism)
		}
		if s.Password == "" {
			p.Add("sasl.password", "empty; %s needs one", s.Mechanism)
		}
	case "":
		if s.Username != "" || s.Password != "" {
			p.Add("sasl.mechanism", "empty, but there are credentials").Advise("give %s", mechanisms)
		}
	default:
		p.Join(s.unknown())
	}
	return p.Err()
}

const mechanisms = MechanismPlain + ", " + MechanismScramSHA256 + " or " + MechanismScramSHA512

func (s SASL) unknown() error {
	return pipeline.ValueErrorf("sasl.mechanism", s.Mechanism, "is not known").Advise("use %s", mechanisms)
}

// IsTopic reports whether brokers take a name as that of a topic.
func IsTopic(name string) bool {
	legal := name != "" && name != "." && name != ".." && len(name) <= 249
	for _, c := range []byte(name) {
		legal = legal && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-')
	}
	return legal
}
