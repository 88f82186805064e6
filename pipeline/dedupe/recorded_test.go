package dedupe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/cockroachdb/pebble/vfs"
	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/pipeline"
)

// shelf is lanes of objects, which processes read in the order that they like: what lasts of them and of the inner sink.
type shelf struct {
	disk
	objects [][][]row // of each lane, which are numbered, as the rows are
	chains  [][]shelfCommit
	others  bool // rows have come that the state may not know
}

type shelfCommit struct {
	pipeline.Mark
	read []int // objects, of the lane
	rows []row
}

func (s *shelf) head(i int) pipeline.Mark {
	if c := s.chains[i]; len(c) > 0 {
		return c[len(c)-1].Mark
	}
	return pipeline.Mark{Next: pipeline.Unknown}
}

// unread returns the objects of a lane that no commit says, but those of more.
func (s *shelf) unread(i int, more []int) (left []int) {
	read := slices.Clone(more)
	for _, c := range s.chains[i] {
		read = append(read, c.read...)
	}
	for o := range s.objects[i] {
		if !slices.Contains(read, o) {
			left = append(left, o)
		}
	}
	return left
}

// after returns what is said of a commit: the objects that were read before, in their order.
func (s *shelf) after(i int, read []int) string {
	return s.head(i).Of + strings.Trim(fmt.Sprint(read), "[]") + ";"
}

func (s *shelf) commit(i int, c shelfCommit) { s.chains[i] = append(s.chains[i], c) }

func (s *shelf) Open(_ context.Context, id pipeline.LaneID) (pipeline.Writer, int64, error) {
	i := int(id.Partition)
	return &shelfWriter{shelf: s, lane: i, begun: s.head(i)}, s.head(i).Next, s.step("open")
}

func (s *shelf) Position(_ context.Context, id pipeline.LaneID) (pipeline.Mark, error) {
	return s.head(int(id.Partition)), nil
}

func (s *shelf) History(_ context.Context, id pipeline.LaneID, each func(pipeline.Mark) error) error {
	for _, c := range s.chains[id.Partition] {
		if err := each(c.Mark); err != nil {
			return err
		}
	}
	return nil
}

type shelfWriter struct {
	shelf   *shelf
	lane    int
	begun   pipeline.Mark
	pending shelfCommit
}

func (w *shelfWriter) Write(_ context.Context, _ pipeline.Table, r arrow.Record, span pipeline.Span) error {
	w.pending.rows, w.pending.Next, w.pending.Of = append(w.pending.rows, rowsOf(w.shelf.t, r)...), span.Next, span.Of
	return w.shelf.step("write")
}

func (w *shelfWriter) Size() pipeline.Size { return pipeline.Size{Rows: int64(len(w.pending.rows))} }
func (w *shelfWriter) Abandon() error      { return nil }

func (w *shelfWriter) Commit(context.Context) (int64, error) {
	if w.shelf.head(w.lane) != w.begun {
		return 0, pipeline.ErrLaneLost
	}
	if err := w.shelf.step("before the rows are there"); err != nil {
		return 0, err
	}
	c := w.pending
	for _, o := range strings.Fields(strings.TrimSuffix(strings.TrimPrefix(c.Of, w.begun.Of), ";")) {
		n, err := strconv.Atoi(o)
		if err != nil {
			w.shelf.t.Fatal(err)
		}
		c.read = append(c.read, n)
	}
	w.shelf.commit(w.lane, c)
	w.begun, w.pending = c.Mark, shelfCommit{}
	return c.Next, w.shelf.step("after the rows are there")
}

// shelfProcess is a run of the sink under test.
type shelfProcess struct {
	shelf *shelf
	sink  *Sink
	lanes []pipeline.Writer
	read  [][]int // objects since the last commit
	next  []int64
}

func (s *shelf) begin(fs vfs.FS, opts Options) (*shelfProcess, error) {
	opts.fs, opts.Step = fs, s.step
	sink, err := New(s, opts)
	if err != nil {
		s.t.Fatalf("New: %v", err)
	}
	p := &shelfProcess{shelf: s, sink: sink, lanes: make([]pipeline.Writer, len(s.objects)), read: make([][]int, len(s.objects)), next: make([]int64, len(s.objects))}
	return p, sink.Start(context.Background(), pipeline.Schemas{testSchema})
}

func (p *shelfProcess) open(i int) error {
	w, next, err := p.sink.Open(context.Background(), lane(i))
	if err == nil {
		p.lanes[i], p.read[i], p.next[i] = w, nil, max(next, 0)
	}
	return err
}

// write reads an object of those that are left, and gives its rows to the sink.
func (p *shelfProcess) write(i int, choose func(n int) int) error {
	left := p.shelf.unread(i, p.read[i])
	if len(left) == 0 {
		return nil
	}
	o := left[choose(len(left))]
	rows := p.shelf.objects[i][o]
	r := record(rows)
	defer r.Release()
	p.read[i] = append(p.read[i], o)
	first := p.next[i]
	p.next[i] += int64(len(rows))
	return p.lanes[i].Write(context.Background(), pipeline.Rows, r, pipeline.Span{First: first, Next: p.next[i], Of: p.shelf.after(i, p.read[i])})
}

func (p *shelfProcess) commit(i int) error {
	if len(p.read[i]) == 0 {
		return nil
	}
	_, err := p.lanes[i].Commit(context.Background())
	if err == nil {
		p.read[i] = nil
	}
	return err
}

func (p *shelfProcess) abandon(i int) error {
	w := p.lanes[i]
	p.lanes[i] = nil
	return w.Abandon()
}

// other has another process, which knows no duplicates, read some objects of a lane and commit them.
func (s *shelf) other(i int, choose func(n int) int) {
	c := shelfCommit{Mark: pipeline.Mark{Next: max(s.head(i).Next, 0)}}
	for range 1 + choose(2) {
		if left := s.unread(i, c.read); len(left) > 0 {
			o := left[choose(len(left))]
			c.read = append(c.read, o)
			c.rows = append(c.rows, s.objects[i][o]...)
			c.Next += int64(len(s.objects[i][o]))
		}
	}
	if len(c.read) == 0 {
		return
	}
	c.Of = s.after(i, c.read)
	s.commit(i, c)
	s.others = true
}

// any does something to some lane.
func (p *shelfProcess) any(t *rapid.T, choose func(n int) int) error {
	i := choose(len(p.lanes))
	action := rapid.SampledFrom([]string{"write", "write", "write", "commit", "commit", "abandon", "fault", "other"}).Draw(t, "action")
	if action == "other" && rapid.IntRange(0, 2).Draw(t, "comes") == 0 {
		p.shelf.other(i, choose)
		return nil
	}
	if p.lanes[i] == nil {
		return p.open(i)
	}
	var err error
	switch action {
	case "write":
		return p.write(i, choose)
	case "commit":
		err = p.commit(i)
	case "abandon":
		return p.abandon(i)
	case "fault":
		crash := p.shelf.crash
		p.shelf.crash = 1 + choose(5)
		err = p.commit(i)
		p.shelf.crash, p.shelf.dead = crash, false
	}
	if err != nil && !p.shelf.dead {
		return p.abandon(i)
	}
	return err
}

// TestRecordedModel does what [TestModel] does with lanes whose objects are read in any order, by other processes as well, and with an
// output that is put back to any earlier state, also to one of another order: no page is without a row, and where nothing has come but
// what the state was told, each has one.
func TestRecordedModel(t *testing.T) {
	for _, mode := range []Mode{Mark, Drop} {
		t.Run(string(mode), rapid.MakeCheck(func(t *rapid.T) {
			recordedModel(t, Options{
				Path: "/seen", Mode: mode, KeyColumn: "url_key", Identity: "test", Memory: 8 << 20, Positions: true, Recorded: true,
			})
		}))
	}
}

func recordedModel(t *rapid.T, opts Options) {
	s := &shelf{disk: disk{t: t}}
	opts.table = rapid.SampledFrom([]int{0, 1, 4}).Draw(t, "keys in memory")
	for range rapid.IntRange(1, 2).Draw(t, "lanes") {
		var objects [][]row
		for o := range rapid.IntRange(0, 8).Draw(t, "objects") {
			var rows []row
			for n := range rapid.IntRange(1, 2).Draw(t, "rows") {
				rows = append(rows, row{key: rapid.Int64Range(-1, 12).Draw(t, "key"), offset: int64(10*o + n)})
			}
			objects = append(objects, rows)
		}
		s.objects, s.chains = append(s.objects, objects), append(s.chains, nil)
	}
	choose := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }
	fs := vfs.NewStrictMem()
	copied := func() (all [][]shelfCommit) {
		for _, c := range s.chains {
			all = append(all, slices.Clone(c))
		}
		return all
	}
	backups := [][][]shelfCommit{copied()}
	for range rapid.IntRange(0, 5).Draw(t, "crashes") {
		s.crash, s.dead = rapid.IntRange(1, 60).Draw(t, "steps"), false
		s.run(t, fs, opts, choose)
		switch rapid.SampledFrom([]string{"", "back up", "restore"}).Draw(t, "output") {
		case "back up":
			backups = append(backups, copied())
		case "restore":
			now := s.chains
			s.chains = backups[choose(len(backups))]
			s.chains = copied()
			for i, c := range s.chains { // else the state may have forgotten rows that are there again
				n := len(c)
				s.others = s.others || n > len(now[i]) || n > 0 && c[n-1].Mark != now[i][n-1].Mark
			}
		}
	}
	s.crash, s.dead = 0, false
	p, err := s.begin(fs, opts)
	if err != nil {
		t.Fatalf("starting after crashes: %v", err)
	}
	for i := range s.objects {
		err := p.open(i)
		for err == nil && len(s.unread(i, p.read[i])) > 0 {
			err = p.write(i, choose)
		}
		if err = errors.Join(err, p.commit(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.sink.Close(); err != nil {
		t.Fatal(err)
	}
	s.checkTruth(t)
}

// run drives a process until it dies or has done enough, and cuts it off.
func (s *shelf) run(t *rapid.T, fs *vfs.MemFS, opts Options, choose func(n int) int) {
	fs.SetIgnoreSyncs(false)
	p, err := s.begin(fs, opts)
	if err != nil && !errors.Is(err, errCrash) {
		t.Fatalf("starting: %v", err)
	}
	for range 60 {
		if s.dead {
			break
		}
		if err := p.any(t, choose); err != nil && !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
	}
	cutOff(fs, p.sink, rapid.Bool().Draw(t, "power lost"))
}

func (s *shelf) checkTruth(t rapid.TB) {
	firsts, inputs := map[int64]int{}, map[int64]bool{}
	for i, objects := range s.objects {
		for _, rows := range objects {
			for _, r := range rows {
				inputs[r.key] = r.key >= 0
			}
		}
		if left := s.unread(i, nil); len(left) > 0 {
			t.Fatalf("lane %d: objects %v were not read", i, left)
		}
		for _, c := range s.chains[i] {
			for _, r := range c.rows {
				if !r.duplicate {
					firsts[r.key]++
				}
			}
		}
	}
	for key, is := range inputs {
		if is && (firsts[key] == 0 || firsts[key] > 1 && !s.others) {
			t.Fatalf("key %d has %d rows that are no duplicates", key, firsts[key])
		}
	}
}

// shelved returns a lane of objects that have so many rows, of pages of their own, and a process that reads it.
func shelved(t *testing.T, opts Options, sizes ...int) (s *shelf, start func() *shelfProcess, must func(error)) {
	must = func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var objects [][]row
	for o, n := range sizes {
		var rows []row
		for i := range n {
			rows = append(rows, row{key: int64(10*o + i), offset: int64(10*o + i)})
		}
		objects = append(objects, rows)
	}
	s = &shelf{disk: disk{t: t}, chains: make([][]shelfCommit, 1), objects: [][][]row{objects}}
	opts.Path, opts.Mode, opts.KeyColumn, opts.Memory, opts.Positions, opts.Recorded = "/seen", Drop, "url_key", 8<<20, true, true
	fs := vfs.NewMem()
	return s, func() *shelfProcess {
		p, err := s.begin(fs, opts)
		must(err)
		must(p.open(0))
		return p
	}, must
}

// reads reads some of the objects that are left, each by its place among them, with a commit for each.
func (p *shelfProcess) reads(must func(error), places ...int) {
	for _, at := range places {
		must(p.write(0, func(int) int { return at }))
		must(p.commit(0))
	}
}

// A commit in doubt whose lane another process has gone on with, in another order, was not made, although the position is behind its end.
func TestRecordedDoubt(t *testing.T) {
	for _, approximate := range []*Approximate{nil, {Memory: 1 << 20, Keys: 1000}} {
		s, start, must := shelved(t, Options{Approximate: approximate}, 1, 1, 1)
		p := start()
		must(p.write(0, func(int) int { return 0 }))
		s.other(0, func(n int) int { return n - 1 }) // objects 2 and 1
		if err := p.commit(0); !errors.Is(err, pipeline.ErrLaneLost) {
			t.Fatal(err)
		}
		must(p.abandon(0))
		must(p.open(0))
		p.reads(must, 0)
		must(p.sink.Close())
		s.checkTruth(t)
	}
}

// An output that is put back to another history than the state has, at positions that both have, loses no page.
func TestRecordedRestored(t *testing.T) {
	s, start, must := shelved(t, Options{}, 1, 1, 1, 1, 2)
	p := start()
	p.reads(must, 0, 0, 0) // objects 0, 1 and 2
	if m, _, err := p.sink.state.mark(lane(0)); err != nil || len(m.Origins) != 1 || m.End != 3 {
		t.Errorf("the state has %+v of the lane, which would grow with each commit: %v", m, err)
	}
	must(p.sink.Close())
	first := slices.Clone(s.chains[0])
	s.chains[0] = s.chains[0][:1:1]
	p = start()
	p.reads(must, 2, 2) // 3 and 4, which ends behind the first
	must(p.sink.Close())
	s.chains[0] = first
	p = start()
	p.reads(must, 0, 0)
	must(p.sink.Close())
	s.checkTruth(t)
}
