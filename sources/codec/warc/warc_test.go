package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// content is an archive that is not compressed.
type content struct{ *bytes.Reader }

func (content) Plain() bool { return true }

func archiveOf(n int, kind, block string) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: http://www.example.com/%d\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", kind, i, len(block), block)
	}
	return b.Bytes()
}

// TestFramingAllocatesNothing: neither records nor links cost an allocation each.
func TestFramingAllocatesNothing(t *testing.T) {
	const document = `{"Envelope":{"WARC-Header-Metadata":{"WARC-Target-URI":"http://www.example.com/"},"Payload-Metadata":{"HTTP-Response-Metadata":` +
		`{"HTML-Metadata":{"Links":[{"url":"a","path":"A@/href"},{"url":"b"}]}}}}}`
	archives, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		factory codec.Factory
		data    []byte
		rows    int
	}{
		{archives, archiveOf(1000, "response", strings.Repeat("x", 3000)), 1000},
		{NewWAT(), archiveOf(1000, "metadata", document), 2000},
	} {
		k := c.factory.New()
		data := content{bytes.NewReader(c.data)}
		records := k.(codec.Framer).Frame(data, 1<<20)
		b := &pipeline.Batch{}
		read := func() (rows int) {
			for {
				b.Reset()
				k.Prepare(b)
				record, _, err := records.Next()
				if err != nil {
					if !errors.Is(err, io.EOF) {
						t.Fatal(err)
					}
					return rows
				}
				if k.Decode(b, record) {
					rows++
				}
			}
		}
		if rows := read(); rows != c.rows {
			t.Fatalf("%d rows, want %d", rows, c.rows)
		}
		n := testing.AllocsPerRun(1, func() {
			data.Seek(0, io.SeekStart)
			records = k.(codec.Framer).Frame(data, 1<<20)
			read()
		})
		if n > 100 { // the reader and its buffers
			t.Errorf("%v allocations for %d rows", n, c.rows)
		}
	}
}

func TestTypesAreChecked(t *testing.T) {
	_, err := New(Options{Types: []string{"response", "answer"}})
	if err == nil || !strings.Contains(err.Error(), "types[1]") || !strings.Contains(err.Error(), "response, revisit") {
		t.Error(err)
	}
}
