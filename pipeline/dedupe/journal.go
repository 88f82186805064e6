package dedupe

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"strings"

	"github.com/cockroachdb/pebble"

	"github.com/urlmill/urlmill/pipeline"
)

// journal names keys that are durable, of rows that may be.
type journal struct {
	number uint64
	lane   pipeline.LaneID
	end    pipeline.Mark // after the rows
	// written is closed when nothing of it is going to be written any more, nor its keys used; nil for one that was read.
	written chan struct{}
}

// newJournal returns a journal, which [state.write] writes.
func (s *state) newJournal(id pipeline.LaneID, end pipeline.Mark) journal {
	return journal{number: s.numbers.Add(1), lane: id, end: end, written: make(chan struct{})}
}

// write makes entries durable, as keys of rows before the end of j that are about to be committed. It may change their order.
// It gives up when ctx ends.
func (s *state) write(ctx context.Context, j journal, entries []entry) error {
	defer close(j.written)
	if s.opts.Last == 0 && len(entries) > 0 { // which would count them in another order
		sortEntries(entries)
	}
	lane := journalName(j.lane, j.end.Of)
	var value []byte
	for i, last := 0, false; !last; i++ {
		if err := errors.Join(s.opts.Step("journal"), ctx.Err()); err != nil {
			return err
		}
		n := min(len(entries), chunkEntries)
		value = binary.BigEndian.AppendUint64(value[:0], uint64(j.end.Next))
		value = binary.BigEndian.AppendUint32(value, uint32(len(lane)))
		value = appendEntries(append(value, lane...), entries[:n])
		entries = entries[n:]
		key := binary.BigEndian.AppendUint32(numbered(journalKey, j.number), uint32(i))
		durable := pebble.NoSync
		if last = len(entries) == 0; last {
			durable = pebble.Sync // of all that was written before
		}
		if err := s.db.Set(key, value, durable); err != nil {
			return err
		}
	}
	return s.opts.Step("journaled")
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
		if done, err := s.get(numbered(doneKey, number)); err != nil {
			return nil, errors.Join(err, it.Close())
		} else if done != nil {
			continue // decided: it is there for its keys
		}
		j, _, err := parseChunk(it.Value())
		if err != nil {
			return nil, errors.Join(err, it.Close())
		}
		j.number = number
		if known := all[j.lane]; len(known) == 0 || known[len(known)-1].number != number {
			all[j.lane] = append(known, j)
		}
	}
	return all, it.Close()
}

// forget drops a journal whose rows were not committed. That is durable when it returns: its lane may go on to commit the
// same rows as duplicates of another lane's, which needs no journal, and one that came back after a loss of power would then
// look like one of committed rows.
func (s *state) forget(j journal) error {
	if j.written != nil {
		<-j.written // what comes after that would come back
	}
	return s.db.DeleteRange(numbered(journalKey, j.number), numbered(journalKey, j.number+1), pebble.Sync)
}

// promote makes the journaled keys those of committed rows. What a crash leaves of the journal is promoted when its lane is opened again, so
// nothing has to be synced here.
func (s *state) promote(j journal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	promote := s.promoteChunks
	if s.runs != nil {
		promote = s.promoteRun
	}
	err := promote(j)
	s.promotions.Add(1)
	if err != nil {
		return err
	}
	return s.opts.Step("promoted")
}

// promoteRun notes that the keys of a journal are those of committed rows. The journal stays until they are in a run.
func (s *state) promoteRun(j journal) error {
	if err := s.opts.Step("promote"); err != nil {
		return err
	}
	keys, err := journalKeys(s.db, j.number)
	if err != nil {
		return err
	}
	b := s.db.NewBatch()
	defer b.Close()
	from, err := s.advance(b, j)
	if err == nil {
		err = errors.Join(s.runs.promoted(b, j.number, keys, from), b.Commit(pebble.NoSync))
	}
	if err != nil {
		return err
	}
	return s.runs.add(j.number, keys)
}

// journalKeys returns the keys of a journal.
func journalKeys(db *pebble.DB, number uint64) (keys []Key, err error) {
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: numbered(journalKey, number), UpperBound: numbered(journalKey, number+1)})
	if err != nil {
		return nil, err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		var entries []entry
		_, entries, err = parseChunk(it.Value())
		for i := range entries {
			keys = append(keys, entries[i].key)
		}
	}
	return keys, errors.Join(err, it.Close())
}

// promoteChunks adds the keys of a journal a chunk at a time, each with its part of the journal in one batch.
func (s *state) promoteChunks(j journal) error {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: numbered(journalKey, j.number), UpperBound: numbered(journalKey, j.number+1)})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		var entries []entry
		if _, entries, err = parseChunk(it.Value()); err == nil {
			err = s.promoteChunk(j, it.Key(), entries)
		}
	}
	return errors.Join(err, it.Close())
}

func (s *state) promoteChunk(j journal, key []byte, entries []entry) error {
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
	from, err := s.advance(b, j)
	if err != nil {
		return err
	}
	done, err := s.chunks.add(b, entries, from)
	if err != nil {
		return err
	}
	if newest > s.newest && s.opts.buckets() > 1 {
		err = s.chunks.drop(b, newest-parts)
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

func parseChunk(text []byte) (j journal, entries []entry, err error) {
	if len(text) < 12 || uint64(len(text)-12) < uint64(binary.BigEndian.Uint32(text[8:])) {
		return j, nil, errors.New("a journal is cut off")
	}
	j.end.Next = int64(binary.BigEndian.Uint64(text))
	n := binary.BigEndian.Uint32(text[8:])
	if j.lane, j.end.Of, err = parseJournalName(string(text[12:][:n])); err != nil {
		return j, nil, err
	}
	entries, err = parseEntries(text[12+n:])
	return j, entries, err
}

// laneName is the partition (4), the length of the stream (4), the stream, and the session.
func laneName(id pipeline.LaneID) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(id.Partition))
	b = binary.BigEndian.AppendUint32(b, uint32(len(id.Stream)))
	return append(append(b, id.Stream...), id.Session...)
}

func parseLane(text string) (id pipeline.LaneID, err error) {
	if len(text) < 8 || uint64(len(text)-8) < uint64(binary.BigEndian.Uint32([]byte(text[4:8]))) {
		return id, errors.New("a lane has no name")
	}
	n := binary.BigEndian.Uint32([]byte(text[4:8]))
	return pipeline.LaneID{
		Stream: text[8:][:n], Partition: int32(binary.BigEndian.Uint32([]byte(text[:4]))), Session: text[8+n:],
	}, nil
}

// journalName is the name of a lane and, where its positions have an identity, 0, which no session has, and that.
func journalName(id pipeline.LaneID, of string) []byte {
	name := laneName(id)
	if of != "" {
		name = append(append(name, 0), of...)
	}
	return name
}

func parseJournalName(text string) (id pipeline.LaneID, of string, err error) {
	if id, err = parseLane(text); err == nil {
		id.Session, of, _ = strings.Cut(id.Session, "\x00")
	}
	return id, of, err
}
