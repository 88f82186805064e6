//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Files of a server that a list names are there once each, also when the process is killed, bodies break off, and a file is replaced.
// parse reads addresses.
func TestObjectsWeb(t *testing.T) {
	var mu sync.Mutex
	files, etags := map[string][]byte{}, map[string]int{}
	put := func(name string, content []byte) {
		mu.Lock()
		defer mu.Unlock()
		files["/"+name], etags["/"+name] = content, etags["/"+name]+1
	}
	broken := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		content, ok := files[r.URL.Path]
		etag := fmt.Sprintf(`"%d"`, etags[r.URL.Path])
		if broken++; ok && r.Method == http.MethodGet && len(content) > 1<<20 && broken%5 == 0 {
			w = &cutting{w, len(content) / 8}
		}
		mu.Unlock()
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", etag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}))
	defer server.Close()
	var list bytes.Buffer
	z := gzip.NewWriter(&list)
	want := 0
	for i := range 60 {
		name := fmt.Sprintf("crawl/segment-%d/%03d.log", i%5, i)
		_, _ = fmt.Fprintln(z, name)
		put(name, numberedLines(i, 10))
		want += 10
	}
	for i := range 2 {
		name := fmt.Sprintf("crawl/large/%d", i)
		_, _ = fmt.Fprintln(z, server.URL+"/"+name)
		put(name, numberedLines(1000+i, 60_000))
		want += 60_000
	}
	_ = z.Close()
	put("crawl/paths.gz", list.Bytes())

	dir := t.TempDir()
	config, out := filepath.Join(dir, "web.yaml"), filepath.Join(dir, "out")
	text := fmt.Sprintf(`
source:
  file:
    paths: [%[1]q]
    http: {list: %[2]q}
columns: {include: [href, file, record]}
sink:
  parquet: {path: %[3]s}
  roll: {rows: 3000, every: 100ms}
`, server.URL+"/", server.URL+"/crawl/paths.gz", out)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for kills := range 3 {
		files := len(parquetIn(t, out))
		run := startRun(t, config)
		run.waitFor(t, "files", func() bool { return len(parquetIn(t, out)) > files+kills })
		_ = run.end(syscall.SIGKILL)
	}
	for range 2 { // the second one finds nothing new
		if said, err := process(t, "run", config).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		if counts := recordsIn(t, out); len(counts) != want || rowsOf(counts) != want {
			t.Errorf("%d rows of %d records, want %d", rowsOf(counts), len(counts), want)
		}
	}
	put("crawl/segment-0/000.log", numberedLines(3, 7)) // another content is another file
	if said, err := process(t, "run", config).CombinedOutput(); err != nil || rowsOf(recordsIn(t, out)) != want+7 {
		t.Errorf("replaced: %d rows, %v\n%s", rowsOf(recordsIn(t, out)), err, said)
	}
	said, err := process(t, "parse", server.URL+"/crawl/segment-1/001.log", server.URL+"/crawl/segment-2/002.log", "--to", "ndjson", "-q", "--columns", "file,record").Output()
	if err != nil || bytes.Count(said, []byte("\n")) != 20 || !bytes.Contains(said, []byte(server.URL+"/crawl/segment-1/001.log")) {
		t.Errorf("parse: %v\n%s", err, said)
	}
	if said, err := process(t, "parse", server.URL+"/nowhere", "--to", "ndjson").CombinedOutput(); err == nil || !strings.Contains(string(said), "correct the path") {
		t.Errorf("parse of what is not there: %v\n%s", err, said)
	}
}

func rowsOf(counts map[string]int) (rows int) {
	for _, n := range counts {
		rows += n
	}
	return rows
}

// cutting ends a connection after some bytes of a body.
type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(p []byte) (int, error) {
	if c.left -= len(p); c.left < 0 {
		panic(http.ErrAbortHandler)
	}
	return c.ResponseWriter.Write(p)
}
