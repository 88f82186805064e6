package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urlmill/urlmill/pipeline"
)

// keeper keeps positions as a sink does, and the rows of all lanes.
type keeper struct {
	batches int    // after which a lane ends, 0 for never
	handed  func() // called when a lane has been handed out

	mu    sync.Mutex
	marks map[pipeline.LaneID]pipeline.Mark
	rows  []string
}

func (k *keeper) Position(_ context.Context, id pipeline.LaneID) (pipeline.Mark, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if m, ok := k.marks[id]; ok {
		return m, nil
	}
	return pipeline.Mark{Next: pipeline.Unknown}, nil
}

func (k *keeper) Lanes(context.Context) ([]pipeline.LaneID, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Collect(maps.Keys(k.marks)), nil
}

// each delivers a lane.
func (k *keeper) each(ctx context.Context, l pipeline.Lane) error {
	if k.handed != nil {
		k.handed()
	}
	at, _ := k.Position(ctx, l.ID())
	if err := l.Start(ctx, at.Next); err != nil {
		return err
	}
	b := &pipeline.Batch{MaxRows: 100, MaxBytes: 1 << 20}
	for n := 1; ; n++ {
		err := l.Next(ctx, b)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		k.mu.Lock()
		if k.marks == nil {
			k.marks = map[pipeline.LaneID]pipeline.Mark{}
		}
		k.marks[l.ID()] = pipeline.Mark{Next: b.Next, Of: b.Of}
		for i := range b.Len() {
			k.rows = append(k.rows, string(b.URLs.At(i)))
		}
		k.mu.Unlock()
		if n == k.batches {
			return nil
		}
	}
}

// deliver reads files.
func (k *keeper) deliver(t *testing.T, paths ...string) (*Source, error) {
	t.Helper()
	s := newSource(t, Options{Paths: paths})
	s.Resume(k)
	return s, s.Run(t.Context(), nil, k.each)
}

// old gives a file a time of change that is to be relied on.
func old(t *testing.T, path string) time.Time {
	t.Helper()
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
	return at
}

// TestListedThenChanged changes a file after it has been listed, and after it has been looked at: what is opened is held
// against that. Whatever happened, each version is delivered once at most.
func TestListedThenChanged(t *testing.T) {
	lines := testLines(0, 2000)
	cut := lines[:len(lines)/2+1]
	other := []byte(strings.ToUpper(string(lines)))
	for _, test := range []struct {
		name string
		now  func(path string)
		want []byte // what is there then, nil if nothing
		says string // when it is opened
	}{
		{"replaced", func(path string) { replace(t, path, other) }, other, "replaced since it was looked at"},
		{"replaced by a longer one", func(path string) { replace(t, path, append(other, 'x')) }, append(other, 'x'), "replaced since it was looked at"},
		{"overwritten", func(path string) { put(t, path, other) }, other, "replaced since it was looked at"},
		{"cut", func(path string) { put(t, path, cut) }, cut, "has been cut from"},
		{"replaced by the same", func(path string) { replace(t, path, lines) }, lines, ""},
		{"grown", func(path string) { put(t, path, testLines(0, 2100)) }, testLines(0, 2100), ""},
		{"gone", func(path string) { _ = os.Remove(path) }, nil, "no such file"},
	} {
		path := write(t, "a", lines)
		k := &keeper{handed: func() { test.now(path) }}
		s, err := k.deliver(t, path)
		if test.says == "" && err != nil || test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says) || !isOwn(err) || len(k.rows) > 0) {
			t.Errorf("%s: %v, %d rows, want %q", test.name, err, len(k.rows), test.says)
		}
		if done, total := progress(s); done != total {
			t.Errorf("%s: %d of %d", test.name, done, total)
		}
		if k.handed = nil; test.want != nil {
			for range 2 {
				if _, err := k.deliver(t, path); err != nil {
					t.Errorf("%s: %v", test.name, err)
				}
				same(t, test.name, k.rows, linesOf(test.want))
			}
		}

		path = write(t, "a", lines)
		k = &keeper{}
		s = newSource(t, Options{Paths: []string{path}})
		s.Resume(k)
		test.now(path)
		if err := s.Run(t.Context(), nil, k.each); (err == nil) != (test.want != nil) {
			t.Errorf("%s before it was looked at: %v", test.name, err)
		}
		if test.want != nil {
			if _, err := k.deliver(t, path); err != nil {
				t.Errorf("%s before it was looked at: %v", test.name, err)
			}
		}
		same(t, test.name+" before it was looked at", k.rows, linesOf(test.want))
	}
}

// replace puts another file in the place of one.
func replace(t *testing.T, path string, data []byte) {
	t.Helper()
	put(t, path+".new", data)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// TestCutWhileRead cuts a file that is being read: the row that was cut with it is not delivered, and it is no good end.
func TestCutWhileRead(t *testing.T) {
	lines := []byte(strings.Repeat(string(testLines(0, 2000)), 100))
	path := write(t, "a", lines)
	k := &keeper{}
	s := newSource(t, Options{Paths: []string{path}})
	s.Resume(k)
	cut := int64(len(lines) - 5)
	err := s.Run(t.Context(), nil, func(ctx context.Context, l pipeline.Lane) error {
		if err := l.Start(ctx, 0); err != nil {
			return err
		}
		b := &pipeline.Batch{MaxRows: 100, MaxBytes: 1 << 20}
		if err := l.Next(ctx, b); err != nil {
			return err
		}
		if err := os.Truncate(path, cut); err != nil {
			return err
		}
		for {
			if err := l.Next(ctx, b); err != nil {
				return err
			}
		}
	})
	var read *ReadError
	if !errors.As(err, &read) || read.Record != 199999 || read.Rest == 0 || !strings.Contains(err.Error(), "it ends too early") {
		t.Fatal(err)
	}
}

// TestGoesOn stops in the middle of a file, which has grown when it is read again.
func TestGoesOn(t *testing.T) {
	lines := testLines(0, 20000)
	for _, format := range []string{"text", "gzip"} {
		data, more := lines, testLines(20000, 30000)
		if format == "gzip" {
			data, more = compress(t, "gzip", data), compress(t, "gzip", more)
		}
		path := write(t, "a", data)
		k := &keeper{batches: 3}
		for range 3 {
			if _, err := k.deliver(t, path); err != nil {
				t.Fatal(err)
			}
		}
		k.batches = 0
		put(t, path, append(data, more...))
		if _, err := k.deliver(t, path); err != nil {
			t.Fatal(err)
		}
		same(t, format, k.rows, linesOf(testLines(0, 30000)))
	}
}

// TestTrusted looks at what is read of a file that has been read to its end: nothing, when its size and time are the same.
func TestTrusted(t *testing.T) {
	lines := testLines(0, 2000)
	path := write(t, "a", lines)
	at := old(t, path)
	k := &keeper{}
	if _, err := k.deliver(t, path); err != nil {
		t.Fatal(err)
	}
	// Nobody does this with a file whose content is to be delivered. It shows that only the beginning was looked at.
	lines[len(lines)-2] ^= 1
	put(t, path, lines)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
	if _, err := k.deliver(t, path); err != nil || len(k.rows) != 2000 {
		t.Errorf("%d rows, %v", len(k.rows), err)
	}
	old(t, path)
	if err := os.Chtimes(path, at.Add(time.Second), at.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	var changed *ChangedError
	if _, err := k.deliver(t, path); !errors.As(err, &changed) || changed.Next != 2000 || len(k.rows) != 2000 {
		t.Errorf("%d rows, %v", len(k.rows), err)
	}
	// What changes within the grain of the clock is not to be relied on.
	fresh := write(t, "b", lines)
	if _, err := k.deliver(t, fresh); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(fresh)
	if err != nil {
		t.Fatal(err)
	}
	lines[len(lines)-2] ^= 2
	put(t, fresh, lines)
	if err := os.Chtimes(fresh, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if _, err := k.deliver(t, fresh); !errors.As(err, &changed) || changed.Path != fresh {
		t.Error(err)
	}
}

// TestOldOutput goes on in an output whose lanes are called by size and time, and say nothing of the content.
func TestOldOutput(t *testing.T) {
	path := write(t, "a", testLines(0, 2000))
	old(t, path)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	k := &keeper{marks: map[pipeline.LaneID]pipeline.Mark{{Stream: path, Session: version(info)}: {Next: 1500}}}
	for range 2 {
		if _, err := k.deliver(t, path); err != nil {
			t.Fatal(err)
		}
		same(t, "rows", k.rows, linesOf(testLines(1500, 2000)))
	}
	put(t, path, testLines(0, 2001)) // it is known by its content now
	if _, err := k.deliver(t, path); err != nil {
		t.Fatal(err)
	}
	same(t, "rows", k.rows, linesOf(testLines(1500, 2001)))

	k = &keeper{marks: map[pipeline.LaneID]pipeline.Mark{{Stream: path, Session: "0123456789abcdef"}: {Next: 1500}}}
	var changed *ChangedError
	if _, err := k.deliver(t, path); !errors.As(err, &changed) || !strings.Contains(err.Error(), "size or time of change") || len(k.rows) > 0 {
		t.Errorf("%d rows, %v", len(k.rows), err)
	}
}

// TestBegun goes on in a lane that another process has begun and not committed to.
func TestBegun(t *testing.T) {
	path := write(t, "a", testLines(0, 10))
	k := &keeper{}
	if _, err := k.deliver(t, path); err != nil || len(k.marks) != 1 {
		t.Fatal(err)
	}
	for id := range k.marks {
		k.marks[id] = pipeline.Mark{Next: pipeline.Unknown}
	}
	k.rows = nil
	if _, err := k.deliver(t, path); err != nil || len(k.rows) != 10 || len(k.marks) != 1 {
		t.Errorf("%d rows in %d lanes, %v", len(k.rows), len(k.marks), err)
	}
}

// TestOtherFolder reads files of one name in two working directories: they are two files.
func TestOtherFolder(t *testing.T) {
	k := &keeper{}
	dir := t.TempDir()
	for i, folder := range []string{"x", "y", "x"} {
		put(t, filepath.Join(dir, folder, "a"), []byte(strings.Repeat("http://"+folder+".example/\n", 1000)))
		t.Chdir(filepath.Join(dir, folder))
		if _, err := k.deliver(t, "a"); err != nil || len(k.rows) != 1000*min(i+1, 2) {
			t.Errorf("%s: %d rows, %v", folder, len(k.rows), err)
		}
	}
}

// TestForeignMark refuses what a newer version may have written, and changes nothing.
func TestForeignMark(t *testing.T) {
	path := write(t, "a", testLines(0, 10))
	k := &keeper{}
	if _, err := k.deliver(t, path); err != nil {
		t.Fatal(err)
	}
	for id, m := range k.marks {
		k.marks[id] = pipeline.Mark{Next: m.Next, Of: "sha3:00/12"}
	}
	if _, err := k.deliver(t, path); err == nil || !strings.Contains(err.Error(), "a newer one") || len(k.rows) != 10 {
		t.Errorf("%d rows, %v", len(k.rows), err)
	}
}

func TestMark(t *testing.T) {
	for _, path := range []string{"/a", "/a b/\"c\"\n\xff\x00é%", ""} {
		for bits := range 1 << len(flagLetters) {
			m := mark{n: 12, size: 1 << 40, time: -5, path: path}
			m.sum.Hi, m.sum.Lo = 1, 1<<63
			for i, f := range m.each() {
				*f = bits>>i&1 != 0
			}
			text := string(m.append(nil))
			got, err := parseMark(text)
			if err != nil || *got != m {
				t.Errorf("%s: %+v, %v", text, got, err)
			}
		}
	}
	for _, text := range []string{"x", "xxh3:00/1 1@1 ---- \"/a\"", fmt.Sprintf("xxh3:%032x/1 1@1 --- \"/a\"", 1), fmt.Sprintf("xxh3:%032x/1 1@1 ---- /a", 1)} {
		if m, err := parseMark(text); err == nil {
			t.Errorf("%s: %+v", text, m)
		}
	}
}

// TestPrints: a file that grows keeps the names of its beginnings.
func TestPrints(t *testing.T) {
	data := testLines(0, 200)
	seen := map[string]bool{}
	for _, n := range []int{0, 1, 2, 3, 4, 1000, 4095, 4096, 4097, len(data)} {
		p, err := readPrints(strings.NewReader(string(data[:n])))
		if err != nil {
			t.Fatal(err)
		}
		names := p.all()
		for name := range seen {
			if !slices.Contains(names, name) {
				t.Errorf("%d bytes: %s is not among %q", n, name, names)
			}
		}
		if printOf(names[0]+"v7") != names[0] || len(names) > numPrints+1 {
			t.Errorf("%d bytes: %q", n, names)
		}
		seen[names[0]] = true
	}
	for _, session := range []string{"", "0123456789abcdef", "n0123456789abcdef", "abcdefghijkl"} {
		if name := printOf(session); name != "" {
			t.Errorf("%s: %s", session, name)
		}
	}
}

// TestBegunAndNotCommitted is the crash between the beginning of a lane, which has the mark of its first commit, and that commit:
// a file that one commit would have read to its end is read, also when it has grown or become another one meanwhile.
func TestBegunAndNotCommitted(t *testing.T) {
	lines := testLines(0, 50)
	for name, now := range map[string][]byte{"as it was": lines, "longer": testLines(0, 60), "replaced": []byte(strings.ToUpper(string(lines)))} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "urls.txt")
			put(t, path, lines)
			old(t, path)
			var k keeper
			if _, err := k.deliver(t, path); err != nil {
				t.Fatal(err)
			}
			for id, m := range k.marks {
				k.marks[id] = pipeline.Mark{Next: 0, Of: m.Of}
			}
			k.rows = nil
			if name != "as it was" {
				put(t, path, now)
			}
			if _, err := k.deliver(t, path); err != nil {
				t.Fatal(err)
			}
			if want := strings.Count(string(now), "\n"); len(k.rows) != want {
				t.Errorf("%d rows are read, want %d", len(k.rows), want)
			}
		})
	}
}
