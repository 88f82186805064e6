package dedupe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/vfs"

	"github.com/urlmill/urlmill/pipeline"
)

// The first byte of a key of the store says what it is. Numbers are big-endian, those of buckets with the sign flipped,
// so that they are in order.
const (
	metaKey    = 'm' // identity
	countKey   = 'c' // bucket being filled (8), keys in it (8); of a window of keys
	journalKey = 'j' // number (8), chunk (4): end (8), length of the lane's name (4), lane, entries of 24 bytes
	seenKey    = 'k' // bucket (8), key (16); of an exact state
	logKey     = 'l' // number (8): entries since the snapshot; of an approximate state
)

// chunkEntries is how many keys are journaled, and become keys of committed rows, at a time. The store sets room for the worst
// case of a batch aside, some 200 bytes a key, and begins another memtable where the room is not there.
const chunkEntries = 1024

// journal names keys that are durable, of rows that may be.
type journal struct {
	number uint64
	end    int64 // position after the rows
}

// seenSet holds the keys of committed rows.
type seenSet interface {
	// find notes in asked what is there; it may change the order.
	find(asked []question) error
	// add puts entries into b, to be there once b is applied: then done is called. It may change the order of entries.
	add(b *pebble.Batch, entries []entry) (done func() error, err error)
	// drop forgets the buckets before first.
	drop(b *pebble.Batch, first int64) error
	close() error
}

// question is whether a key is there in a bucket from low to high, and the answer.
type question struct {
	key       Key
	row       int32 // of the record
	seen      bool
	low, high int64
}

// state is what lasts. Its methods may be called side by side.
type state struct {
	opts Options
	db   *pebble.DB
	seen seenSet

	// promotions is how many there were, counted before the claims of their keys are released.
	promotions atomic.Int64

	mu      sync.Mutex // promotions, one at a time
	numbers uint64     // number of the last journal
	newest  int64      // bucket; of a window of keys the one being filled
	count   int64      // keys in that one
}

// openState opens the state, and makes it when there is none.
func openState(opts Options) (*state, error) {
	fs := opts.fs
	if err := fs.MkdirAll(opts.Path, 0o777); err != nil {
		return nil, err
	}
	db, err := openStore(opts)
	if err != nil {
		return nil, fmt.Errorf("opening the state in %s: %w; one process at a time may use it", opts.Path, err)
	}
	s := &state{opts: opts, db: db}
	// A loss of power must not take the folder away, with what was synced in it.
	err = errors.Join(syncFolder(fs, opts.Path), syncFolder(fs, fs.PathDir(opts.Path)))
	if err == nil {
		err = s.load()
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

func syncFolder(fs vfs.FS, path string) error {
	folder, err := fs.OpenDir(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// load reads what is there.
func (s *state) load() error {
	if err := s.checkIdentity(); err != nil {
		return err
	}
	if text, err := s.get([]byte{countKey}); err != nil {
		return err
	} else if len(text) == 16 {
		s.newest, s.count = int64(binary.BigEndian.Uint64(text)), int64(binary.BigEndian.Uint64(text[8:]))
	}
	if s.opts.Approximate != nil {
		f, err := openFilters(s.opts, s.db)
		s.seen = f
		if f != nil {
			s.newest = max(s.newest, f.newest())
		}
		return err
	}
	k, err := openKeys(s.opts, s.db)
	if err != nil {
		return err
	}
	s.seen, s.newest = k, max(s.newest, k.newest())
	return nil
}

// checkIdentity refuses a state of other keys, with which everything would look new or nothing.
func (s *state) checkIdentity() error {
	want := s.opts.describe()
	got, err := s.get([]byte{metaKey})
	switch {
	case err != nil:
		return err
	case got == nil:
		return s.db.Set([]byte{metaKey}, []byte(want), pebble.Sync)
	case string(got) != want:
		return fmt.Errorf("the state in %s is of other keys: it was made for %q, and the configuration is for %q; "+
			"give back the old settings, or another folder to begin anew", s.opts.Path, got, want)
	}
	return nil
}

// get returns a copy of the value of key, nil when there is none.
func (s *state) get(key []byte) ([]byte, error) {
	value, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	return append([]byte{}, value...), nil
}

// ask returns the question whether the key of e is that of a committed row within the window.
func (s *state) ask(e entry, row int) question {
	q := question{key: e.key, row: int32(row), low: math.MinInt64, high: math.MaxInt64}
	if s.opts.Within != 0 {
		q.low, q.high = e.bucket-parts, e.bucket+parts
	}
	return q
}

// find answers questions, whose order it may change.
func (s *state) find(asked []question) error {
	if len(asked) == 0 {
		return nil
	}
	return s.seen.find(asked)
}

// journal makes entries durable, as keys of rows before end that are about to be committed. It may change their order.
func (s *state) journal(id pipeline.LaneID, end int64, entries []entry) (journal, error) {
	s.mu.Lock()
	s.numbers++
	j := journal{number: s.numbers, end: end}
	s.mu.Unlock()
	if s.opts.Last == 0 { // which would count them in another order
		sortEntries(entries)
	}
	lane := laneName(id)
	var value []byte
	for i := 0; len(entries) > 0; i++ {
		if err := s.opts.Step("journal"); err != nil {
			return j, err
		}
		n := min(len(entries), chunkEntries)
		value = binary.BigEndian.AppendUint64(value[:0], uint64(end))
		value = binary.BigEndian.AppendUint32(value, uint32(len(lane)))
		value = appendEntries(append(value, lane...), entries[:n])
		entries = entries[n:]
		key := binary.BigEndian.AppendUint32(numbered(journalKey, j.number), uint32(i))
		durable := pebble.NoSync
		if len(entries) == 0 {
			durable = pebble.Sync // of all that was written before
		}
		if err := s.db.Set(key, value, durable); err != nil {
			return j, err
		}
	}
	return j, s.opts.Step("journaled")
}

// journals returns the journals that are left, by lane, in order.
func (s *state) journals() (map[pipeline.LaneID][]journal, error) {
	all := make(map[pipeline.LaneID][]journal)
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{journalKey}, UpperBound: []byte{journalKey + 1}})
	if err != nil {
		return nil, err
	}
	for ok := it.First(); ok; ok = it.Next() {
		number := binary.BigEndian.Uint64(it.Key()[1:])
		end, id, _, err := parseChunk(it.Value())
		if err != nil {
			return nil, errors.Join(err, it.Close())
		}
		s.numbers = max(s.numbers, number)
		if known := all[id]; len(known) == 0 || known[len(known)-1].number != number {
			all[id] = append(known, journal{number, end})
		}
	}
	return all, it.Close()
}

// forget drops a journal whose rows were not committed. That is durable when it returns: its lane may go on to commit the
// same rows as duplicates of another lane's, which needs no journal, and one that came back after a loss of power would then
// look like one of committed rows.
func (s *state) forget(j journal) error {
	return s.db.DeleteRange(numbered(journalKey, j.number), numbered(journalKey, j.number+1), pebble.Sync)
}

// promote makes the journaled keys those of committed rows, a chunk at a time. What a crash leaves of the journal is
// promoted when its lane is opened again, so nothing has to be synced here.
func (s *state) promote(j journal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: numbered(journalKey, j.number), UpperBound: numbered(journalKey, j.number+1)})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		var entries []entry
		if _, _, entries, err = parseChunk(it.Value()); err == nil {
			err = s.promoteChunk(it.Key(), entries)
		}
	}
	s.promotions.Add(1)
	if err = errors.Join(err, it.Close()); err != nil {
		return err
	}
	return s.opts.Step("promoted")
}

func (s *state) promoteChunk(key []byte, entries []entry) error {
	if err := s.opts.Step("promote"); err != nil {
		return err
	}
	b := s.db.NewBatch()
	defer b.Close()
	newest := s.place(entries)
	if s.opts.Last != 0 {
		value := binary.BigEndian.AppendUint64(nil, uint64(newest))
		if err := b.Set([]byte{countKey}, binary.BigEndian.AppendUint64(value, uint64(s.count)), nil); err != nil {
			return err
		}
	}
	done, err := s.seen.add(b, entries)
	if err != nil {
		return err
	}
	if newest > s.newest && s.opts.buckets() > 1 {
		err = s.seen.drop(b, newest-parts)
	}
	if err := errors.Join(err, b.Delete(key, nil)); err != nil {
		return err
	}
	if err := b.Commit(pebble.NoSync); err != nil {
		return err
	}
	s.newest = newest
	return done()
}

// place gives entries the buckets that they stay in, and returns the newest bucket.
func (s *state) place(entries []entry) (newest int64) {
	newest = s.newest
	for i := range entries {
		switch {
		case s.opts.Last != 0:
			if s.count >= (s.opts.Last+parts-1)/parts {
				newest, s.count = newest+1, 0
			}
			entries[i].bucket = newest
			s.count++
		case s.opts.Within != 0:
			newest = max(newest, entries[i].bucket)
		}
	}
	return newest
}

func (s *state) close() error {
	return errors.Join(s.seen.close(), s.db.Close())
}

// numbered returns a key with a number.
func numbered(kind byte, n uint64) []byte {
	return binary.BigEndian.AppendUint64(append(make([]byte, 0, 1+8+16), kind), n)
}

const flipSign = 1 << 63

func appendEntries(dst []byte, entries []entry) []byte {
	for _, e := range entries {
		dst = append(dst, e.key[:]...)
		dst = binary.BigEndian.AppendUint64(dst, uint64(e.bucket))
	}
	return dst
}

func parseEntries(text []byte) ([]entry, error) {
	const size = 24
	if len(text)%size != 0 {
		return nil, io.ErrUnexpectedEOF
	}
	entries := make([]entry, len(text)/size)
	for i := range entries {
		entries[i] = entry{Key(text[i*size:][:16]), int64(binary.BigEndian.Uint64(text[i*size+16:]))}
	}
	return entries, nil
}

func parseChunk(text []byte) (end int64, id pipeline.LaneID, entries []entry, err error) {
	if len(text) < 12 || len(text)-12 < int(binary.BigEndian.Uint32(text[8:])) {
		return 0, id, nil, errors.New("a journal is cut off")
	}
	end = int64(binary.BigEndian.Uint64(text))
	n := binary.BigEndian.Uint32(text[8:])
	if id, err = parseLane(text[12:][:n]); err != nil {
		return 0, id, nil, err
	}
	entries, err = parseEntries(text[12+n:])
	return end, id, entries, err
}

// laneName is the partition (4), the length of the stream (4), the stream, and the session.
func laneName(id pipeline.LaneID) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(id.Partition))
	b = binary.BigEndian.AppendUint32(b, uint32(len(id.Stream)))
	return append(append(b, id.Stream...), id.Session...)
}

func parseLane(text []byte) (id pipeline.LaneID, err error) {
	if len(text) < 8 || len(text)-8 < int(binary.BigEndian.Uint32(text[4:])) {
		return id, errors.New("a journal has no lane")
	}
	n := binary.BigEndian.Uint32(text[4:])
	return pipeline.LaneID{
		Stream: string(text[8:][:n]), Partition: int32(binary.BigEndian.Uint32(text)), Session: string(text[8+n:]),
	}, nil
}
