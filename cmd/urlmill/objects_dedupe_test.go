//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/internal/dev/s3test"
)

const objectsDedupeConfig = `
source:
  file:
    paths: ["s3://%s/%s/"]
    s3: {endpoint: %q, region: us-east-1}
columns:
  canonical: {form: dedupe}
  include: [file, record, url_key]
dedupe: {path: %q, mode: %s, memory: 16MiB}
sink:
  parquet: {path: %q}
  roll: {rows: 700, every: 200ms}
pipeline: {batch_rows: 500}
`

// Duplicates among the objects of a bucket: processes are killed at every step of finding them while keys appear in no order, and the
// output is put back from a copy in between. In the end, of every page one row is no duplicate, and no record is missing or there twice.
func TestObjectsDedupeKill(t *testing.T) {
	gateway := s3test.Start(t)
	gateway.Setenv(t)
	for _, mode := range []string{"mark", "drop"} {
		t.Run(mode, func(t *testing.T) { objectsDedupe(t, gateway, mode) })
	}
}

func objectsDedupe(t *testing.T, gateway *s3test.Gateway, mode string) {
	dir := t.TempDir()
	out, copied, config := filepath.Join(dir, "out"), filepath.Join(dir, "copied"), filepath.Join(dir, "c.yaml")
	text := fmt.Sprintf(objectsDedupeConfig, gateway.Bucket, mode, gateway.Endpoint, filepath.Join(dir, "seen"), mode, out)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	p := &planted{rng: rand.New(rand.NewPCG(seed, 0))}
	pages := map[string]int{} // by object and record
	more := func() {
		objects := map[string][]byte{}
		for range 40 {
			key, content := fmt.Sprintf("%s/%08x.log", mode, p.rng.Uint32()), bytes.Buffer{}
			for n := range p.rng.IntN(120) {
				page := p.rng.IntN(p.count + 1)
				if p.rng.IntN(100) < 70 {
					page, p.count = p.count, p.count+1
				}
				p.count = max(p.count, page+1)
				pages[fmt.Sprintf("s3://%s/%s %d", gateway.Bucket, key, n)] = page
				fmt.Fprintf(&content, p.spelling()+"\n", page)
			}
			objects[key] = content.Bytes()
		}
		upload(t, gateway.Server, objects)
	}
	faults := []string{"journal,3", "journaled,2", "inner commit,4", "record,2", "recorded,5", "promote,3", "promoted,6"}
	for i, fault := range faults {
		more()
		said, err := dying(t, config, fault).CombinedOutput()
		wantKilled(t, fault, err, said)
		switch i {
		case 2:
			err = os.CopyFS(copied, os.DirFS(out))
		case 4:
			err = errors.Join(os.RemoveAll(out), os.CopyFS(out, os.DirFS(copied)))
		default:
			err = nil
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range []string{"run", "run", "verify"} {
		at := config
		if command == "verify" {
			at = out
		}
		if said, err := process(t, command, at).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, said)
		}
	}
	firsts, rows := make([]int, p.count), map[string]int{}
	for _, name := range parquetIn(t, out) {
		eachRecord(t, name, func(r arrow.Record) {
			for i := range int(r.NumRows()) {
				record := fmt.Sprintf("%s %d", r.Column(0).(*array.String).Value(i), r.Column(1).(*array.Int64).Value(i))
				if rows[record]++; mode == "drop" || !r.Column(3).(*array.Boolean).Value(i) {
					firsts[pages[record]]++
				}
			}
		})
	}
	for page, n := range firsts {
		if n != 1 {
			t.Fatalf("page %d has %d rows that are no duplicates", page, n)
		}
	}
	for record := range pages {
		if n := rows[record]; n > 1 || n == 0 && mode == "mark" {
			t.Fatalf("%s is there %d times", record, n)
		}
	}
	t.Logf("%d records of %d pages, %d rows", len(pages), p.count, len(rows))
}
