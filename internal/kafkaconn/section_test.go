package kafkaconn

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
)

// section is a root section of all that connections have.
func section(c *Cluster) config.Section {
	return config.Section{Fields: append([]config.Field{Brokers(&c.Brokers)}, Security(&c.TLS, &c.SASL)...)}
}

func TestSection(t *testing.T) {
	var got Cluster
	_, err := config.Parse("c.yaml", []byte(`
brokers: ["a:1", "b:2"]
tls: {enabled: true, ca_file: ca.pem, cert_file: c.pem, key_file: c.key, server_name: n, insecure_skip_verify: true}
sasl: {mechanism: scram-sha-256, username: ann, password: "${WORD}"}
`), config.Env{Lookup: func(string) (string, bool) { return "s3cret", true }}, section(&got))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Brokers, []string{"a:1", "b:2"}) {
		t.Errorf("brokers: %q", got.Brokers)
	}
	if want := (TLS{Enabled: true, CAFile: "ca.pem", CertFile: "c.pem", KeyFile: "c.key", ServerName: "n", InsecureSkipVerify: true}); got.TLS != want {
		t.Errorf("tls: %+v", got.TLS)
	}
	if want := (SASL{Mechanism: MechanismScramSHA256, Username: "ann", Password: "s3cret"}); got.SASL != want {
		t.Errorf("sasl: %+v", got.SASL)
	}
	if text := fmt.Sprintf("%v %+v %#v %q", got, got, got.SASL, got.SASL); strings.Contains(text, "s3cret") {
		t.Errorf("the password is shown: %s", text)
	}
	if err := errors.Join(CheckAddresses(got.Brokers), got.TLS.Validate(), got.SASL.Validate()); err != nil {
		t.Error(err)
	}
}

func TestSectionLeftOut(t *testing.T) {
	var got Cluster
	if _, err := config.Parse("c.yaml", []byte(`brokers: ["a:1"]`), config.Env{}, section(&got)); err != nil {
		t.Fatal(err)
	}
	if got.TLS != (TLS{}) || got.SASL != (SASL{}) {
		t.Errorf("%+v", got)
	}
	_, err := config.Parse("c.yaml", []byte(`sasl: {}`), config.Env{}, section(&got))
	for _, key := range []string{"mechanism", "username", "password"} {
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("sasl has no %q", key)) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestProblems(t *testing.T) {
	for want, err := range map[string]error{
		"brokers: empty; give at least one host:port":                                                             CheckAddresses(nil),
		`brokers[1]: "http://b:1" has a scheme; give host:port, such as kafka-1:9092`:                             CheckAddresses([]string{"a:1", "http://b:1"}),
		`brokers[0]: "a" is not host:port; give host:port, such as kafka-1:9092`:                                  CheckAddresses([]string{"a"}),
		`brokers[0]: "a:0" has a port that is not a number from 1 to 65535; give host:port, such as kafka-1:9092`: CheckAddresses([]string{"a:0"}),
		"tls.cert_file: needs key_file beside it":                                                                 TLS{Enabled: true, CertFile: "c"}.Validate(),
		"tls.key_file: needs cert_file beside it":                                                                 TLS{Enabled: true, KeyFile: "c"}.Validate(),
		"tls.ca_file: has no effect without enabled: true":                                                        TLS{CAFile: "c"}.Validate(),
		"tls.insecure_skip_verify: has no effect without enabled: true":                                           TLS{InsecureSkipVerify: true}.Validate(),
	} {
		all := pipeline.FieldErrors(err)
		if len(all) != 1 || all[0].Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestSameCluster(t *testing.T) {
	for _, test := range []struct {
		a, b []string
		want bool
	}{
		{nil, []string{"a:1"}, true},
		{[]string{"a:1"}, nil, true},
		{[]string{"a:1", "b:1"}, []string{"c:1", "b:1"}, true},
		{[]string{"a:1"}, []string{"b:1"}, false},
	} {
		if got := SameCluster(test.a, test.b); got != test.want {
			t.Errorf("%q and %q: %v", test.a, test.b, got)
		}
	}
}
