package filesink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/budget"
	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/internal/partition"
	"github.com/urlmill/urlmill/sinks/store"
)

// Files says where and how files go, but for the directory of the rows: what is the same for every sink that writes files.
// Zero values stand for the defaults.
type Files struct {
	// DeadLetters is the directory of the dead letters, which are files in any case. It is needed only with that error
	// policy.
	DeadLetters string
	// DeadLetterStream takes the dead letters instead of a directory, at least once: they are out before the commit.
	DeadLetterStream Stream
	// Delivery is exactly_once or at_least_once. Default exactly_once for files; a stream can only be the other.
	Delivery commit.Delivery
	// Provenance goes into commit records.
	Provenance commit.Provenance
	// Stores opens the directories. Default [store.Open].
	Stores store.Opener
	// PartitionBy divides the files with rows into directories, one level for each: a column, date(column), hour(column)
	// or bucket(N, column), with a name of its own and "=" before it on request.
	PartitionBy []string
	// Late are rows that go into files of their own instead of these directories.
	Late Late
	// FileBytes ends a file of a partition when it has become that large; 0: no limit. The files of a commit stay
	// together.
	FileBytes int64
	// Memory bounds what all open files hold. By default nothing does.
	Memory *budget.Ledger

	// What a configuration may have for dead letters beside folders, what it has, and what With makes of that; nil if there is none.
	kind    *sinks.Letters
	letters sinks.LetterOptions
	box     sinks.LetterBox
	// checkPlace is that of [sinks.Env].
	checkPlace func(location string) error
}

// CheckRows returns what is wrong with the options for rows of a schema, like Validate.
func (f Files) CheckRows(s *arrow.Schema) error {
	return errors.Join(checkPartitions(f.PartitionBy, s), checkLate(f.Late, f.PartitionBy, s))
}

// Options are those that the file sinks share.
type Options struct {
	Files
	// Path is the directory of the files with rows; unused with Stream.
	Path string
	// Stream takes the rows instead of files, at least once.
	Stream Stream
	// Format is needed for files.
	Format Format
	Log    *slog.Logger
	// MaxOpen bounds the files that are open at a time, as far as every lane has one. Default: half of what the system
	// allows, at most 16,384.
	MaxOpen int
	// Follower makes what is committed known elsewhere. It needs ExactlyOnce.
	Follower Follower
}

// Follower is told of commits, and makes their files known to others, such as a table's readers. What it was not told of,
// because a process died before, it finds in the chain.
type Follower interface {
	pipeline.Counter // of the table
	// Start is called once before the first Committed. The files of each lane in root, by its name in the chain, have been
	// published up to a position; others may be committing on from there. root stays open until Close returns.
	Start(ctx context.Context, root store.Store, rows *arrow.Schema, published map[string]int64) error
	// Committed says that the files of a lane, by its name in the chain, are published up to a position. It does not wait,
	// and may be called from several goroutines.
	Committed(lane string, next int64)
	// Close returns when all is known that was committed, or with an error. It does nothing when Start has failed.
	Close() error
}

const (
	minOpen = 64
	maxOpen = 16 << 10
)

func (o Options) withDefaults() Options {
	switch {
	case o.Delivery == "" && o.Stream != nil:
		o.Delivery = commit.AtLeastOnce
	case o.Delivery == "":
		o.Delivery = commit.ExactlyOnce
	}
	if o.Stores == nil {
		o.Stores = store.Open
	}
	if o.Memory == nil {
		o.Memory = budget.New(0)
	}
	if o.MaxOpen == 0 {
		o.MaxOpen = mostOpen()
	}
	return o
}

// Validate checks the options that a user gives. It returns every problem, joined, each a [*pipeline.FieldError].
func (o Options) Validate() error {
	o = o.withDefaults()
	var p pipeline.Problems
	if o.Stream == nil && o.Path == "" {
		p.Add("path", "missing").Advise("give the directory for the output files")
	}
	if o.Stream != nil && o.Path != "" {
		p.Add("stdout", "cannot be given together with path").Advise("keep one of them")
	}
	p.Join(o.validatePlaces())
	if _, err := partition.ParseAll(o.PartitionBy); err != nil {
		p.Add("partition_by", "%w", err)
	} else if o.Stream != nil && len(o.PartitionBy) > 0 {
		p.Add("partition_by", "standard output has no directories").Advise("leave it out, or give a directory for the output files")
	}
	p.Join(o.validateLate())
	if o.DeadLetters != "" && o.DeadLetterStream != nil {
		p.Add("dead_letters", "names a directory, but they go to a topic").Advise("keep one of the two")
	}
	if err := o.Delivery.Check(); err != nil {
		p.Join(err)
	} else if o.Stream != nil && o.Delivery == commit.ExactlyOnce {
		p.Add("delivery", "what went to standard output cannot be taken back").Advise("leave it out, or give a directory for the output files")
	}
	if o.Follower != nil && o.Delivery != commit.ExactlyOnce {
		p.Add("delivery", "a table is made of commit records, which %s does not have", o.Delivery).Advise("leave it out")
	}
	if o.Follower != nil && o.Late != (Late{}) {
		p.Add("late", "puts rows into another folder, and a table has the files of one").Advise("take one of the two out")
	}
	return p.Err()
}

// checkPartitions returns what is wrong with PartitionBy for rows of a schema. What Validate has to say is left to it.
func checkPartitions(by []string, s *arrow.Schema) error {
	keys, err := partition.ParseAll(by)
	if err != nil {
		return nil
	}
	return pipeline.Under("partition_by", partition.Check(keys, s))
}

// Sink implements [pipeline.Sink]. What Start sets does not change until Close; Open and the writers of all lanes share the
// rest, which is atomic or has a lock.
type Sink struct {
	opts    Options
	schemas pipeline.Schemas
	stores  [pipeline.NumTables]*place // nil for a table without files
	late    *place                     // nil without late rows
	clock   *partition.Clock
	places  *commit.Places
	chain   *commit.Chain // nil without exactly-once delivery
	seq     atomic.Uint64 // of files
	open    atomic.Int64  // files
	done    atomic.Int64  // files that are complete and not committed
	written written
	columns columnsOnce

	encoding  chan struct{} // one for each file whose encoder is finishing: that takes memory for a while
	splitters sync.Pool     // of *partition.Splitter; empty without partitions
	folds     bool          // the place of the rows takes upper for lower case
}

// written counts what has been committed.
type written struct {
	files, bytes, late atomic.Int64
	// latePlace is what commits call the directory of late rows; "", as no such place is called, without one.
	latePlace string
}

// add counts the files of a commit.
func (w *written) add(files []commit.File) {
	for _, f := range files {
		w.files.Add(1)
		w.bytes.Add(f.Bytes)
		if w.latePlace != "" && f.Place == w.latePlace {
			w.late.Add(f.Rows)
		}
	}
}

// New returns a sink. The options have been validated.
func New(opts Options) *Sink {
	return &Sink{opts: opts.withDefaults(), encoding: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// Start implements [pipeline.Sink].
func (s *Sink) Start(ctx context.Context, schemas pipeline.Schemas) error {
	s.schemas = schemas
	if err := s.start(ctx); err != nil {
		return errors.Join(err, s.closeStores())
	}
	return nil
}

// start opens and checks everything: columns and formats, directories, streams, and the chain. That comes last, since it
// finishes and removes what dead processes have left, which a configuration that is refused must not do.
func (s *Sink) start(ctx context.Context) error {
	if s.schemas[pipeline.DeadLetters] != nil && s.opts.DeadLetters == "" && s.opts.DeadLetterStream == nil {
		return errors.New("the error policy is dead_letter, but there is no place for dead letters: " +
			"set dead_letters of this sink to a directory, or choose another on_error")
	}
	if err := s.preparePartitions(); err != nil {
		return err
	}
	for t, schema := range s.schemas {
		if schema == nil || s.stream(pipeline.Table(t)) != nil {
			continue
		}
		if err := s.opts.Format.Check(schema); err != nil {
			return fmt.Errorf("%s: %w", pipeline.Table(t), err)
		}
		if err := s.prepare(ctx, pipeline.Table(t)); err != nil {
			return err
		}
	}
	if s.opts.Late != (Late{}) {
		if err := s.prepareLate(ctx); err != nil {
			return err
		}
	}
	for t, schema := range s.schemas {
		if stream := s.stream(pipeline.Table(t)); schema != nil && stream != nil {
			if err := stream.Start(ctx, schema); err != nil {
				return err
			}
		}
	}
	if err := s.startDelivery(ctx); err != nil || s.opts.Follower == nil {
		return err
	}
	published, err := s.chain.Published(ctx)
	if err != nil {
		return err
	}
	return s.opts.Follower.Start(ctx, s.stores[pipeline.Rows].store, s.schemas[pipeline.Rows], published)
}

// preparePartitions checks that the rows have the columns that they are partitioned by.
func (s *Sink) preparePartitions() error {
	keys, err := partition.ParseAll(s.opts.PartitionBy)
	if err == nil {
		err = partition.Check(keys, s.schemas[pipeline.Rows])
	}
	if err == nil {
		_, err = partition.New(keys, s.schemas[pipeline.Rows], room(s.opts.Path), false)
	}
	if err != nil {
		return pipeline.Under("partition_by", err)
	}
	s.splitters.New = func() any {
		p, err := partition.New(keys, s.schemas[pipeline.Rows], room(s.opts.Path), s.folds)
		if err != nil {
			panic(err) // it has been checked
		}
		return p
	}
	return nil
}

// Names in buckets have 1,024 bytes at most, of which the file's own takes up to 255. On Google Cloud Storage, parts of a file are below
// _tmp, in a folder that is called like the file.
const (
	longestKey  = 1024
	longestFile = 255
	longestPart = len("_tmp/01234567//group00000")
)

// room returns how many bytes the directories of a row may have in a folder.
func room(folder string) int {
	if scheme := store.Scheme(folder); scheme != "" {
		_, prefix, _ := strings.Cut(folder[len(scheme):], "/")
		n := longestKey - longestFile - len(prefix) - 1
		if scheme != store.S3 {
			n -= longestPart
		}
		return n
	}
	return longestKey - longestFile
}

// folds reports whether a place takes names that differ in case for the same: its own lock is found under another name then.
func folds(ctx context.Context, s store.Store) bool {
	if store.Scheme(s.Location()) != "" {
		return false
	}
	there, err := commit.Visible(ctx, s, path.Join("_TMP", s.Run(), "LOCK"))
	return there && err == nil
}

// prepare opens the directory of a table. That of the rows comes first: it has the commit records, which name the others
// relative to it.
func (s *Sink) prepare(ctx context.Context, t pipeline.Table) error {
	st, err := s.opts.Stores([...]string{s.opts.Path, s.opts.DeadLetters}[t], s.opts.Log)
	if err != nil {
		return err
	}
	p := &place{store: st}
	if s.places == nil {
		s.places = commit.NewPlaces(st, s.opts.Stores, s.opts.Log)
	} else {
		p.name = s.places.Add(st)
	}
	s.stores[t] = p
	if err := st.Prepare(ctx); err != nil || t != pipeline.Rows {
		return err
	}
	s.folds = len(s.opts.PartitionBy) > 0 && folds(ctx, st)
	return nil
}

// startDelivery checks that the directories can be delivered to as the options say, and removes from them what
// dead processes have left unfinished.
func (s *Sink) startDelivery(ctx context.Context) error {
	rows := s.stores[pipeline.Rows]
	if s.opts.Delivery == commit.ExactlyOnce {
		if err := commit.CheckEmpty(ctx, rows.store, s.opts.Format.Ext()); err != nil {
			return err
		}
		s.chain = commit.New(commit.Options{Root: rows.store, Place: s.places.Get, Provenance: s.opts.Provenance, Log: s.opts.Log})
		if err := s.chain.Probe(ctx); err != nil {
			return err
		}
		if err := s.places.Claim(ctx); err != nil {
			return err
		}
		if err := s.eachColumns(ctx, s.chain.CheckColumns); err != nil {
			return err
		}
		// What is delivered does not depend on it, so an error does not keep the pipeline from running.
		if _, err := s.chain.FinishCompaction(ctx); err != nil && s.opts.Log != nil {
			s.opts.Log.Warn("cannot end a compaction that another process has begun", "error", err)
		}
	}
	for _, p := range append(s.stores[:], s.late) { // a copy: the array has no room for late
		if p == nil {
			continue
		}
		if s.chain == nil {
			if err := commit.SweepWithoutChain(ctx, p.store, s.opts.Log); err != nil {
				return err
			}
		} else if err := s.chain.Sweep(ctx, p.store); err != nil {
			return err
		}
	}
	return nil
}

// stream returns the stream that t goes to, nil where it goes to files.
func (s *Sink) stream(t pipeline.Table) Stream {
	return [...]Stream{pipeline.Rows: s.opts.Stream, pipeline.DeadLetters: s.opts.DeadLetterStream}[t]
}

// Open implements [pipeline.Sink]. With a chain it finishes the last commit of the lane first, whichever process made it:
// then all files before the position that it returns have been published.
func (s *Sink) Open(ctx context.Context, id pipeline.LaneID) (pipeline.Writer, int64, error) {
	w := &writer{lane: id, next: pipeline.Unknown, sum: &s.written, memory: s.opts.Memory}
	if s.chain == nil {
		w.commit = publisher{s.places}
	} else {
		lane, err := s.chain.Open(ctx, id)
		if err != nil {
			return nil, 0, err
		}
		w.commit, w.chain, w.next, w.record = lane, lane, lane.Next(), s.recordColumns
		if s.opts.Follower != nil {
			w.committed = func(next int64) { s.opts.Follower.Committed(lane.Name(), next) }
			w.committed(w.next) // the process that committed it may have died before it told its follower
		}
	}
	for t := range w.tables {
		table := pipeline.Table(t)
		if s.schemas[t] == nil {
			continue
		}
		if stream := s.stream(table); stream != nil {
			w.tables[t] = &streamTable{stream: stream, table: table, schema: s.schemas[t], sum: &s.written}
		} else {
			w.tables[t] = &fileTable{
				sink: s, table: table, place: s.stores[t], schema: s.schemas[t], lane: id, open: map[string]*openFile{},
				partitioned: table == pipeline.Rows && len(s.opts.PartitionBy) > 0,
			}
		}
	}
	return w, w.next, nil
}

// Position implements [pipeline.Positions]. Without exactly-once delivery nothing is known.
func (s *Sink) Position(ctx context.Context, id pipeline.LaneID) (pipeline.Mark, error) {
	if s.chain == nil {
		return pipeline.Mark{Next: pipeline.Unknown}, nil
	}
	return s.chain.Position(ctx, id)
}

// History implements [pipeline.Historian].
func (s *Sink) History(ctx context.Context, id pipeline.LaneID, each func(pipeline.Mark) error) error {
	if s.chain == nil {
		return nil
	}
	return s.chain.History(ctx, id, each)
}

// Claims implements [pipeline.Claimer].
func (s *Sink) Claims(stream string) pipeline.Claims {
	if s.chain == nil {
		return nil
	}
	return s.chain.Claims(stream)
}

// Lanes implements [pipeline.Lister].
func (s *Sink) Lanes(ctx context.Context) ([]pipeline.LaneID, error) {
	if s.chain == nil {
		return nil, nil
	}
	return s.chain.Lanes(ctx)
}

// Count implements [pipeline.Counter]. The files are those that are published, with rows or dead letters.
func (s *Sink) Count(c *pipeline.Counts) {
	c.Files = &pipeline.FileCounts{Files: s.written.files.Load(), Bytes: s.written.bytes.Load()}
	if s.opts.Late != (Late{}) {
		late := s.written.late.Load()
		c.Late = &late
	}
	if s.opts.Follower != nil {
		s.opts.Follower.Count(c)
	}
}

// Close implements [pipeline.Sink].
func (s *Sink) Close() error {
	var err error
	for t := range s.schemas {
		if stream := s.stream(pipeline.Table(t)); stream != nil {
			err = errors.Join(err, stream.Close())
		}
	}
	if s.opts.Follower != nil {
		err = errors.Join(err, s.opts.Follower.Close())
	}
	return errors.Join(err, s.closeStores())
}

func (s *Sink) closeStores() error {
	var errs []error
	for t, p := range s.stores {
		if p != nil {
			errs = append(errs, p.store.Close())
			s.stores[t] = nil
		}
	}
	if s.late != nil {
		errs = append(errs, s.late.store.Close())
		s.late = nil
	}
	return errors.Join(errs...)
}
