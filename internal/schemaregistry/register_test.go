package schemaregistry

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/sr/srfake"
)

func never(string) bool { return false }

// TestRegister: a schema gets an id once, and is found by it.
func TestRegister(t *testing.T) {
	fake := srfake.New()
	t.Cleanup(fake.Close)
	client := mustNew(t, Options{URLs: []string{"http://127.0.0.1:1", fake.URL()}})
	a := Schema{Type: "AVRO", Text: record("a", `{"name":"x","type":"int"}`).Schema}
	b := Schema{Type: "AVRO", Text: record("a", `{"name":"x","type":"int","doc":"new"}`).Schema}

	var unknown *NotFoundError
	if _, err := client.Find(t.Context(), "t-value", a, never); !errors.As(err, &unknown) || !strings.Contains(err.Error(), "subject t-value") {
		t.Errorf("of a subject that is not there: %v", err)
	}
	first, err := client.Register(t.Context(), "t-value", a)
	if err != nil {
		t.Fatal(err)
	}
	again, err := client.Register(t.Context(), "t-value", a)
	if err != nil || again != first {
		t.Errorf("registered again: %d, was %d, %v", again, first, err)
	}
	if s, err := client.Schema(t.Context(), first); err != nil || s.Text != a.Text {
		t.Errorf("%+v %v", s, err)
	}
	if id, err := client.Find(t.Context(), "t-value", a, never); id != first || err != nil {
		t.Errorf("found %d, %v", id, err)
	}
	if _, err := client.Find(t.Context(), "t-value", b, never); !errors.As(err, &unknown) {
		t.Errorf("of a schema that is not there: %v", err)
	}
	if id, err := client.Find(t.Context(), "t-value", b, func(text string) bool { return text == a.Text }); id != first || err != nil {
		t.Errorf("found %d by what it means, %v", id, err)
	}
	second, err := client.Register(t.Context(), "t-value", b)
	if err != nil || second == first {
		t.Errorf("another schema has id %d, %v", second, err)
	}
	if id, err := client.Find(t.Context(), "t-value", Schema{Type: "AVRO", Text: `"long"`}, func(string) bool { return true }); id != second || err != nil {
		t.Errorf("found %d, not the newest, %v", id, err)
	}
	if _, err := client.Register(t.Context(), "t-value", Schema{Type: "THRIFT"}); err == nil {
		t.Error("THRIFT is a type")
	}
}

// TestRefused: what the registry says no to is told from what it cannot say now.
func TestRefused(t *testing.T) {
	for status, final := range map[int]bool{400: true, 401: true, 403: true, 404: false, 409: true, 422: true, 423: false, 429: false, 500: false, 503: false, 200: false} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"error_code":1,"message":"its words"}`))
		}))
		t.Cleanup(server.Close)
		client := mustNew(t, Options{URLs: []string{server.URL}})
		_, registered := client.Register(t.Context(), "s", Schema{Type: "AVRO", Text: `"int"`})
		_, found := client.Find(t.Context(), "s", Schema{Type: "AVRO", Text: `"int"`}, never)
		for _, err := range []error{registered, found} {
			var refused *RefusedError
			if err == nil || errors.As(err, &refused) != final {
				t.Errorf("%d: %v", status, err)
				continue
			}
			if final && (refused.Status != status || refused.Login() != (status == 401 || status == 403) || refused.Incompatible() != (status == 409) || !strings.Contains(err.Error(), "its words")) {
				t.Errorf("%d: %+v", status, refused)
			}
		}
	}
}
