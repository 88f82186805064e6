package clickhouse

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
)

// fuzzedAnswers is a server that gives the same answer to every query.
type fuzzedAnswers struct {
	status int
	body   []byte
}

func (a *fuzzedAnswers) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: a.status, Status: http.StatusText(a.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: -1,
	}, nil
}

// FuzzAnswers asks a server that answers anything for its version, the columns of a table, positions and lanes.
func FuzzAnswers(f *testing.F) {
	f.Add(200, []byte("25.8.2.29\n"))
	f.Add(200, []byte("url\tString\n_urlmill_lane\tLowCardinality(String)\n"))
	f.Add(200, []byte("43\tabc\t7\n"))
	f.Add(200, []byte("636c69636b732f332f73\n2f2f\n"))
	f.Add(500, []byte("Code: 241. DB::Exception: Memory limit (total) exceeded"))
	f.Add(200, []byte("Code: 99999999999999999999."))
	d := New(Options{URL: "http://u:p@clickhouse.example:8123/d"})
	var err error
	if d.client, err = newClient(d.opts); err != nil {
		f.Fatal(err)
	}
	server := &fuzzedAnswers{}
	d.client.http.Transport = server
	d.table, d.positions = tableName("rows"), tableName(positionsTable)
	d.columns = []column{{name: "url", kind: "String"}}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		server.status, server.body = 200+((status-200)%400+400)%400, body
		alloctest.Bound(t, len(body), 512, 4<<20, func() {
			_ = parseVersion(string(body)).atLeast(22, 3)
			_ = d.check(t.Context(), "d.rows")
			if next, load, err := d.position(t.Context(), "clicks/3/s"); err == nil && (next < -1 || len(load) > len(body)) {
				t.Fatalf("%q: position %d of %q", body, next, load)
			}
			lanes, err := d.Lanes(t.Context())
			for _, l := range lanes {
				if again, ok := laneOf(key(l)); err == nil && (!ok || again != l) {
					t.Fatalf("%q: %+v, and then %+v", body, l, again)
				}
			}
			_ = d.insert(t.Context(), d.table, nil, func() io.Reader { return newBlock(0, nil, nil, nil) }, "q", map[string]string{})
			_ = classify(&serverError{server.status, string(body)})
		})
	})
}
