package commit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store"
)

const goodRecord = `{"version":1,"lane":"clicks/3","stream":"clicks","partition":3,"first":40,"next":43,"files":[` +
	`{"table":"rows","name":"a.txt","rows":1,"bytes":3,"checksum":"xxh3:0123456789abcdef","token":"_tmp/x/a.txt.tmp"}],` +
	`"run":"0123abcd","time":"2026-07-01T12:00:00Z","urlmill":"v1","standard":"July 2026","unicode":"17.0.0"}`

func TestDecodeRecord(t *testing.T) {
	r, err := decodeRecord("key", "clicks/3", 40, []byte(goodRecord))
	if err != nil || r.Next != 43 || len(r.Files) != 1 || r.Run != "0123abcd" || r.Time.Year() != 2026 {
		t.Fatalf("%+v, %v", r, err)
	}
	if got := string(encode(r)); got != goodRecord+"\n" {
		t.Errorf("encoded again: %s", got)
	}
	for change, want := range map[[2]string]string{
		{`"version":1`, `"version":2`}:                    "use a newer one",
		{`"version":1`, `"version":0`}:                    "is damaged: it has version 0",
		{`"clicks/3"`, `"Clicks/3"`}:                      "belongs to the lane Clicks/3 and not to clicks/3",
		{`"first":40`, `"first":41`}:                      "do not fit the name",
		{`"next":43`, `"next":40`}:                        "do not fit the name",
		{`"next":43`, `"next":43,"from":39`}:              "do not fit the name",
		{`"next":43`, `"next":43,"from":44`}:              "do not fit the name",
		{`"name":"a.txt"`, `"name":""`}:                   "has no name",
		{`"rows":1`, `"rows":-1`}:                         "fewer than no bytes",
		{`xxh3:0123456789abcdef`, `md5:0`}:                "not a checksum",
		{`"run"`, `run`}:                                  "invalid character",
		{goodRecord, ``}:                                  "unexpected end",
		{goodRecord, strings.Repeat("\x00", 10)}:          "invalid character",
		{`"token":"_tmp/x/a.txt.tmp"`, `"token":""`}:      "has no name",
		{`{"table":"rows"`, `{"table":"rows","rows":"1"`}: "cannot unmarshal",
	} {
		_, err := decodeRecord("the/key", "clicks/3", 40, []byte(strings.Replace(goodRecord, change[0], change[1], 1)))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "the/key") {
			t.Errorf("%s: got %v", change[1], err)
		}
	}
	// Fields of later versions do not matter.
	if _, err := decodeRecord("key", "clicks/3", 40, []byte(strings.Replace(goodRecord, `"first"`, `"new":{},"first"`, 1))); err != nil {
		t.Error(err)
	}
}

func TestDecodeCheckpoint(t *testing.T) {
	record := func(first int64) []byte {
		return encode(Record{Version: 1, Lane: "clicks/3", First: first, Next: first + 10, Files: []File{}})
	}
	good := string(encodeCheckpoint("clicks/3", 40, 60, [][]byte{record(40), record(50)}))
	c, err := decodeCheckpoint("key", "clicks/3", 40, []byte(good))
	if err != nil || len(c.Records) != 2 || c.Next != 60 {
		t.Fatalf("%+v, %v", c, err)
	}
	for change, want := range map[[2]string]string{
		{`"version":1`, `"version":2`}:     "use a newer one",
		{`"records":2`, `"records":3`}:     "records are missing",
		{`"next":60`, `"next":70`}:         "end at 60 instead of 70",
		{`"first":50`, `"first":51`}:       "do not fit the name",
		{`{"version":1`, `"version":1`}:    "invalid character",
		{"\n" + string(record(50)), "\n"}:  "records are missing",
		{good, good[:len(good)-1]}:         "records are missing",
		{`"first":40,"next":60`, `"x":60`}: "records are missing",
	} {
		_, err := decodeCheckpoint("the/key", "clicks/3", 40, []byte(strings.Replace(good, change[0], change[1], 1)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", change[1], err)
		}
	}
}

func TestDecodeStart(t *testing.T) {
	good := string(encode(start{Version: 1, Lane: "clicks/3", Start: 40}))
	for change, want := range map[[2]string]string{
		{`"version":1`, `"version":7`}: "use a newer one",
		{`"start":40`, `"start":-1`}:   "it starts at -1",
		{`{`, ``}:                      "damaged",
	} {
		_, err := decodeStart("key", "clicks/3", []byte(strings.Replace(good, change[0], change[1], 1)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", change[1], err)
		}
	}
}

// What is damaged in the directory of a lane stops it, with the name of the file.
func TestDamagedChain(t *testing.T) {
	for name, content := range map[string]string{
		"start.json":                             "{",
		"00000000000000000046.json":              "",
		"checkpoints/00000000000000000043.jsonl": "{}\n",
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			rows := store.NewLocal(root, store.System, quiet)
			chain := newChain(t, rows)
			for range 3 {
				commitNext(t, chain, 3)
			}
			file := filepath.Join(root, Dir, "clicks", "3", name)
			must(t, os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(content), 0o600))
			_, err := chain.Open(t.Context(), clicks)
			var damaged *DamagedError
			if !errors.As(err, &damaged) || !strings.Contains(err.Error(), name) {
				t.Errorf("got %v", err)
			}
			if _, err := chain.Recover(t.Context()); !errors.As(err, &damaged) {
				t.Errorf("got %v", err)
			}
			must(t, rows.Close())
		})
	}
}

// must ends the test at the first error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// newChain prepares a store and returns its chain.
func newChain(t *testing.T, rows store.Store) *Chain {
	t.Helper()
	must(t, rows.Prepare(t.Context()))
	return New(Options{Root: rows, Log: quiet, Place: func(_ context.Context, dir string) (store.Store, error) {
		if dir != "" {
			return nil, fmt.Errorf("no place %q", dir)
		}
		return rows, nil
	}})
}

// commitNext opens a lane and commits its next n positions with one file, whose name it returns.
func commitNext(t *testing.T, c *Chain, n int64) string {
	t.Helper()
	l, err := c.Open(t.Context(), clicks)
	must(t, err)
	span := pipeline.Span{First: max(l.Next(), 40), Next: max(l.Next(), 40) + n}
	f := writeFile(t, c, span.First)
	must(t, l.Commit(t.Context(), span, []File{f}))
	return f.Name
}

// writeFile writes a file that begins at a position.
func writeFile(t *testing.T, c *Chain, first int64) File {
	t.Helper()
	f, err := c.root.Begin(t.Context(), FileName(clicks, first, c.root.Run(), uint64(first), "txt"))
	must(t, err)
	_, err = f.Write([]byte("row\n"))
	must(t, err)
	p, err := f.Finish()
	must(t, err)
	return NewFile(pipeline.Rows, "", 1, p)
}
