package dedupe

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/dedupe/shard"
	"github.com/urlmill/urlmill/sinks/ndjson"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

var quiet = slog.New(slog.DiscardHandler)

// shardSchema is that of the rows of a topic: the key of a page, and where the row is from.
var shardSchema = arrow.NewSchema([]arrow.Field{
	{Name: "url_key", Type: arrow.BinaryTypes.Binary, Nullable: true}, {Name: "lane", Type: arrow.PrimitiveTypes.Int32}, {Name: "at", Type: arrow.PrimitiveTypes.Int64},
}, nil)

// topic has the pages of the records of each partition; -1 is a record without a page.
type topic [][]int

func (t topic) record(lane int, from, to int64) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, shardSchema)
	defer b.Release()
	for at := from; at < to; at++ {
		if page := t[lane][at]; page < 0 {
			b.Field(0).AppendNull()
		} else {
			key := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(page)*0x9e3779b97f4a7c15), uint64(page))
			b.Field(0).(*array.BinaryBuilder).Append(key)
		}
		b.Field(1).(*array.Int32Builder).Append(int32(lane))
		b.Field(2).(*array.Int64Builder).Append(at)
	}
	return b.NewRecord()
}

// member is a process of a group. It dies at a call to the file system, where left says so.
type member struct {
	sink    *Sharded
	process *storetest.Process
	left    int // calls until it dies; -1 for never
	lanes   map[int]*memberLane
}

type memberLane struct {
	pipeline.Writer
	next int64
}

func (m *member) dead() bool { return !m.process.Alive() }

// join starts a process.
func join(d *storetest.Disk, tune func(*shard.Options), change ...func(*Options)) (*member, error) {
	m := &member{process: d.Process(), left: -1, lanes: map[int]*memberLane{}}
	sys := storetest.Wrap(m.process, func(storetest.Call) error {
		if m.left == 0 {
			m.process.Kill()
			return storetest.ErrDead
		}
		m.left = max(m.left-1, -1)
		return nil
	})
	return m.start(func(dir string, log *slog.Logger) (store.Store, error) { return store.NewLocal(dir, sys, log), nil }, "/out", tune, change...)
}

// start starts a process that delivers to out.
func (m *member) start(stores store.Opener, out string, tune func(*shard.Options), change ...func(*Options)) (*member, error) {
	inner, err := ndjson.New(ndjson.Options{Files: ndjson.Files{Stores: stores}, Path: out}, quiet)
	if err != nil {
		return nil, err
	}
	o := Options{Shard: ByPartition, Keeps: true, Topics: true, KeyColumn: "url_key", HideKey: true, Identity: "test"}
	for _, f := range change {
		f(&o)
	}
	if m.sink, err = NewSharded(inner, o); err != nil {
		return nil, err
	}
	m.sink.tune = tune
	return m, m.sink.Start(context.Background(), pipeline.Schemas{pipeline.Rows: shardSchema})
}

func (m *member) open(lane int) error {
	w, next, err := m.sink.Open(context.Background(), pipeline.LaneID{Stream: "crawl", Partition: int32(lane)})
	if err == nil {
		m.lanes[lane] = &memberLane{w, max(next, 0)}
	}
	return err
}

func (m *member) write(t topic, lane int, n int64) error {
	l := m.lanes[lane]
	to := min(l.next+n, int64(len(t[lane])))
	if to == l.next {
		return nil
	}
	r := t.record(lane, l.next, to)
	defer r.Release()
	err := l.Write(context.Background(), pipeline.Rows, r, pipeline.Span{First: l.next, Next: to})
	l.next = to
	return err
}

// outRow is a row of the output.
type outRow struct {
	Lane      int   `json:"lane"`
	At        int64 `json:"at"`
	Duplicate bool  `json:"is_duplicate"`
}

// tree returns all files of a disk.
func tree(d *storetest.Disk) map[string][]byte {
	files, p := map[string][]byte{}, d.Process()
	var walk func(dir string)
	walk = func(dir string) {
		entries, err := p.ReadDir(dir)
		if err != nil {
			panic(err)
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			if e.IsDir() {
				walk(name)
			} else if content, err := p.ReadFile(name); err == nil {
				files[name] = content
			}
		}
	}
	walk("/")
	return files
}

// diskOf returns a disk with the files of a tree.
func diskOf(t rapid.TB, files map[string][]byte) *storetest.Disk {
	d := storetest.NewDisk()
	p := d.Process()
	made := map[string]bool{"/": true}
	var mkdir func(dir string)
	mkdir = func(dir string) {
		if !made[dir] {
			mkdir(path.Dir(dir))
			made[dir] = true
			if err := errors.Join(p.Mkdir(dir), p.SyncDir(path.Dir(dir))); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, content := range files {
		mkdir(path.Dir(name))
		h, err := p.Create(name)
		if err == nil {
			_, err = h.Write(content)
		}
		if err == nil {
			err = errors.Join(h.Sync(), h.Close(), p.SyncDir(path.Dir(name)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// wrong returns what is wrong with the output of a topic that was read to its end.
func (t topic) wrong(d *storetest.Disk) error { return t.wrongIn(tree(d)) }

// wrongIn is wrong of the files of an output.
func (t topic) wrongIn(files map[string][]byte) error {
	rows := make([][]int, len(t)) // how often each is there
	for i := range t {
		rows[i] = make([]int, len(t[i]))
	}
	for name, content := range files {
		if strings.Contains(name, "/_") || path.Ext(name) != ".ndjson" {
			continue
		}
		for _, line := range bytes.Split(bytes.TrimSpace(content), []byte("\n")) {
			var r outRow
			if err := json.Unmarshal(line, &r); err != nil {
				return err
			}
			rows[r.Lane][r.At]++
			page := t[r.Lane][r.At]
			if was := page >= 0 && slices.Contains(t[r.Lane][:r.At], page); r.Duplicate != was {
				return fmt.Errorf("record %d of lane %d with page %d: duplicate %t, want %t", r.At, r.Lane, page, r.Duplicate, was)
			}
		}
	}
	for i := range rows {
		for at, n := range rows[i] {
			if n != 1 {
				return fmt.Errorf("record %d of lane %d is there %d times", at, i, n)
			}
		}
	}
	return nil
}

// group is a model: processes that come, die, sleep, and take lanes over from each other, and an output that is put back.
type group struct {
	*rapid.T
	topic   topic
	disk    *storetest.Disk
	members []*member
	backup  map[string][]byte
	many    int
	grace   time.Duration
}

func (g *group) tune(o *shard.Options) {
	o.Many, o.Grace, o.Wait = g.many, g.grace, true
}

// mayFail checks the error of a call, and takes away what it ends.
func (g *group) mayFail(i, lane int, err error) {
	m := g.members[i]
	switch {
	case err == nil:
	case m.dead():
		g.members = slices.Delete(g.members, i, i+1)
	case errors.Is(err, pipeline.ErrLaneLost):
		if w := m.lanes[lane]; w != nil {
			delete(m.lanes, lane)
			g.mayFail(i, lane, w.Abandon())
		}
	case errors.Is(err, fs.ErrNotExist) && m.lanes[lane] != nil:
		// What a process that has lost the lane without knowing looks a key up in may be gone: it ends.
		m.process.Kill()
		g.members = slices.Delete(g.members, i, i+1)
	default:
		g.Fatalf("%v\n%s", err, g.disk.Tree())
	}
}

func (g *group) step() {
	if len(g.members) == 0 || len(g.members) < 3 && rapid.IntRange(0, 5).Draw(g.T, "join") == 0 {
		m, err := join(g.disk, g.tune)
		if err != nil {
			g.Fatal(err)
		}
		g.members = append(g.members, m)
		return
	}
	i := rapid.IntRange(0, len(g.members)-1).Draw(g.T, "process")
	m, lane := g.members[i], rapid.IntRange(0, len(g.topic)-1).Draw(g.T, "lane")
	w := m.lanes[lane]
	switch action := rapid.IntRange(0, 21).Draw(g.T, "action"); {
	case action == 0:
		m.left = rapid.IntRange(0, 40).Draw(g.T, "calls before death")
	case action == 1:
		g.disk.PowerFailure(func(storetest.Change) bool { return rapid.Bool().Draw(g.T, "survives") })
		g.killAll()
	case action == 2:
		g.backup = tree(g.disk)
	case action == 3 && g.backup != nil:
		g.killAll()
		g.disk = diskOf(g.T, g.backup)
	case w == nil:
		g.mayFail(i, lane, m.open(lane))
	case action == 4:
		delete(m.lanes, lane)
		g.mayFail(i, lane, w.Abandon())
	case action < 12:
		g.mayFail(i, lane, m.write(g.topic, lane, rapid.Int64Range(1, 6).Draw(g.T, "rows")))
	default:
		_, err := w.Commit(context.Background())
		if err == nil && action < 15 { // the lane has ended
			delete(m.lanes, lane)
			err = w.Writer.(pipeline.Finisher).Finish()
		}
		g.mayFail(i, lane, err)
	}
}

func (g *group) killAll() {
	for _, m := range g.members {
		m.process.Kill()
	}
	g.members = nil
}

// finish has one process read the rest.
func (g *group) finish() {
	g.killAll()
	m, err := join(g.disk, g.tune)
	for lane := 0; err == nil && lane < len(g.topic); lane++ {
		for err = m.open(lane); err == nil && m.lanes[lane].next < int64(len(g.topic[lane])); {
			if err = m.write(g.topic, lane, 4); err == nil {
				_, err = m.lanes[lane].Commit(context.Background())
			}
		}
	}
	if err == nil {
		err = errors.Join(m.sink.Close(), g.topic.wrong(g.disk))
	}
	if err != nil {
		g.Fatalf("%v\n%s", err, g.disk.Tree())
	}
}

// TestShardModel has processes take lanes over from each other while they die at any call to the file system, lose what was not
// synced, sleep and go on, and has the output put back: in the end each record is there once, and is a duplicate exactly if its page
// was in the lane before.
func TestShardModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &group{T: t, disk: diskOf(t, map[string][]byte{"/out/.keep": nil}), topic: make(topic, 2)}
		g.many = rapid.IntRange(2, 4).Draw(t, "runs of a merge")
		g.grace = rapid.SampledFrom([]time.Duration{1, time.Hour}).Draw(t, "grace")
		for lane := range g.topic {
			g.topic[lane] = rapid.SliceOfN(rapid.IntRange(-1, 25), 60, 60).Draw(t, "pages")
		}
		for range rapid.IntRange(20, 200).Draw(t, "steps") {
			g.step()
		}
		g.finish()
	})
}
