package schemaregistry

import (
	"context"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"

	"github.com/urlmill/urlmill/internal/kafkaconn"
)

func record(name, fields string) sr.Schema {
	return sr.Schema{Schema: `{"type":"record","name":"` + name + `","fields":[` + fields + `]}`}
}

func mustNew(t *testing.T, o Options) *Client {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestReferences(t *testing.T) {
	fake := srfake.New()
	t.Cleanup(fake.Close)
	ref := func(s sr.Schema, names ...string) sr.Schema {
		for _, name := range names {
			s.References = append(s.References, sr.SchemaReference{Name: name, Subject: name, Version: 1})
		}
		return s
	}
	a := record("a", `{"name":"x","type":"int"}`)
	b := ref(record("b", `{"name":"x","type":"a"}`), "a")
	c := ref(record("c", `{"name":"x","type":"b"},{"name":"y","type":"a"}`), "a", "b")
	for i, s := range []sr.Schema{a, b, c} {
		fake.SeedSchema(string(rune('a'+i)), 1, i+1, s)
	}
	client := mustNew(t, Options{URLs: []string{"http://127.0.0.1:1", fake.URL()}})
	got, err := client.Schema(context.Background(), 3)
	want := Schema{Type: "AVRO", Text: c.Schema, References: []Reference{{"a", a.Schema}, {"b", b.Schema}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	var unknown *NotFoundError
	if _, err := client.Schema(context.Background(), 4); !errors.As(err, &unknown) {
		t.Errorf("%v", err)
	}
}

// TestLogin: without the right login there is an error that goes away when the login is right, and not one that says that
// there is no such schema.
func TestLogin(t *testing.T) {
	for name, test := range map[string]struct {
		header       string
		right, wrong Options
	}{
		"basic":  {"Basic dTpw", Options{Username: "u", Password: "p"}, Options{Username: "u", Password: "q"}},
		"bearer": {"Bearer secret", Options{Token: "secret"}, Options{}},
	} {
		fake := srfake.NewRegistry(srfake.WithAuth(test.header))
		fake.SeedSchema("a", 1, 1, record("a", ""))
		server := httptest.NewTLSServer(fake.Handler())
		t.Cleanup(server.Close)
		ca := filepath.Join(t.TempDir(), "ca.pem")
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
		if err := os.WriteFile(ca, text, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, o := range []*Options{&test.right, &test.wrong} {
			o.URLs, o.TLS = []string{server.URL}, kafkaconn.TLS{CAFile: ca}
		}
		if s, err := mustNew(t, test.right).Schema(context.Background(), 1); err != nil || s.Type != "AVRO" {
			t.Errorf("%s: %v %v", name, s, err)
		}
		var unknown *NotFoundError
		if _, err := mustNew(t, test.wrong).Schema(context.Background(), 1); err == nil || errors.As(err, &unknown) {
			t.Errorf("%s: wrong login: %v", name, err)
		}
		test.right.TLS = kafkaconn.TLS{}
		if _, err := mustNew(t, test.right).Schema(context.Background(), 1); err == nil || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s: an unknown authority: %v", name, err)
		}
	}
}

// TestOthersAnswer: what is not the registry's own word about a schema is no word about it.
func TestOthersAnswer(t *testing.T) {
	for _, status := range []int{404, 429, 500, 502, 200} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte("<html>no</html>"))
		}))
		t.Cleanup(server.Close)
		var unknown *NotFoundError
		if _, err := mustNew(t, Options{URLs: []string{server.URL}}).Schema(context.Background(), 1); err == nil || errors.As(err, &unknown) {
			t.Errorf("%d: %v", status, err)
		}
	}
}

func TestValidate(t *testing.T) {
	for want, o := range map[string]Options{
		"urls: empty":                             {},
		"urls[0]: give the URL of a registry":     {URLs: []string{"localhost:8081"}},
		"urls[1]: it holds a password":            {URLs: []string{"http://a", "http://u:p@a"}},
		"token: given beside username and":        {URLs: []string{"http://a"}, Token: "x", Username: "u", Password: "p"},
		"username: needs password beside it":      {URLs: []string{"http://a"}, Username: "u"},
		"password: needs username beside it":      {URLs: []string{"http://a"}, Password: "p"},
		"tls.cert_file: needs key_file beside it": {URLs: []string{"http://a"}, TLS: kafkaconn.TLS{CertFile: "/no/such/file"}},
	} {
		if err := o.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if _, err := New(o); err == nil {
			t.Errorf("New takes %+v", o)
		}
	}
	o := Options{URLs: []string{"http://a"}, TLS: kafkaconn.TLS{CAFile: "/no/such/file"}}
	if err := o.Validate(); err != nil {
		t.Errorf("Validate has looked at a file: %v", err)
	}
	if _, err := New(o); err == nil || !strings.HasPrefix(err.Error(), `tls.ca_file: "/no/such/file" cannot be read: no such file`) {
		t.Errorf("New: %v", err)
	}
}
