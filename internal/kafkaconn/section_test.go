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
	if text := fmt.Sprintf("%v %+v %#v", got, got, got.SASL); strings.Contains(text, "s3cret") {
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
	if err == nil || !strings.Contains(err.Error(), `sasl has no "mechanism"`) {
		t.Error(err)
	}
}

func TestProblems(t *testing.T) {
	for want, err := range map[string]error{
		"brokers: empty; give at least one host:port":                                                                                                             CheckAddresses(nil),
		`brokers[1]: "http://b:1" has a scheme; give host:port, such as kafka-1:9092`:                                                                             CheckAddresses([]string{"a:1", "http://b:1"}),
		`brokers[0]: "a" is not host:port; give host:port, such as kafka-1:9092`:                                                                                  CheckAddresses([]string{"a"}),
		`brokers[0]: "a:0" has a port that is not a number from 1 to 65535; give host:port, such as kafka-1:9092`:                                                 CheckAddresses([]string{"a:0"}),
		"tls.cert_file: needs key_file beside it":                                                                                                                 TLS{Enabled: true, CertFile: "c"}.Validate(),
		"tls.key_file: needs cert_file beside it":                                                                                                                 TLS{Enabled: true, KeyFile: "c"}.Validate(),
		"tls.ca_file: has no effect without enabled: true":                                                                                                        TLS{CAFile: "c"}.Validate(),
		"sasl.username: empty; plain needs one":                                                                                                                   SASL{Mechanism: MechanismPlain, Password: "p"}.Validate(),
		"sasl.oauth: empty; oauthbearer needs one":                                                                                                                SASL{Mechanism: MechanismOAuthBearer}.Validate(),
		"sasl.aws_region: has no effect with mechanism: scram-sha-256":                                                                                            SASL{Mechanism: MechanismScramSHA256, Username: "u", Password: "p", AWSRegion: "r"}.Validate(),
		"sasl.username: has no effect with mechanism: aws-msk-iam":                                                                                                SASL{Mechanism: MechanismAWS, Username: "u"}.Validate(),
		"sasl.mechanism: empty, but there are credentials; give plain, scram-sha-256, scram-sha-512, oauthbearer or aws-msk-iam":                                  SASL{Username: "u"}.Validate(),
		"sasl.oauth: has 2 of token_url, token_file and token_command; give one of them":                                                                          tokenFrom(OAuth{TokenFile: "f", TokenCommand: []string{"c"}}),
		"sasl.oauth: has 0 of token_url, token_file and token_command; give one of them":                                                                          tokenFrom(OAuth{ClientID: "c"}),
		"sasl.oauth.client_id: empty; token_url needs one":                                                                                                        tokenFrom(OAuth{TokenURL: "https://idp/token"}),
		"sasl.oauth.scopes: has no effect without token_url":                                                                                                      tokenFrom(OAuth{TokenFile: "f", Scopes: []string{"s"}}),
		"sasl.oauth.token_command: begins with an empty name; give a program and its arguments":                                                                   tokenFrom(OAuth{TokenCommand: []string{""}}),
		`sasl.oauth.extensions: "auth" is no name of an extension: those have letters alone, and are not auth`:                                                    tokenFrom(OAuth{TokenFile: "f", Extensions: map[string]string{"auth": "v"}}),
		"sasl.oauth.extensions.a: is empty, or has other characters than those of ASCII that are printed":                                                         tokenFrom(OAuth{TokenFile: "f", Extensions: map[string]string{"a": "x\x01y"}}),
		"sasl.oauth.token_url: is no URL with https; give an address such as https://login.example.com/oauth2/token":                                              tokenFrom(OAuth{TokenURL: "login.example.com", ClientID: "c"}),
		"sasl.oauth.token_url: has a user before its host: those are client_id and client_secret; give an address such as https://login.example.com/oauth2/token": tokenFrom(OAuth{TokenURL: "https://u:p@idp/token", ClientID: "c"}),
		"sasl.oauth.token_url: has http, by which the secret and the token could be read on the way; on this machine alone it may; give an address such as https://login.example.com/oauth2/token": tokenFrom(OAuth{TokenURL: "http://idp/token", ClientID: "c"}),
		"tls.insecure_skip_verify: has no effect without enabled: true": TLS{InsecureSkipVerify: true}.Validate(),
	} {
		all := pipeline.FieldErrors(err)
		if len(all) != 1 || all[0].Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// tokenFrom returns what is wrong with a source of tokens.
func tokenFrom(o OAuth) error { return SASL{Mechanism: MechanismOAuthBearer, OAuth: &o}.Validate() }

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
