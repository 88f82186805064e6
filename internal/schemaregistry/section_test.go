package schemaregistry

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/kafkaconn"
)

func TestSection(t *testing.T) {
	got := Defaults()
	_, err := config.Parse("c.yaml", []byte(`
urls: [https://a]
username: u
password: s3cret
tls: {ca_file: ca.pem}
timeout: 2s
`), config.Env{}, got.Section())
	if err != nil {
		t.Fatal(err)
	}
	want := Options{URLs: []string{"https://a"}, Username: "u", Password: "s3cret", TLS: kafkaconn.TLS{CAFile: "ca.pem"}, Timeout: 2 * time.Second}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if text := fmt.Sprintf("%v %+v %#v", got, got, got); strings.Contains(text, "s3cret") {
		t.Errorf("the password is shown: %s", text)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
	_, err = config.Parse("c.yaml", []byte("urls: [https://a]\ntls: {enabled: true}"), config.Env{}, got.Section())
	if err == nil || !strings.Contains(err.Error(), `unknown key "enabled"`) {
		t.Errorf("a switch for TLS, which the URL is: %v", err)
	}
}

func TestDefaults(t *testing.T) {
	o := Defaults()
	o.URLs = []string{"http://a"}
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
}
