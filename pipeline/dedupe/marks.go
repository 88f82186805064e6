package dedupe

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/cockroachdb/pebble"

	"github.com/urlmill/urlmill/pipeline"
)

// laneMark is how far the state knows a lane.
type laneMark struct {
	// End is the position up to which it has the keys of committed rows.
	End int64 `json:"end"`
	// Floor, if not 0, is the position from which on keys tell where they are from.
	Floor int64 `json:"floor,omitempty"`
	// Origins are what the positions were of, in the order in which that came: End is one of the last of them.
	Origins []origin `json:"origins,omitempty"`
}

// origin is the number that keys have for a lane and what its positions are of.
type origin struct {
	Number uint64 `json:"number"`
	Of     string `json:"of,omitempty"`
}

// appendFrom appends where a key is from: the number of the origin, and the end of the commit that its row came with.
func appendFrom(dst []byte, number uint64, end int64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, number), uint64(end))
}

// parseFrom takes apart what [appendFrom] has made; ok is false for keys of before there was that.
func parseFrom(text []byte) (number uint64, end int64, ok bool) {
	number, n := binary.Uvarint(text)
	if n <= 0 {
		return 0, 0, false
	}
	last, m := binary.Uvarint(text[n:])
	return number, int64(last), m > 0
}

// outputFile is the file in the folder of a state with the place of the rows that it is of.
const outputFile = "output"

// checkOutput refuses a state of another output: what is there would be left out here.
func (s *state) checkOutput() error {
	if s.opts.Output == "" {
		return nil
	}
	fs, name := s.opts.fs, s.opts.fs.PathJoin(s.opts.Path, outputFile)
	got, err := readFile(fs, name)
	if errors.Is(err, os.ErrNotExist) {
		return writeFile(fs, name, s.opts.Output+"\n")
	}
	if got := strings.TrimSpace(got); err == nil && got != s.opts.Output {
		return fmt.Errorf("the state in %s is of the output %s, and the configuration is for %s, which would be without the pages that are there: "+
			"name another folder in dedupe.path to begin anew; or, if that output was moved, delete the file %s", s.opts.Path, got, s.opts.Output, name)
	}
	return err
}

// loadOrigins reads how many origins there were.
func (s *state) loadOrigins() error {
	text, err := s.get([]byte{originKey})
	if s.legacy = err == nil && len(text) != 8; err == nil && !s.legacy {
		s.origins = binary.BigEndian.Uint64(text)
	}
	return err
}

func markKey(id pipeline.LaneID) []byte { return append([]byte{laneKey}, laneName(id)...) }

// mark returns the mark of a lane; known is false where there is none.
func (s *state) mark(id pipeline.LaneID) (m laneMark, known bool, err error) {
	text, err := s.get(markKey(id))
	if text == nil || err != nil {
		return m, false, err
	}
	return m, true, json.Unmarshal(text, &m)
}

func putMark(b *pebble.Batch, id pipeline.LaneID, m laneMark) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return b.Set(markKey(id), text, nil)
}

// advance puts into b that the lane of j has come to its end, and returns where keys are from. s.mu is held.
func (s *state) advance(b *pebble.Batch, j journal) (from []byte, err error) {
	if !s.opts.Positions {
		return appendFrom(nil, 0, 0), nil
	}
	m, _, err := s.mark(j.lane)
	if err != nil {
		return nil, err
	}
	of := j.end.Of
	if s.opts.Recorded {
		of = "" // each commit has another, and all are of one history
	}
	if n := len(m.Origins); n == 0 || m.Origins[n-1].Of != of {
		s.origins++
		m.Origins = append(m.Origins, origin{s.origins, of})
		if err := b.Set([]byte{originKey}, binary.BigEndian.AppendUint64(nil, s.origins), nil); err != nil {
			return nil, err
		}
	}
	m.End = j.end.Next
	number := m.Origins[len(m.Origins)-1].Number
	if s.opts.Recorded {
		if err := b.Set(commitName(number, m.End), []byte(j.end.Of), nil); err != nil {
			return nil, err
		}
	}
	return appendFrom(nil, number, m.End), putMark(b, j.lane, m)
}

// cut returns m as it was when the lane was at the end at, and for each origin the last end that is not gone. They are empty
// where nothing is gone.
func (m laneMark) cut(at pipeline.Mark) (laneMark, map[uint64]int64) {
	gone := make(map[uint64]int64)
	i := len(m.Origins) - 1
	for ; i >= 0 && at.Next != pipeline.Unknown && m.Origins[i].Of != at.Of; i-- {
		gone[m.Origins[i].Number] = -1
	}
	switch {
	case at.Next == pipeline.Unknown:
		for _, o := range m.Origins {
			gone[o.Number] = -1
		}
		return laneMark{}, gone
	case i < 0: // something that was begun and read by others
		return m, nil
	case i == len(m.Origins)-1 && at.Next >= m.End:
		return m, nil
	}
	gone[m.Origins[i].Number] = at.Next
	return laneMark{End: at.Next, Floor: m.Floor, Origins: m.Origins[:i+1]}, gone
}

// unsure reports whether rows are gone of whose keys it is not known that they are theirs.
func (m laneMark) unsure(at pipeline.Mark) bool { return m.Floor > max(at.Next, 0) }

// outside is what the state asks the output about the lanes.
type outside struct {
	position func(pipeline.LaneID) (pipeline.Mark, error)
	history  func(pipeline.LaneID, func(pipeline.Mark)) error
}

// cut does what [laneMark.cut] does, also where commits are compared one by one.
func (s *state) cut(id pipeline.LaneID, m laneMark, at pipeline.Mark, out outside) (laneMark, map[uint64]int64, error) {
	if s.opts.Recorded {
		return s.cutRecorded(id, m, at, out)
	}
	rest, gone := m.cut(at)
	return rest, gone, nil
}

// hold compares the position that the output has of a lane with that of the state. Rows that the output does not have any
// more are read again, so that the state must not have their keys. Others are looked at as well then.
func (s *state) hold(ctx context.Context, id pipeline.LaneID, at pipeline.Mark, out outside) error {
	s.rewinding.Lock()
	defer s.rewinding.Unlock()
	m, known, err := s.mark(id)
	if err != nil {
		return err
	}
	_, gone, err := s.cut(id, m, at, out)
	switch {
	case err != nil:
		return err
	case len(gone) > 0 || m.unsure(at):
		return s.rewind(ctx, id, at, out)
	}
	switch {
	case !known && s.legacy && at.Next > 0:
		return s.setMark(id, laneMark{End: at.Next, Floor: at.Next}, at)
	case known && at.Next > m.End:
		s.opts.Log.Warn("the output has rows of which the state of dedupe does not know: from another process, or because the state was put back from "+
			"a backup. Their pages can come once more", "lane", id.String(), "from", m.End, "to", at.Next, "path", s.opts.Path)
		m.End = at.Next
		return s.setMark(id, m, at)
	}
	return nil
}

// setMark puts a mark that ends at the position at of the output.
func (s *state) setMark(id pipeline.LaneID, m laneMark, at pipeline.Mark) error {
	s.mu.Lock() // who promotes reads and writes marks
	defer s.mu.Unlock()
	b := s.db.NewBatch()
	defer b.Close()
	var err error
	if n := len(m.Origins); s.opts.Recorded && n > 0 {
		err = b.Set(commitName(m.Origins[n-1].Number, at.Next), []byte(at.Of), nil)
	}
	return errors.Join(err, putMark(b, id, m), b.Commit(pebble.NoSync))
}

// rewind forgets the keys of rows that the output does not have any more, of all lanes.
func (s *state) rewind(ctx context.Context, id pipeline.LaneID, at pipeline.Mark, out outside) error {
	marks, err := s.marks()
	if err != nil {
		return err
	}
	all, left := make(map[uint64]int64), make(map[pipeline.LaneID]laneMark)
	for lane, m := range marks {
		now := at
		if lane != id {
			if now, err = out.position(lane); err != nil {
				return err
			}
		}
		rest, gone, err := s.cut(lane, m, now, out)
		if err != nil {
			return err
		}
		if len(gone) == 0 && !m.unsure(now) {
			continue
		}
		if s.opts.Approximate != nil || m.unsure(now) {
			if s.opts.Recorded {
				now.Next = rest.End // which both have
			}
			return s.cannotForget(lane, now, m)
		}
		for number, end := range gone {
			all[number] = end
		}
		left[lane] = rest
	}
	n, err := s.forgetKeys(ctx, all)
	if err != nil {
		return err
	}
	s.opts.Log.Warn("the output is behind the state of dedupe, as after it was put back from a backup: the pages of rows that are gone are new again",
		"lane", id.String(), "output", at.Next, "state", marks[id].End, "lanes", len(left), "pages", n, "path", s.opts.Path)
	return s.setMarks(left, all)
}

func (s *state) cannotForget(id pipeline.LaneID, at pipeline.Mark, m laneMark) error {
	has := fmt.Sprintf("only up to offset %d", at.Next)
	if at.Next == pipeline.Unknown {
		has = "nothing"
	}
	why := "a state that is approximate cannot forget pages"
	if s.opts.Approximate == nil {
		why = fmt.Sprintf("of pages before offset %d it was not noted yet where they are from", m.Floor)
	}
	return fmt.Errorf("of %s the output has %s, and the state in %s knows pages up to offset %d, so that rows that are read again would be taken for "+
		"duplicates of rows that are gone; %s. Put back the state of the same time as the output, or name another folder in dedupe.path to begin anew: "+
		"then pages that are in the output already can come once more", id, has, s.opts.Path, m.End, why)
}

// marks returns the marks of all lanes.
func (s *state) marks() (map[pipeline.LaneID]laneMark, error) {
	all := make(map[pipeline.LaneID]laneMark)
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{laneKey}, UpperBound: []byte{laneKey + 1}})
	if err != nil {
		return nil, err
	}
	for ok := it.First(); ok; ok = it.Next() {
		id, err := parseLane(string(it.Key()[1:]))
		var m laneMark
		if err = errors.Join(err, json.Unmarshal(it.Value(), &m)); err != nil {
			return nil, errors.Join(err, it.Close())
		}
		all[id] = m
	}
	return all, it.Close()
}

// setMarks sets marks, and forgets the commits of origins behind the ends that gone has. That is durable when it returns, and so is what
// was done before it.
func (s *state) setMarks(all map[pipeline.LaneID]laneMark, gone map[uint64]int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.db.NewBatch()
	defer b.Close()
	for number, end := range gone {
		if err := b.DeleteRange(commitName(number, end+1), commitName(number+1, 0), nil); err != nil {
			return err
		}
	}
	for id, m := range all {
		if err := putMark(b, id, m); err != nil {
			return err
		}
	}
	return b.Commit(pebble.Sync)
}

// forgetKeys deletes the keys whose origin is among gone and whose commit ended beyond the position there, and returns how
// many those were. A part of it may be done when ctx ends; it can be done again.
func (s *state) forgetKeys(ctx context.Context, gone map[uint64]int64) (n int, err error) {
	if s.runs != nil {
		s.mu.Lock() // no keys are added
		defer s.mu.Unlock()
		return s.runs.forget(ctx, gone)
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{seenKey}, UpperBound: []byte{seenKey + 1}})
	if err != nil {
		return 0, err
	}
	b := s.db.NewBatch()
	flush := func() error {
		err := errors.Join(ctx.Err(), b.Commit(pebble.NoSync), b.Close())
		b = s.db.NewBatch()
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		number, end, known := parseFrom(it.Value())
		if last, is := gone[number]; !known || !is || end <= last {
			continue
		}
		n++
		if err = b.Delete(it.Key(), nil); err == nil && b.Count() == chunkEntries {
			err = flush()
		}
	}
	return n, errors.Join(err, it.Close(), flush(), b.Close())
}
