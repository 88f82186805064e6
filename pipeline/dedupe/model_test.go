package dedupe

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/cockroachdb/pebble/vfs"
	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/pipeline"
)

var testSchema = arrow.NewSchema([]arrow.Field{
	{Name: "url_key", Type: arrow.BinaryTypes.Binary, Nullable: true},
	{Name: "offset", Type: arrow.PrimitiveTypes.Int64},
	{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
}, nil)

// row is a row of the input or, with what was found, of the output. A key below 0 is none.
type row struct {
	key, offset int64
	duplicate   bool
}

func keyOf(n int64) []byte {
	var k Key
	binary.BigEndian.PutUint64(k[8:], uint64(n))
	return k[:]
}

// record makes a record of rows. The caller releases it.
func record(rows []row) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, testSchema)
	defer b.Release()
	for _, r := range rows {
		if r.key < 0 {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.BinaryBuilder).Append(keyOf(r.key))
		}
		b.Field(1).(*array.Int64Builder).Append(r.offset)
		tags := b.Field(2).(*array.ListBuilder)
		tags.Append(true)
		tags.ValueBuilder().(*array.StringBuilder).Append(fmt.Sprint(r.offset))
	}
	return b.NewRecord()
}

// rowsOf reads records of a sink back.
func rowsOf(t rapid.TB, r arrow.Record) (rows []row) {
	keys, offsets := r.Column(0).(*array.Binary), r.Column(1).(*array.Int64)
	tags := r.Column(2).(*array.List)
	for i := range int(r.NumRows()) {
		out := row{key: -1, offset: offsets.Value(i)}
		if keys.IsValid(i) {
			out.key = int64(binary.BigEndian.Uint64(keys.Value(i)[8:]))
		}
		from, _ := tags.ValueOffsets(i)
		if got := tags.ListValues().(*array.String).Value(int(from)); got != fmt.Sprint(out.offset) {
			t.Fatalf("row %d has the tag %s of another", out.offset, got)
		}
		if r.NumCols() == 4 {
			out.duplicate = r.Column(3).(*array.Boolean).Value(i)
		}
		rows = append(rows, out)
	}
	return rows
}

var errCrash = errors.New("crash")

// disk is what lasts of the inner sink and of the lanes: everything but the process.
type disk struct {
	t     rapid.TB
	lanes []*diskLane
	crash int // steps until the process dies; 0: never
	dead  bool
	// fenced has commits refused, as when somebody else has the lane.
	fenced bool
}

type diskLane struct {
	input     []row
	of        string // what positions are of
	deleted   bool   // with what told the position
	next      int64  // committed
	committed []row
}

// copied returns the lanes as they are, for a backup. One that nobody has read yet has no position.
func (d *disk) copied() (all []*diskLane) {
	for _, l := range d.lanes {
		c := *l
		c.committed = slices.Clone(l.committed)
		all = append(all, &c)
	}
	return all
}

// step is asked before everything that may be the last thing that happens.
func (d *disk) step(string) error {
	if d.dead {
		return errCrash
	}
	if d.crash > 0 {
		if d.crash--; d.crash == 0 {
			d.dead = true
			return errCrash
		}
	}
	return nil
}

func (d *disk) Start(context.Context, pipeline.Schemas) error { return nil }

func (d *disk) Open(_ context.Context, id pipeline.LaneID) (pipeline.Writer, int64, error) {
	lane := d.lanes[id.Partition]
	next := lane.next
	if lane.deleted {
		next = pipeline.Unknown
	}
	return &diskWriter{disk: d, lane: lane}, next, d.step("open")
}
func (d *disk) Close() error { return nil }

func (d *disk) Position(_ context.Context, id pipeline.LaneID) (pipeline.Mark, error) {
	lane := d.lanes[id.Partition]
	if lane.deleted {
		return pipeline.Mark{Next: pipeline.Unknown}, nil
	}
	return pipeline.Mark{Next: lane.next, Of: lane.of}, nil
}

type diskWriter struct {
	disk    *disk
	lane    *diskLane
	pending []row
	next    int64
}

func (w *diskWriter) Write(_ context.Context, _ pipeline.Table, r arrow.Record, span pipeline.Span) error {
	w.pending, w.next = append(w.pending, rowsOf(w.disk.t, r)...), span.Next
	return w.disk.step("write")
}
func (w *diskWriter) Size() pipeline.Size { return pipeline.Size{Rows: int64(len(w.pending))} }

func (w *diskWriter) Commit(context.Context) (int64, error) {
	if w.disk.fenced {
		return 0, pipeline.ErrLaneLost
	}
	if err := w.disk.step("before the rows are there"); err != nil {
		return 0, err
	}
	w.lane.committed, w.lane.next = append(w.lane.committed, w.pending...), w.next
	w.pending = nil
	return w.next, w.disk.step("after the rows are there")
}
func (w *diskWriter) Abandon() error { return nil }

// process is a run of the sink under test with the lanes that are open.
type process struct {
	disk  *disk
	sink  *Sink
	lanes []pipeline.Writer
	read  []int64
}

func lane(i int) pipeline.LaneID {
	return pipeline.LaneID{Stream: "topic", Partition: int32(i), Session: "s1"}
}

// begin starts a process; it may crash at once.
func begin(d *disk, fs vfs.FS, opts Options) (*process, error) {
	opts.fs, opts.Step = fs, d.step
	sink, err := New(d, opts)
	if err != nil {
		d.t.Fatalf("New: %v", err)
	}
	p := &process{disk: d, sink: sink, lanes: make([]pipeline.Writer, len(d.lanes)), read: make([]int64, len(d.lanes))}
	return p, sink.Start(context.Background(), pipeline.Schemas{testSchema})
}

func (p *process) open(i int) error {
	w, next, err := p.sink.Open(context.Background(), lane(i))
	if err != nil {
		return err
	}
	if next == pipeline.Unknown {
		next = 0 // where the source begins
	}
	if next != p.disk.lanes[i].next {
		p.disk.t.Fatalf("Open of lane %d: position %d, want %d", i, next, p.disk.lanes[i].next)
	}
	p.lanes[i], p.read[i] = w, next
	return nil
}

// write writes up to n rows of a lane.
func (p *process) write(i, n int) error {
	input := p.disk.lanes[i].input
	from := p.read[i]
	to := min(from+int64(n), int64(len(input)))
	if from == to {
		return nil
	}
	r := record(input[from:to])
	defer r.Release()
	p.read[i] = to
	return p.lanes[i].Write(context.Background(), pipeline.Rows, r, pipeline.Span{First: from, Next: to, Of: p.disk.lanes[i].of})
}

func (p *process) commit(i int) error {
	if p.read[i] == p.disk.lanes[i].next {
		return nil
	}
	_, err := p.lanes[i].Commit(context.Background())
	return err
}

func (p *process) abandon(i int) error {
	w := p.lanes[i]
	p.lanes[i] = nil
	return w.Abandon()
}

// TestModel runs lanes with commits, losses, crashes at every step, and an output that is put back from a backup, in any order, and compares what is there in the
// end with the truth: of the rows of a key exactly one is no duplicate, and none is missing.
func TestModel(t *testing.T) {
	for _, mode := range []Mode{Mark, Drop} {
		for _, approximate := range []*Approximate{nil, {Memory: 1 << 20, Keys: 1000}} {
			for _, positions := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s approximate=%t positions=%t", mode, approximate != nil, positions), rapid.MakeCheck(func(t *rapid.T) {
					model(t, Options{
						Path: "/seen", Mode: mode, KeyColumn: "url_key", Identity: "test", Memory: 8 << 20, Approximate: approximate, Positions: positions,
					})
				}))
			}
		}
	}
}

func model(t *rapid.T, opts Options) {
	d := &disk{t: t}
	opts.table = rapid.SampledFrom([]int{0, 1, 4}).Draw(t, "keys in memory")
	keys := rapid.Int64Range(-1, 12)
	for range rapid.IntRange(1, 3).Draw(t, "lanes") {
		l := &diskLane{}
		for i := range rapid.IntRange(0, 30).Draw(t, "rows") {
			l.input = append(l.input, row{key: keys.Draw(t, "key"), offset: int64(i)})
		}
		d.lanes = append(d.lanes, l)
	}
	fs := vfs.NewStrictMem()
	backup := d.copied()
	for range rapid.IntRange(0, 4).Draw(t, "crashes") {
		d.crash, d.dead = rapid.IntRange(1, 60).Draw(t, "steps"), false
		run(t, d, fs, opts)
		if opts.Positions && opts.Approximate == nil {
			switch rapid.SampledFrom([]string{"", "back up", "restore"}).Draw(t, "output") {
			case "back up":
				backup = d.copied()
			case "restore":
				d.lanes = backup
				backup = d.copied()
			}
		}
	}
	d.crash, d.dead = 0, false
	p, err := begin(d, fs, opts)
	if err != nil {
		t.Fatalf("starting after crashes: %v", err)
	}
	for i := range d.lanes {
		for _, step := range []func() error{func() error { return p.open(i) }, func() error { return p.write(i, 100) }, func() error { return p.commit(i) }} {
			if err := step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := p.sink.Close(); err != nil {
		t.Fatal(err)
	}
	checkTruth(t, d, opts.Mode)
}

// run drives a process until it dies or has done enough, and cuts it off.
func run(t *rapid.T, d *disk, fs *vfs.MemFS, opts Options) {
	fs.SetIgnoreSyncs(false)
	p, err := begin(d, fs, opts)
	if err != nil && !errors.Is(err, errCrash) {
		t.Fatalf("starting: %v", err)
	}
	for range 60 {
		if d.dead {
			break
		}
		if err := p.any(t); err != nil && !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
	}
	cutOff(fs, p.sink, rapid.Bool().Draw(t, "power lost"))
}

// cutOff leaves the state of a process as it is when that is killed or, with power, when the machine loses power.
func cutOff(fs *vfs.MemFS, sink *Sink, power bool) {
	if power {
		fs.SetIgnoreSyncs(true)
	}
	// The store has to be closed for its goroutines and its lock. Where the power is lost that leaves nothing behind.
	if sink.state != nil {
		if k := sink.state.runs; k != nil {
			_ = k.set.Close() // writes nothing but what is being written
		}
		_ = sink.state.db.Close()
	}
	if power {
		fs.ResetToSyncedState()
	}
	fs.SetIgnoreSyncs(false)
}

// any does something to some lane.
func (p *process) any(t *rapid.T) error {
	i := rapid.IntRange(0, len(p.lanes)-1).Draw(t, "lane")
	if p.lanes[i] == nil {
		return p.open(i)
	}
	var err error
	switch rapid.SampledFrom([]string{"write", "write", "write", "commit", "abandon", "fault"}).Draw(t, "action") {
	case "write":
		err = p.write(i, rapid.IntRange(1, 6).Draw(t, "n"))
	case "commit":
		err = p.commit(i)
	case "abandon":
		return p.abandon(i)
	case "fault":
		// The commit fails in one of its steps, and the process lives on: the lane is abandoned, and opened again.
		crash := p.disk.crash
		p.disk.crash = rapid.IntRange(1, 5).Draw(t, "failing step")
		err = p.commit(i)
		p.disk.crash, p.disk.dead = crash, false
		if err != nil {
			return p.abandon(i)
		}
	}
	return err
}

func checkTruth(t rapid.TB, d *disk, mode Mode) {
	firsts, inputs := make(map[int64]int), make(map[int64]int)
	for i, l := range d.lanes {
		n, last := 0, int64(-1)
		for _, r := range l.committed {
			if r.offset <= last {
				t.Fatalf("lane %d: row %d after row %d", i, r.offset, last)
			}
			last = r.offset
			if want := l.input[r.offset].key; r.key != want {
				t.Fatalf("lane %d row %d has key %d, want %d", i, r.offset, r.key, want)
			}
			switch {
			case r.key < 0 && r.duplicate:
				t.Fatalf("lane %d row %d has no key and is a duplicate", i, r.offset)
			case r.key >= 0 && !r.duplicate:
				firsts[r.key]++
			}
			n++
		}
		keyless, got := 0, 0
		for _, r := range l.input {
			if r.key < 0 {
				keyless++
			} else {
				inputs[r.key]++
			}
		}
		for _, r := range l.committed {
			if r.key < 0 {
				got++
			}
		}
		if got != keyless {
			t.Fatalf("lane %d has %d rows without a key, want %d", i, got, keyless)
		}
		if mode == Mark && n != len(l.input) {
			t.Fatalf("lane %d has %d rows, want %d", i, n, len(l.input))
		}
	}
	for key := range inputs {
		if firsts[key] != 1 {
			t.Fatalf("key %d has %d rows that are no duplicates, want 1", key, firsts[key])
		}
	}
}
