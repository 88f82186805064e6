package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// again is a folder with inputs and an output that urlmill delivers to more than once.
type again struct {
	t   *testing.T
	dir string
}

func (a *again) path(name string) string { return filepath.Join(a.dir, name) }

func (a *again) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

// put writes a file, whose time of change is long ago.
func (a *again) put(name string, data []byte) {
	a.t.Helper()
	a.must(os.MkdirAll(filepath.Dir(a.path(name)), 0o777))
	a.must(os.WriteFile(a.path(name), data, 0o666))
	a.age(name, time.Hour)
}

func (a *again) age(name string, since time.Duration) {
	a.t.Helper()
	at := time.Now().Add(-since)
	a.must(os.Chtimes(a.path(name), at, at))
}

func (a *again) read(name string) []byte {
	a.t.Helper()
	data, err := os.ReadFile(a.path(name))
	a.must(err)
	return data
}

func (a *again) add(name string, data []byte) { a.put(name, append(a.read(name), data...)) }
func (a *again) move(from, to string)         { a.must(os.Rename(a.path(from), a.path(to))) }

// run delivers once, and returns the exit code and what was logged. paths are YAML.
func (a *again) run(paths, more, codec string) (int, string) {
	a.t.Helper()
	config := fmt.Sprintf("source: {file: {paths: %s%s}, codec: {%s}}\ncolumns: {include: [href, file, record]}\n"+
		"sink: {ndjson: {path: out}, roll: {rows: 1000}}\n", paths, more, codec)
	a.must(os.WriteFile(a.path("run.yaml"), []byte(config), 0o666))
	cmd := process(a.t, "run", "run.yaml")
	cmd.Dir = a.dir
	var log testproc.Log
	cmd.Stderr = &log
	a.must(cmd.Start())
	return wait(a.t, cmd), log.String()
}

// rows counts what is in the output, and how many different URLs are among it.
func (a *again) rows() (rows, distinct int) {
	a.t.Helper()
	files, err := filepath.Glob(a.path("out/*.ndjson"))
	a.must(err)
	seen := map[string]bool{}
	for _, name := range files {
		f, err := os.Open(name)
		a.must(err)
		for lines := bufio.NewScanner(f); lines.Scan(); rows++ {
			var row struct{ Href string }
			a.must(json.Unmarshal(lines.Bytes(), &row))
			seen[row.Href] = true
		}
		a.must(f.Close())
	}
	return rows, len(seen)
}

// urls are the lines from to before to.
func urls(from, to int) []byte {
	var b bytes.Buffer
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "https://host%d.example/%x?n=%d\n", i%97, uint32(i)*2654435761, i)
	}
	return b.Bytes()
}

func zipped(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// spoilt returns data with a byte of its middle changed.
func spoilt(data []byte) []byte {
	data[len(data)/2] ^= 0x55
	return data
}

func pages(n int) []byte {
	type page struct {
		URL string `parquet:"url"`
	}
	rows := make([]page, n)
	for i := range rows {
		rows[i].URL = fmt.Sprintf("https://host.example/%d", i)
	}
	var b bytes.Buffer
	if err := pq.Write(&b, rows); err != nil {
		panic(err) // into memory
	}
	return b.Bytes()
}

// second is what becomes of files between two deliveries into one output.
type second struct {
	name   string
	data   []byte // of in/a; 3000 lines unless it says otherwise
	paths  string // [in] unless it says otherwise
	codec  string
	first  int // the exit code of the first delivery
	change func(a *again)
	later  string // paths of the second, if others
	more   string // keys of source.file for it
	code   int
	says   string
	// rows and distinct are those in the end, as after the first delivery if both are 0.
	rows, distinct int
}

// seconds is no variable: each urlmill that a test starts is this program, and would make the files of all at its start.
func seconds() []second {
	return []second{
		{name: "nothing", change: func(*again) {}, rows: 3000, distinct: 3000},
		{name: "touched", change: func(a *again) { a.age("in/a", time.Minute) }, rows: 3000, distinct: 3000},
		{name: "written again", change: func(a *again) { a.must(os.Remove(a.path("in/a"))); a.put("in/a", urls(0, 3000)) }, rows: 3000, distinct: 3000},
		{name: "grown", change: func(a *again) { a.add("in/a", urls(3000, 3001)) }, rows: 3001, distinct: 3001},
		{name: "grown from little", data: urls(0, 2), change: func(a *again) { a.add("in/a", urls(2, 3000)) }, rows: 3000, distinct: 3000},
		{name: "grown, compressed", data: zipped(urls(0, 3000)), change: func(a *again) { a.add("in/a", zipped(urls(3000, 4000))) }, rows: 4000, distinct: 4000},
		{name: "grown behind an unfinished line", data: urls(0, 3000)[:len(urls(0, 3000))-2], change: func(a *again) { a.put("in/a", urls(0, 3001)) }, code: exitIncomplete, says: "no line end.*on_changed", rows: 3000, distinct: 3000},
		{name: "grown behind an unfinished line, whole", data: urls(0, 3000)[:len(urls(0, 3000))-2], more: ", on_changed: whole", change: func(a *again) { a.put("in/a", urls(0, 3001)) }, rows: 6001, distinct: 3002},
		{name: "empty, then grown", data: []byte{}, change: func(a *again) { a.put("in/a", urls(0, 3000)) }, rows: 3000, distinct: 3000},

		{name: "replaced", change: func(a *again) { a.put("in/a", urls(5000, 7000)) }, code: exitIncomplete, says: "in/a: .*on_changed", rows: 3000, distinct: 3000},
		{name: "replaced, whole", more: ", on_changed: whole", change: func(a *again) { a.put("in/a", urls(5000, 7000)) }, rows: 5000, distinct: 5000},
		{name: "replaced, skip", more: ", on_changed: skip", change: func(a *again) { a.put("in/a", urls(5000, 7000)) }, says: "left out", rows: 3000, distinct: 3000},
		{name: "replaced at the end, whole", more: ", on_changed: whole", change: func(a *again) { a.put("in/a", append(urls(0, 2000), urls(5000, 7000)...)) }, rows: 7000, distinct: 5000},
		{name: "replaced beside others", change: func(a *again) { a.put("in/a", urls(5000, 7000)); a.put("in/b", urls(7000, 8000)) }, code: exitIncomplete, says: "in/a: .*on_changed", rows: 4000, distinct: 4000},
		{name: "cut", change: func(a *again) { a.put("in/a", urls(0, 2000)) }, code: exitIncomplete, says: "on_changed", rows: 3000, distinct: 3000},

		{name: "moved", change: func(a *again) { a.move("in/a", "in/z") }, rows: 3000, distinct: 3000},
		{name: "moved and grown", change: func(a *again) { a.move("in/a", "in/z"); a.add("in/z", urls(3000, 4000)) }, rows: 4000, distinct: 4000},
		{name: "moved, of a few bytes", data: urls(0, 3), change: func(a *again) { a.move("in/a", "in/z") }, rows: 3, distinct: 3},
		{
			name: "another that begins like a small one that is gone", data: urls(0, 3),
			change: func(a *again) {
				a.must(os.Remove(a.path("in/a")))
				a.put("in/z", urls(0, 10))
				a.age("in/z", time.Minute)
			}, rows: 13, distinct: 10,
		},
		{name: "copied", change: func(a *again) { a.put("in/z", a.read("in/a")) }, rows: 6000, distinct: 3000},
		{name: "rotated", change: func(a *again) {
			a.add("in/a", urls(3000, 3500))
			a.move("in/a", "in/a.1")
			a.put("in/a", urls(5000, 7000))
		}, rows: 5500, distinct: 5500},
		{name: "rotated by a copy", change: func(a *again) { a.put("in/a.1", a.read("in/a")); a.put("in/a", urls(5000, 7000)) }, rows: 5000, distinct: 5000},
		{name: "rotated, with the same beginning", data: append(bytes.Repeat([]byte("https://head.example/\n"), 300), urls(0, 2700)...), change: func(a *again) {
			a.move("in/a", "in/a.1")
			a.put("in/a", append(bytes.Repeat([]byte("https://head.example/\n"), 300), urls(5000, 7000)...))
		}, rows: 5300, distinct: 4701},

		{name: "an absolute path", paths: "[in/a]", later: "['$DIR/in/a']", change: func(*again) {}, rows: 3000, distinct: 3000},
		{name: "an absolute path, grown", paths: "[in/a]", later: "['$DIR/in/a']", change: func(a *again) { a.add("in/a", urls(3000, 3010)) }, rows: 3010, distinct: 3010},
		{name: "an absolute path, replaced", paths: "[in/a]", later: "['$DIR/in/a']", change: func(a *again) { a.put("in/a", urls(5000, 7000)) }, code: exitIncomplete, says: "on_changed", rows: 3000, distinct: 3000},
		{name: "both paths at once", paths: "[in/a, '$DIR/in/a']", change: func(*again) {}, rows: 3000, distinct: 3000},
		{name: "a symbolic link", paths: "[in/a]", later: "[link]", change: func(a *again) { a.must(os.Symlink("in/a", a.path("link"))) }, rows: 3000, distinct: 3000},
		{name: "a hard link", change: func(a *again) { a.must(os.Link(a.path("in/a"), a.path("in/b"))) }, rows: 3000, distinct: 3000},

		{name: "truncated, then whole", data: zipped(urls(0, 50000))[:200000], first: exitIncomplete, change: func(a *again) { a.put("in/a", zipped(urls(0, 50000))) }, rows: 50000, distinct: 50000},
		{
			name: "damaged, then repaired", data: spoilt(zipped(urls(0, 50000))), first: exitIncomplete, change: func(a *again) { a.put("in/a", zipped(urls(0, 50000))) },
			code: exitIncomplete, says: "first [0-9]+ bytes are not those.*on_changed",
		},
		{name: "a table", data: pages(3000), codec: "parquet: {url: url}", change: func(a *again) { a.age("in/a", time.Minute) }, rows: 3000, distinct: 3000},
		{name: "a table, replaced", data: pages(3000), codec: "parquet: {url: url}", change: func(a *again) { a.put("in/a", pages(4000)) }, code: exitIncomplete, says: "on_changed", rows: 3000, distinct: 3000},
	}
}

// says reports whether a log has a line that matches a pattern.
func says(log, pattern string) bool { return regexp.MustCompile(pattern).MatchString(log) }

// TestFilesAgain delivers files twice into one output, with a change of them between, and once more without: what a file is
// is known by its content. docs/files.md has the table for users.
func TestFilesAgain(t *testing.T) {
	for i, c := range seconds() {
		if testing.Short() && i%6 != 0 {
			continue // what the cases have in common is the same
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := &again{t: t, dir: t.TempDir()}
			paths := func(s, otherwise string) string {
				if s == "" {
					s = otherwise
				}
				return strings.ReplaceAll(s, "$DIR", a.dir)
			}
			data, codec := c.data, c.codec
			if data == nil {
				data = urls(0, 3000)
			}
			if codec == "" {
				codec = "lines: {}"
			}
			a.put("in/a", data)
			before := paths(c.paths, "[in]")
			if code, log := a.run(before, "", codec); code != c.first {
				t.Fatalf("first: exit code %d\n%s", code, log)
			}
			wantRows, wantDistinct := c.rows, c.distinct
			if wantRows == 0 {
				wantRows, wantDistinct = a.rows()
			}
			c.change(a)
			after := paths(c.later, before)
			for _, nth := range []string{"second", "third"} {
				code, log := a.run(after, c.more, codec)
				if code != c.code || !says(log, c.says) {
					t.Errorf("%s: exit code %d, want %d and %q\n%s", nth, code, c.code, c.says, log)
				}
				if rows, distinct := a.rows(); rows != wantRows || distinct != wantDistinct {
					t.Fatalf("%s: %d rows, %d distinct, want %d and %d\n%s", nth, rows, distinct, wantRows, wantDistinct, log)
				}
			}
			verify := process(t, "verify", a.path("out"))
			if out, err := verify.CombinedOutput(); err != nil {
				t.Errorf("verify: %v\n%s", err, out)
			}
		})
	}
}
