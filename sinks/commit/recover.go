package commit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"time"

	"github.com/urlmill/urlmill/sinks/store"
)

// oldEnough is the age from which an unfinished file of a process that may be alive is looked at when the place is
// swept. Younger ones are common and not worth the look.
const oldEnough = time.Hour

// recover reads the head of a lane and publishes the files of its last record. Only those can be unpublished: no process
// adds a record before the files of the one before have been published.
//
// It may be called by several processes at once, and while the process that made the record is publishing its files: each
// step may be repeated, and Publish takes a file that has its name already for published. A file may be in one of these
// states, of which a power failure or a move that is not atomic leaves the third:
//
//	temporary name   own name   replaced by a compaction
//	yes              no         no                          publish it
//	no               yes        no                          nothing to do
//	yes              yes        either                      remove the temporary name
//	either           no         yes                         remove the temporary name, and do not publish it: its rows are in
//	                                                        the compacted file, and would be there twice
//	no               no         no                          it was moved away or deleted; the chain goes on without it
func (c *Chain) recover(ctx context.Context, lane string) (head, error) {
	h, err := readHead(ctx, c.root, lane)
	if err != nil || h.last == nil { // no record, or a checkpoint has all of them: then their files have been published
		return h, err
	}
	// The process that created the record may have died before it made it durable. Files must not be published by a record
	// that a power failure can take back.
	if err := c.root.Sync(ctx, path.Join(Dir, lane)); err != nil {
		return h, err
	}
	var replaced map[string]bool // read when the first file is missing: most starts find all of them
	for _, f := range h.last.Files {
		s, err := c.place(ctx, f.Place)
		var foreign *ForeignPlaceError
		if errors.As(err, &foreign) {
			// The configuration has named another place since, in a version that did not yet claim places: it matters only if
			// a file of the last commit still waits there.
			if waiting, looked := foreign.Waiting(ctx, f); looked == nil && !waiting {
				continue
			}
		}
		if err != nil {
			return h, err
		}
		there, err := published(ctx, s, f)
		if err != nil {
			return h, err
		}
		if !there && replaced == nil {
			if replaced, err = c.replaced(ctx); err != nil {
				return h, err
			}
		}
		if there || replaced[f.Path()] {
			// It may have its temporary name as well: what moved it was not atomic, or the power failed. That name goes
			// before a compaction can replace the file: with it alone left, the file would look like one to publish.
			if err := s.Discard(ctx, []store.Pending{f.Pending()}); err != nil {
				return h, err
			}
		}
		if replaced[f.Path()] {
			continue
		}
		err = s.Publish(ctx, []store.Pending{f.Pending()})
		var gone *store.GoneError
		if errors.As(err, &gone) {
			if replaced, err = c.replaced(ctx); err != nil { // a compaction may have replaced it since it was looked for
				return h, err
			}
			if !replaced[f.Path()] {
				// Its temporary name is taken away only by publishing it, so it was published, and then
				// removed by a reader that was done with it, or by retention.
				c.log.Log(ctx, c.goneLevel(ctx), "a file of the last commit is not there any more; this is fine if it was moved away or deleted on purpose",
					"lane", lane, "file", f.Name, "from", h.last.First, "to", h.last.Next)
			}
			continue
		}
		if err != nil {
			return h, err
		}
	}
	return h, nil
}

// published reports whether a file has its name, with the size that its record says.
func published(ctx context.Context, s store.Objects, f File) (bool, error) {
	o, err := s.Open(ctx, f.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return o.Size() == f.Bytes, o.Close()
}

// replaced returns the paths of the files that compactions have replaced, or are going to.
func (c *Chain) replaced(ctx context.Context) (map[string]bool, error) {
	compactions, err := ReadCompactions(ctx, c.root)
	if err != nil {
		return nil, err
	}
	return compactions.replaced(), nil
}

// Recover finishes the commits of all lanes, and the last compaction. It returns the position after the last commit of each
// lane, by the prefix of the names of its files.
func (c *Chain) Recover(ctx context.Context) (map[string]int64, error) {
	lanes, err := Lanes(ctx, c.root)
	if err != nil {
		return nil, err
	}
	heads := make(map[string]int64, len(lanes))
	for _, lane := range lanes {
		h, err := c.recover(ctx, lane)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", lane, err)
		}
		if h.start != nil {
			heads[h.start.Prefix] = h.next
		}
	}
	if _, err := c.FinishCompaction(ctx); err != nil {
		return nil, err
	}
	return heads, nil
}

// Lanes returns the names of the directories below [Dir] that may have a chain.
func Lanes(ctx context.Context, s store.Objects) ([]string, error) {
	streams, err := s.List(ctx, Dir, "")
	if err != nil {
		return nil, err
	}
	var lanes []string
	for _, stream := range streams {
		if !stream.Dir {
			continue
		}
		partitions, err := s.List(ctx, path.Join(Dir, stream.Name), "")
		if err != nil {
			return nil, err
		}
		for _, p := range partitions {
			if p.Dir {
				lanes = append(lanes, path.Join(stream.Name, p.Name))
			}
		}
	}
	return lanes, nil
}

// Sweep removes files that were left unfinished in a place and can never be committed: those of processes that are
// dead, and those that begin at positions that have been committed without them. Commits that those processes had
// made are finished before: until then, an unfinished file may be the only copy of committed rows.
func (c *Chain) Sweep(ctx context.Context, place store.Store) error {
	s := sweeper{chain: c, ctx: ctx}
	if err := place.Sweep(ctx, s.garbage); err != nil {
		return err
	}
	s.report(place, c.log)
	return ctx.Err()
}

// sweeper is the state of one sweep. It has its context in a field since a store calls garbage without one.
type sweeper struct {
	chain *Chain
	ctx   context.Context

	read  bool             // heads, last and err are set
	run   string           // the dead run after whose death they were read, or ""
	heads map[string]int64 // as of [Chain.Recover]
	last  int64            // number of the last compaction that is done
	err   error            // of reading them: nothing is removed then

	files int
	bytes int64
}

// garbage reports whether a file is to be removed.
//
// The file of a dead process is garbage once the commits of all lanes have been finished after its death: that process
// commits nothing any more, so what is unfinished then is in no record. Finishing them once after each death is enough.
// The file of a process that may be alive is garbage only if its position has been committed without it: whatever that
// process still does, its record finds the position taken.
func (s *sweeper) garbage(f store.Leftover) bool {
	if !f.Dead && time.Since(f.Modified) < s.chain.old {
		return false
	}
	if !s.read || f.Dead && f.Run != s.run {
		s.recover(f)
	}
	if s.err != nil {
		return false
	}
	if !f.Dead {
		if number, ok := parseCompacted(path.Base(f.Name)); ok { // its position is the number of its compaction
			return number <= s.last && s.count(f)
		}
		prefix, first, ok := ParseFileName(f.Name)
		if next, known := s.heads[prefix]; !ok || !known || first >= next {
			return false
		}
	}
	return s.count(f)
}

// count counts a file that is to be removed, and returns true.
func (s *sweeper) count(f store.Leftover) bool {
	s.files++
	s.bytes += f.Bytes
	return true
}

func (s *sweeper) report(place store.Store, log *slog.Logger) {
	if s.files > 0 {
		log.Info("removed unfinished files of other processes that no commit needs; rows of them that are in no commit are read again",
			"directory", place.Location(), "files", s.files, "bytes", s.bytes)
	}
}

func (s *sweeper) recover(f store.Leftover) {
	s.read = true
	if f.Dead {
		s.run = f.Run
	}
	if s.heads, s.err = s.chain.Recover(s.ctx); s.err == nil {
		s.last, s.err = s.chain.lastDone(s.ctx)
	}
	if s.err != nil {
		s.chain.log.Warn("unfinished files of other processes stay where they are: their commits cannot be read", "error", s.err)
	}
}
