package kafkaconn

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
)

// TestAWSToken compares a token with what Amazon MSK takes: the address of a request to connect, signed for the region.
func TestAWSToken(t *testing.T) {
	for _, name := range []string{"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"} {
		t.Setenv(name, "/dev/null")
	}
	for name, value := range map[string]string{
		"AWS_PROFILE": "", "AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "s3cret", "AWS_SESSION_TOKEN": "session/token",
	} {
		t.Setenv(name, value)
	}
	start := func(s SASL) (string, error) {
		s.Mechanism = MechanismAWS
		m, err := s.NewMechanism()
		if err != nil {
			t.Fatal(err)
		}
		_, first, err := m.Start(t.Context())
		return string(first), err
	}
	if _, err := start(SASL{}); err == nil || !IsFatal(err) || !strings.Contains(err.Error(), "aws_region") {
		t.Errorf("without a region: %v", err)
	}
	if _, err := start(SASL{AWSRegion: "eu-west-1", AWSProfile: "none"}); err == nil || !IsFatal(err) || !strings.Contains(err.Error(), "aws_profile") {
		t.Errorf("without the profile: %v", err)
	}
	first, err := start(SASL{AWSRegion: "eu-west-1"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := base64.RawURLEncoding.DecodeString(strings.TrimSuffix(strings.TrimPrefix(first, "n,,\x01auth=Bearer "), "\x01\x01"))
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	for key, want := range map[string]string{
		"Action": "kafka-cluster:Connect", "X-Amz-Algorithm": "AWS4-HMAC-SHA256", "X-Amz-Expires": "900", "X-Amz-Security-Token": "session/token",
		"X-Amz-SignedHeaders": "host", "User-Agent": "urlmill",
	} {
		if q.Get(key) != want {
			t.Errorf("%s: %q", key, q.Get(key))
		}
	}
	if u.Scheme != "https" || u.Host != "kafka.eu-west-1.amazonaws.com" || !strings.HasSuffix(q.Get("X-Amz-Credential"), "/eu-west-1/kafka-cluster/aws4_request") || len(q.Get("X-Amz-Signature")) != 64 {
		t.Errorf("%s", u)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	if _, err := start(SASL{AWSRegion: "eu-west-1"}); err == nil || IsFatal(err) || !strings.Contains(err.Error(), "no credentials of AWS") {
		t.Errorf("without credentials: %v", err)
	}
}
