package schemaregistry

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
)

// answers is a registry that gives the same answer to every request.
type answers struct {
	status int
	body   []byte
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: a.status, Status: http.StatusText(a.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/vnd.schemaregistry.v1+json"}}, Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: -1,
	}, nil
}

// FuzzAnswers asks a registry that says anything for everything that it is asked for. References that lead back to themselves
// come to an end.
func FuzzAnswers(f *testing.F) {
	f.Add(200, []byte(`{"id":1,"version":1,"subject":"s","schemaType":"AVRO","schema":"\"int\"","references":[{"name":"a","subject":"s","version":1},{"name":"b","subject":"t","version":2}]}`))
	f.Add(200, []byte(`[1,2,3]`))
	f.Add(200, []byte(`{"id":-1,"schemaType":"NONE"}`))
	f.Add(404, []byte(`{"error_code":40403,"message":"Schema not found"}`))
	f.Add(409, []byte(`{"error_code":409,"message":"incompatible"}`))
	f.Add(500, []byte(`<html>`))
	client, err := New(Options{URLs: []string{"http://registry.example"}})
	if err != nil {
		f.Fatal(err)
	}
	replaced := &answers{}
	client.transport.RegisterProtocol("http", replaced)
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		replaced.status, replaced.body = 200+((status-200)%400+400)%400, body
		requests := 16 + bytes.Count(body, []byte("{")) + bytes.Count(body, []byte(",")) // each answer has to be read anew
		alloctest.Bound(t, len(body)*requests, 64, requests<<20, func() {
			s, err := client.Schema(t.Context(), 1)
			if err == nil {
				_, _ = json.Marshal(s)
			}
			_, _ = client.Find(t.Context(), "s", Schema{Type: "AVRO", Text: `"int"`}, func(string) bool { return false })
			if id, err := client.Register(t.Context(), "s", Schema{Type: "AVRO", Text: `"int"`}); err == nil && (id < 1 || id > math.MaxInt32) {
				t.Fatalf("id %d", id)
			}
		})
	})
}
