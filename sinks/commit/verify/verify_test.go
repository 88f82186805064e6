package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/ndjson"
	"github.com/urlmill/urlmill/sinks/store"
)

var (
	quiet  = slog.New(slog.DiscardHandler)
	clicks = pipeline.LaneID{Stream: "clicks", Partition: 3}
)

// output is an output in a directory, with a place for dead letters beside it.
type output struct {
	t    *testing.T
	dir  string // of the rows
	seq  uint64
	opts Options
}

func newOutput(t *testing.T) *output {
	t.Helper()
	o := &output{t: t, dir: filepath.Join(t.TempDir(), "out")}
	o.must(os.Mkdir(filepath.Join(filepath.Dir(o.dir), "dead"), 0o700))
	o.opts = Options{
		Root: store.NewLocal(o.dir, store.System, quiet), Open: store.Open, Log: quiet,
		Counters: map[string]RowCounter{"ndjson": ndjson.CountRows},
	}
	return o
}

func (o *output) must(err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
}

// commits has a process commit so many times, ten positions and a file with rows and one with dead letters each time. The
// files have directories as those of a partitioned table.
func (o *output) commits(n int) {
	o.t.Helper()
	root := store.NewLocal(o.dir, store.System, quiet)
	places := commit.NewPlaces(root, store.Open, quiet)
	dead := store.NewLocal(filepath.Join(filepath.Dir(o.dir), "dead"), store.System, quiet)
	places.Add(dead)
	o.must(root.Prepare(o.t.Context()))
	o.must(dead.Prepare(o.t.Context()))
	o.must(places.Claim(o.t.Context()))
	chain := commit.New(commit.Options{Root: root, Place: places.Get, Log: quiet})
	l, err := chain.Open(o.t.Context(), clicks)
	o.must(err)
	for range n {
		first := max(l.Next(), 100)
		files := []commit.File{
			o.write(root, "", pipeline.Rows, first, "dt=1/h=a%2Fb/"),
			o.write(dead, "../dead", pipeline.DeadLetters, first, ""),
		}
		o.must(l.Commit(o.t.Context(), pipeline.Span{First: first, Next: first + 10}, files))
	}
	o.must(root.Close())
	o.must(dead.Close())
}

func (o *output) write(s store.Store, place string, t pipeline.Table, first int64, dir string) commit.File {
	o.t.Helper()
	o.seq++
	f, err := s.Begin(o.t.Context(), dir+commit.FileName(clicks, first, s.Run(), o.seq, "ndjson"))
	o.must(err)
	_, err = fmt.Fprintf(f, "%d\n%d\n", first, first+1)
	o.must(err)
	p, err := f.Finish()
	o.must(err)
	return commit.NewFile(t, place, 2, p)
}

func (o *output) verify() *Report {
	o.t.Helper()
	r, err := Run(o.t.Context(), o.opts)
	o.must(err)
	return r
}

// TestInspected: what an inspector says of a row is a problem of its file, and so is its error. Damaged files are not given to it.
func TestInspected(t *testing.T) {
	o := newOutput(t)
	o.commits(3)
	o.edit(o.file(120), func(s string) string { return strings.Replace(s, "1", "2", 1) })
	o.opts.Inspectors = map[string]Inspector{"ndjson": func(r io.ReaderAt, size int64, wrong func(string)) (int64, error) {
		text := make([]byte, size)
		if _, err := r.ReadAt(text, 0); err != nil {
			return 0, err
		}
		if strings.HasPrefix(string(text), "100") {
			wrong("row 0: it is 100")
		}
		if strings.HasPrefix(string(text), "110") {
			return 1, errors.New("no URL")
		}
		return 2, nil
	}}
	r := o.verify()
	var got []string
	for _, p := range r.Problems {
		got = append(got, fmt.Sprint(p.Position, " ", p.Kind, " ", p.Message))
	}
	want := []string{"100 wrong_url row 0: it is 100", "100 wrong_url row 0: it is 100", "110 wrong_url its rows cannot be compared: no URL", "110 wrong_url its rows cannot be compared: no URL"}
	got = slices.DeleteFunc(got, func(s string) bool { return strings.Contains(s, "wrong_checksum") })
	if !slices.Equal(got, want) || r.Judged != 2*2+2*1+2 {
		t.Errorf("%q, %d rows", got, r.Judged)
	}
}

func (o *output) record(first int64) string {
	return filepath.Join(o.dir, commit.Dir, "clicks", "3", fmt.Sprintf("%020d.json", first))
}

// file returns the file that begins at a position.
func (o *output) file(first int64) string {
	o.t.Helper()
	found, err := filepath.Glob(filepath.Join(o.dir, "dt=1", "h=*", fmt.Sprintf("clicks-3-%020d-*", first)))
	o.must(err)
	if len(found) != 1 {
		o.t.Fatalf("%v begin at %d", found, first)
	}
	return found[0]
}

func (o *output) edit(name string, change func(string) string) {
	o.t.Helper()
	content, err := os.ReadFile(name)
	o.must(err)
	o.must(os.WriteFile(name, []byte(change(string(content))), 0o600))
}

func (o *output) replace(name, old, with string) {
	o.t.Helper()
	o.edit(name, func(s string) string {
		if !strings.Contains(s, old) {
			o.t.Fatalf("%s has no %s:\n%s", name, old, s)
		}
		return strings.ReplaceAll(s, old, with)
	})
}

func TestComplete(t *testing.T) {
	o := newOutput(t)
	o.commits(300) // more than a checkpoint holds
	r := o.verify()
	want := Lane{
		Lane: "clicks/3", Stream: "clicks", Partition: 3, Start: 100, Next: 3100, Commits: 300, Checkpoints: 1,
		Files: 600, Rows: 600, Dead: 600, Bytes: r.Bytes,
	}
	if len(r.Lanes) != 1 || fmt.Sprint(r.Lanes[0]) != fmt.Sprint(want) || r.Bytes == 0 || !r.OK {
		t.Errorf("%+v", r)
	}
	// The same without the records that the checkpoint has.
	for first := int64(100); first < 100+256*10; first += 10 {
		o.must(os.Remove(o.record(first)))
	}
	if again := o.verify(); fmt.Sprint(again) != fmt.Sprint(r) {
		t.Errorf("%+v", again)
	}
}

// Each fault is found, under its name, and nothing but it.
func TestFaults(t *testing.T) {
	const stopped = ".stopped"
	for name, c := range map[string]struct {
		do   func(o *output)
		want []commit.Kind
		at   int64
	}{
		"a record is gone":      {func(o *output) { o.must(os.Remove(o.record(120))) }, []commit.Kind{commit.Gap, StrayFile, StrayFile}, 120},
		"a record is cut off":   {func(o *output) { o.edit(o.record(120), func(s string) string { return s[:40] }) }, []commit.Kind{commit.DamagedRecord, commit.Gap, StrayFile, StrayFile}, 120},
		"a record of its own":   {func(o *output) { o.overlap(120, 125) }, []commit.Kind{commit.Overlap}, 125},
		"the start is gone":     {func(o *output) { o.must(os.Remove(filepath.Join(filepath.Dir(o.record(0)), "start.json"))) }, []commit.Kind{commit.DamagedRecord}, 100},
		"a file is gone":        {func(o *output) { o.must(os.Remove(o.file(110))) }, []commit.Kind{MissingFile}, 110},
		"the last file is gone": {func(o *output) { o.must(os.Remove(o.file(140))) }, []commit.Kind{MissingFile}, 140},
		"a byte is another":     {func(o *output) { o.replace(o.file(110), "111", "112") }, []commit.Kind{WrongChecksum}, 110},
		"a byte is missing":     {func(o *output) { o.edit(o.file(110), func(s string) string { return s[1:] }) }, []commit.Kind{WrongSize}, 110},
		"rows":                  {func(o *output) { o.replace(o.record(110), `"rows":2`, `"rows":3`) }, []commit.Kind{WrongRows, WrongRows}, 110},
		"a stray file":          {func(o *output) { o.must(os.WriteFile(filepath.Join(o.dir, "dt=1", "x.ndjson"), nil, 0o600)) }, []commit.Kind{StrayFile}, -1},
		"a file twice":          {func(o *output) { o.sameFile(130, 120) }, []commit.Kind{NamedTwice, commit.Overlap, StrayFile, WrongChecksum}, 130},
		"not published":         {func(o *output) { o.unpublish(140) }, []commit.Kind{UnfinishedPublish}, 140},
		"nothing that counts": {func(o *output) {
			o.must(os.WriteFile(filepath.Join(o.dir, stopped), nil, 0o600))
			o.must(os.MkdirAll(filepath.Join(o.dir, "_tmp", "01234567"), 0o700))
			o.must(os.WriteFile(filepath.Join(o.dir, "_tmp", "01234567", "x.tmp"), nil, 0o600))
		}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			publishing = 0
			o := newOutput(t)
			o.commits(5)
			c.do(o)
			r := o.verify()
			var kinds []commit.Kind
			there := c.want == nil
			for _, p := range r.Problems {
				kinds = append(kinds, p.Kind)
				there = there || p.Position == c.at
			}
			slices.Sort(kinds)
			if !slices.Equal(kinds, c.want) || !there || r.OK != (c.want == nil) {
				t.Errorf("want %v at %d, got %+v", c.want, c.at, r.Problems)
			}
		})
	}
}

// overlap makes a record that begins within another one.
func (o *output) overlap(of, at int64) {
	o.t.Helper()
	content := fmt.Sprintf(`{"version":1,"lane":"clicks/3","stream":"clicks","partition":3,"first":%d,"next":%d,"files":[]}`, at, of+10)
	o.must(os.WriteFile(o.record(at), []byte(content), 0o600))
}

// sameFile has a record name the file of another one.
func (o *output) sameFile(of, as int64) {
	o.t.Helper()
	o.replace(o.record(of), filepath.Base(o.file(of)), filepath.Base(o.file(as)))
}

// unpublish takes a step of a process back.
func (o *output) unpublish(first int64) {
	o.t.Helper()
	content, err := os.ReadFile(o.record(first))
	o.must(err)
	_, token, _ := strings.Cut(string(content), `"token":"`)
	token, _, _ = strings.Cut(token, `"`)
	tmp := filepath.Join(o.dir, filepath.FromSlash(token))
	o.must(os.MkdirAll(filepath.Dir(tmp), 0o700))
	o.must(os.Rename(o.file(first), tmp))
}

// Repairing publishes, removes what the dead have left, and leaves what it should not touch.
func TestRepair(t *testing.T) {
	publishing = 0
	o := newOutput(t)
	o.commits(300)
	o.unpublish(3090)
	leftover := filepath.Join(o.dir, "_tmp", "01234567", commit.FileName(clicks, 3100, "01234567", 1, "ndjson")+".tmp")
	o.must(os.MkdirAll(filepath.Dir(leftover), 0o700))
	o.must(os.WriteFile(leftover, nil, 0o600))
	o.must(os.WriteFile(filepath.Join(filepath.Dir(leftover), "lock"), []byte(store.System.Boot()), 0o600))
	o.overlap(120, 125) // a checkpoint has this position
	stray, damaged := filepath.Join(o.dir, "x.ndjson"), o.file(110)
	o.must(os.WriteFile(stray, nil, 0o600))
	o.replace(damaged, "111", "112")

	before := o.verify()
	if _, err := os.Stat(leftover); err != nil {
		t.Errorf("verifying alone changes something: %v", err)
	}
	o.must(Repair(t.Context(), o.opts))
	after := o.verify()
	var kinds [2][]commit.Kind
	for i, r := range []*Report{before, after} {
		for _, p := range r.Problems {
			kinds[i] = append(kinds[i], p.Kind)
		}
		slices.Sort(kinds[i])
	}
	if want := []commit.Kind{commit.LateRecord, StrayFile, UnfinishedPublish, WrongChecksum}; !slices.Equal(kinds[0], want) {
		t.Errorf("before: %v", before.Problems)
	}
	if want := []commit.Kind{StrayFile, WrongChecksum}; !slices.Equal(kinds[1], want) {
		t.Errorf("after: %v", after.Problems)
	}
	if _, err := os.Stat(filepath.Join(o.dir, "_tmp")); !os.IsNotExist(err) {
		t.Errorf("_tmp is still there: %v", err)
	}
}

// A record may name any directory. Repairing makes none.
func TestRepairMakesNoDirectory(t *testing.T) {
	o := newOutput(t)
	o.commits(2)
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	for _, dir := range []string{elsewhere, "../elsewhere"} {
		o.edit(o.record(100), func(s string) string { return strings.Replace(s, `"name":"`, `"dir":"`+dir+`","name":"`, 1) })
		o.must(Repair(t.Context(), o.opts))
		for _, at := range []string{elsewhere, filepath.Join(o.dir, "../elsewhere")} {
			if _, err := os.Stat(at); !os.IsNotExist(err) {
				t.Errorf("%s was made for a record with the directory %s: %v", at, dir, err)
			}
		}
		o.edit(o.record(100), func(s string) string { return strings.Replace(s, `"dir":"`+dir+`",`, "", 1) })
	}
}

// An output can be verified while others write to it.
func TestWhileWriting(t *testing.T) {
	o := newOutput(t)
	o.commits(1)
	type result struct {
		r   *Report
		err error
	}
	results := make(chan result)
	go func() {
		defer close(results)
		for range 8 {
			r, err := Run(context.WithoutCancel(t.Context()), o.opts)
			results <- result{r, err}
		}
	}()
	for {
		select {
		case got, ok := <-results:
			switch {
			case !ok:
				return
			case got.err != nil:
				t.Error(got.err)
			case !got.r.OK:
				t.Errorf("%+v", got.r.Problems)
			}
		default:
			o.commits(3)
		}
	}
}

func TestNoOutput(t *testing.T) {
	o := newOutput(t)
	if _, err := Run(t.Context(), o.opts); err == nil || !strings.Contains(err.Error(), "no commit records") {
		t.Error(err)
	}
}
