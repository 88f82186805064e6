package filesink

import (
	"context"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/internal/partition"
)

// Late says where rows go that come late: into files of their own, in the same commits as the others. Otherwise a few rows
// for each of many old directories would be a file each, commit by commit. The zero value is not to do so.
type Late struct {
	// Path is the directory of those files.
	Path string
	// After is by how much the time of a row is before the newest directory of its lane.
	After time.Duration
}

// ahead is how far a time may be ahead of the clock and still count as the newest of its lane: producers' clocks differ. A
// time that is further ahead is wrong, and would make all rows that follow late.
const ahead = time.Hour

func (o Options) validateLate() error {
	l := o.Late
	switch {
	case l == Late{}:
		return nil
	case l.Path == "":
		return pipeline.FieldErrorf("late.path", "missing").Advise("give the directory for late rows")
	case o.Stream != nil:
		return pipeline.FieldErrorf("late", "standard output has no directories").Advise("leave it out, or give a directory for the output files")
	case l.After < 0:
		return pipeline.ValueErrorf("late.after", l.After, "is less than nothing").Advise("give 0s or more")
	}
	return nil
}

// checkLate returns what is wrong with late for rows of a schema. What Validate and checkPartitions have to say is left to
// them.
func checkLate(late Late, by []string, s *arrow.Schema) error {
	keys, err := partition.ParseAll(by)
	if err != nil || late == (Late{}) || partition.Check(keys, s) != nil {
		return nil
	}
	_, err = partition.NewClock(keys, s)
	return pipeline.Under("late", err)
}

// prepareLate opens the directory of late rows.
func (s *Sink) prepareLate(ctx context.Context) error {
	keys, err := partition.ParseAll(s.opts.PartitionBy)
	if err != nil {
		return err
	}
	clock, err := partition.NewClock(keys, s.schemas[pipeline.Rows])
	if err != nil {
		return pipeline.Under("late", err)
	}
	st, err := s.opts.Stores(s.opts.Late.Path, s.opts.Log)
	if err != nil {
		return err
	}
	s.clock, s.late = clock, &place{store: st, name: s.places.Add(st)}
	s.written.latePlace = s.late.name
	return st.Prepare(ctx)
}

// split divides rows into those of directories and those that are late. The caller has to release the parts. The watermark is that
// of the lane in this process: it begins anew at a restart, so that late rows may go to their old directories until a row of a
// newer period has come.
func (t *fileTable) split(s *partition.Splitter, r arrow.Record) []partition.Part {
	if t.sink.late == nil {
		return s.Split(r)
	}
	return s.SplitLate(r, &t.watermark, partition.Lateness{
		Clock: t.sink.clock, After: int64(t.sink.opts.Late.After / time.Second), Limit: time.Now().Add(ahead).Unix(),
	})
}
