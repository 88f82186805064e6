package kafkaconn

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
)

// CheckAddresses returns what is wrong with brokers, whose key is brokers.
func CheckAddresses(brokers []string) error {
	var p pipeline.Problems
	if len(brokers) == 0 {
		p.Add("brokers", "empty").Advise("give at least one host:port")
	}
	for i, b := range brokers {
		if reason := addressProblem(b); reason != "" {
			p.Add(fmt.Sprintf("brokers[%d]", i), "%q %s", b, reason).Advise("give host:port, such as kafka-1:9092")
		}
	}
	return p.Err()
}

// addressProblem says what is wrong with the address of a broker, "" if nothing is.
func addressProblem(address string) string {
	if strings.Contains(address, "://") {
		return "has a scheme"
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" || port == "" {
		return "is not host:port"
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "has a port that is not a number from 1 to 65535"
	}
	return ""
}

// SameCluster reports whether two lists of brokers have one in common, by the same words. A list that is empty stands for the
// other one.
func SameCluster(a, b []string) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(broker string) bool { return slices.Contains(b, broker) })
}

// Validate returns what is wrong with t, whose section is tls. It does not look at the files; [TLS.Config] does.
func (t TLS) Validate() error {
	var p pipeline.Problems
	switch {
	case t.CertFile != "" && t.KeyFile == "":
		p.Add("tls.cert_file", "needs key_file beside it")
	case t.KeyFile != "" && t.CertFile == "":
		p.Add("tls.key_file", "needs cert_file beside it")
	}
	if t.Enabled {
		return p.Err()
	}
	for _, option := range []struct {
		key   string
		given bool
	}{
		{"ca_file", t.CAFile != ""},
		{"cert_file", t.CertFile != ""},
		{"key_file", t.KeyFile != ""},
		{"server_name", t.ServerName != ""},
		{"insecure_skip_verify", t.InsecureSkipVerify},
	} {
		if option.given {
			p.Add("tls."+option.key, "has no effect without enabled: true")
		}
	}
	return p.Err()
}

// Validate returns what is wrong with s, whose section is sasl.
func (s SASL) Validate() error {
	var p pipeline.Problems
	passwords := slices.Contains([]string{MechanismPlain, MechanismScramSHA256, MechanismScramSHA512}, s.Mechanism)
	switch {
	case s == SASL{}:
		return nil
	case s.Mechanism == "":
		p.Add("sasl.mechanism", "empty, but there are credentials").Advise("give %s", config.Listed(mechanisms, "or"))
		return p.Err()
	case !slices.Contains(mechanisms, s.Mechanism):
		return s.unknown()
	}
	for _, option := range []struct {
		key           string
		given, wanted bool // wanted by the mechanism, which has no use for it otherwise
		may           bool // it may be left out
	}{
		{"username", s.Username != "", passwords, false},
		{"password", s.Password != "", passwords, false},
		{"oauth", s.OAuth != nil, s.Mechanism == MechanismOAuthBearer, false},
		{"aws_region", s.AWSRegion != "", s.Mechanism == MechanismAWS, true},
		{"aws_profile", s.AWSProfile != "", s.Mechanism == MechanismAWS, true},
	} {
		switch {
		case option.given && !option.wanted:
			p.Add("sasl."+option.key, "has no effect with mechanism: %s", s.Mechanism)
		case option.wanted && !option.given && !option.may:
			p.Add("sasl."+option.key, "empty; %s needs one", s.Mechanism)
		}
	}
	if s.OAuth != nil {
		s.OAuth.validate(&p)
	}
	return p.Err()
}

var mechanisms = []string{MechanismPlain, MechanismScramSHA256, MechanismScramSHA512, MechanismOAuthBearer, MechanismAWS}

func (s SASL) unknown() error {
	return pipeline.ValueErrorf("sasl.mechanism", s.Mechanism, "is not known").Advise("use %s", config.Listed(mechanisms, "or"))
}

// NoTopic says what is wrong with a name for which IsTopic is false.
const NoTopic = "is no topic name: those have 1 to 249 of a-z A-Z 0-9 . _ -"

// IsTopic reports whether brokers take a name as that of a topic.
func IsTopic(name string) bool {
	legal := name != "" && name != "." && name != ".." && len(name) <= 249
	for _, c := range []byte(name) {
		legal = legal && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-')
	}
	return legal
}
