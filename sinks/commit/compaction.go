package commit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/urlmill/urlmill/sinks/store"
)

// CompactionsDir is the directory with the records of compactions. They are numbered from 1, one chain for all lanes, and
// none is ever removed: a number that is taken stays taken.
const CompactionsDir = "_compactions"

const (
	doneExt = ".done"
	// readsAtATime is how many records are read side by side.
	readsAtATime = 16
)

// ErrOutrun says that another process has written the compaction that this one was about to write, or has gone on from it.
// Nothing has happened; the caller has to read the compactions again before it tries another one.
var ErrOutrun = errors.New("another process compacts here")

// Compaction says that files were put in the place of others, which held the same rows.
//
// It is written before the new files can be seen, and the next one only when all of this one has been done: its files
// have their names, and those that they replace are gone. So every compaction but the last is history, and what the last one
// still has to do can be found out, and done, by any process.
type Compaction struct {
	Version int   `json:"version"`
	Number  int64 `json:"number"`
	// Undone are files of the compaction before this one that were lost before they could be seen, by Place and Name with a
	// slash between: what they were to replace is what counts.
	Undone []string `json:"undone,omitempty"`
	Groups []Group  `json:"groups"`
	// Replacement says that the files have other rows than those that they replace; see [Chain.Replace].
	Replacement bool `json:"replacement,omitempty"`
	Origin
}

// Group is one file in the place of others of the same directory and table.
type Group struct {
	File      File       `json:"file"`
	Positions []Stretch  `json:"positions"`
	Replaces  []Replaced `json:"replaces"`
}

// Stretch is what a file has rows of: positions of a lane. Not all of them need have rows in it.
type Stretch struct {
	Lane      string `json:"lane"` // directory below [Dir]
	Stream    string `json:"stream"`
	Partition int32  `json:"partition"`
	First     int64  `json:"first"`
	Next      int64  `json:"next"`
}

// Replaced is a file that a compaction has replaced.
type Replaced struct {
	Name     string `json:"name"`
	Rows     int64  `json:"rows"`
	Bytes    int64  `json:"bytes"`
	Checksum string `json:"checksum"`
}

// Path returns the place and the name of a file, by which it is told from all others of an output.
func (f File) Path() string { return path.Join(f.Place, f.Name) }

// path returns the path of a file that the group replaces.
func (g Group) path(r Replaced) string { return path.Join(g.File.Place, r.Name) }

// Old returns the paths of the files that the group replaces.
func (g Group) Old() []string {
	paths := make([]string, 0, len(g.Replaces))
	for _, r := range g.Replaces {
		paths = append(paths, g.path(r))
	}
	return paths
}

func compactionKey(number int64) string { return path.Join(CompactionsDir, key(number)+".json") }

// CompactedName returns the name of a file that takes the place of others: that of the first of those, with the number of
// the compaction in it. run and seq make it unique.
func CompactedName(first string, number int64, run string, seq uint64) (string, error) {
	dir, base := path.Split(first)
	var stem string
	if prefix, position, ok := ParseFileName(base); ok {
		stem = fmt.Sprintf("%s%020d", prefix, position)
	} else if at := strings.LastIndex(base, compactMark); at > 0 {
		stem = base[:at]
	} else {
		return "", fmt.Errorf("%s is not named as files of an output are", first)
	}
	return fmt.Sprintf("%s%s%s%d-%s%04d%s", dir, stem, compactMark, number, run, seq, path.Ext(base)), nil
}

const compactMark = "-compact"

// compactedNames matches the end of the names that [CompactedName] returns, and none that [FileName] does, whatever the name
// of the stream: in those, a hyphen and the position stand before the run, and not the mark.
var compactedNames = regexp.MustCompile(compactMark + `(\d+)-[0-9a-f]{8}\d{4,}\.[a-z0-9]+$`)

// parseCompacted returns the number in a name that [CompactedName] has made.
func parseCompacted(name string) (int64, bool) {
	m := compactedNames.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	return n, err == nil && n > 0
}

func decodeCompaction(at string, number int64, content []byte) (*Compaction, error) {
	c := new(Compaction)
	if err := json.Unmarshal(content, c); err != nil {
		return nil, &DamagedError{at, err.Error()}
	}
	version := c.Version
	if c.Replacement && version == replacementVersion {
		version = formatVersion
	}
	if err := checkOwner(at, version, "", ""); err != nil {
		return nil, err
	}
	if c.Number != number {
		return nil, &DamagedError{at, fmt.Sprintf("it is that with number %d", c.Number)}
	}
	for _, g := range c.Groups {
		if g.File.Name == "" || g.File.Token == "" || len(g.Replaces) == 0 && !c.Replacement || len(g.Positions) == 0 {
			return nil, &DamagedError{at, "a file has no name, or replaces none"}
		}
		if err := store.CheckChecksum(g.File.Checksum); err != nil {
			return nil, &DamagedError{at, err.Error()}
		}
	}
	return c, nil
}

// Compactions are those of an output, as they were when they were read.
type Compactions struct {
	All []*Compaction // in their order
	// Done says that all of the last one has been done.
	Done bool
	// outcomes are those of replacements, by their numbers.
	outcomes map[int64]outcome
}

// Next returns the number of the next one.
func (c *Compactions) Next() int64 { return int64(len(c.All)) + 1 }

// replaced returns the paths of all files that are to be replaced, or were.
func (c *Compactions) replaced() map[string]bool {
	paths := map[string]bool{}
	for _, r := range c.All {
		for _, g := range r.Groups {
			for _, old := range g.Old() {
				paths[old] = true
			}
		}
	}
	return paths
}

// Undone reports whether a file of the compaction at an index of All was lost before it could be seen, as the one after it
// says. Then the files that it was to replace count.
func (c *Compactions) Undone(i int, f File) bool {
	return i+1 < len(c.All) && slices.Contains(c.All[i+1].Undone, f.Path())
}

// numbersOf returns the number of the last compaction, 0 if there is none, and whether all of it has been done.
func numbersOf(ctx context.Context, s store.Objects) (last int64, done bool, err error) {
	entries, err := s.List(ctx, CompactionsDir, "")
	if err != nil {
		return 0, false, err
	}
	lastDone := int64(0)
	for _, e := range entries {
		if n, ok := position(e.Name, ".json"); ok {
			last = max(last, n)
		} else if n, ok := position(e.Name, doneExt); ok {
			lastDone = max(lastDone, n)
		}
	}
	return last, lastDone >= last, nil
}

// lastDone returns the number of the last compaction that was done. Files that were written for it, or for one before it, and
// have not been published by then never will be.
func (c *Chain) lastDone(ctx context.Context) (int64, error) {
	last, done, err := numbersOf(ctx, c.root)
	if !done {
		last--
	}
	return last, err
}

// ReadCompactions reads the compactions of an output.
func ReadCompactions(ctx context.Context, s store.Objects) (*Compactions, error) {
	last, done, err := numbersOf(ctx, s)
	if err != nil {
		return nil, err
	}
	c := &Compactions{All: make([]*Compaction, last), Done: done, outcomes: map[int64]outcome{}}
	var group errgroup.Group
	group.SetLimit(readsAtATime)
	for i := range c.All {
		group.Go(func() (err error) {
			c.All[i], err = readCompaction(ctx, s, int64(i)+1)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return c, err
	}
	return c, c.readOutcomes(ctx, s)
}

func readCompaction(ctx context.Context, s store.Objects, number int64) (*Compaction, error) {
	at := compactionKey(number)
	content, err := s.Read(ctx, at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &DamagedError{at, "it is missing, and later ones are there"}
	}
	if err != nil {
		return nil, err
	}
	return decodeCompaction(at, number, content)
}

// Compact writes the next compaction after those that were read, which have all been done, and does it. The new files are
// the chain's from then on. [ErrOutrun] says that another process has written it, and [ErrRegistered] that a table names the
// files meanwhile: nothing has happened.
//
// The record is the point of no return, as it is for a commit. Before it, an error removes the new files. If creating it fails
// in a way that leaves open whether it is there, they stay: should it be there, they are part of the output. After it, ctx does
// not count any more, and what fails is done by the next process that comes by.
func (c *Chain) Compact(ctx context.Context, number int64, undone []string, groups []Group) error {
	return c.compact(ctx, &Compaction{Version: formatVersion, Number: number, Undone: undone, Groups: groups})
}

func (c *Chain) compact(ctx context.Context, r *Compaction) error {
	// The new files are durable before the record names them: old ones are removed because of it.
	err := c.each(ctx, r.files(), func(s store.Store, p []store.Pending) error { return s.Settle(ctx, p) })
	if err == nil && r.Number == 1 { // the first one claims the output for compactions; later ones need not ask again
		err = replaceable(ctx, c.root)
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return errors.Join(err, c.discard(ctx, r))
	}
	ctx = context.WithoutCancel(ctx)
	r.Origin = c.newOrigin()
	at, content := compactionKey(r.Number), encode(r)
	err = c.root.Create(ctx, at, content)
	if errors.Is(err, fs.ErrExist) {
		there, readErr := c.root.Read(ctx, at)
		switch {
		case readErr != nil:
			return readErr // it may be ours, so the files stay
		case bytes.Equal(there, content): // created by a call that seemed to fail
		default:
			return errors.Join(ErrOutrun, c.discard(ctx, r))
		}
	} else if err != nil {
		return err
	}
	lost, err := c.do(ctx, r)
	if err == nil && len(lost) > 0 {
		err = fmt.Errorf("%s was removed before it could be seen; what it was to replace is still there: nothing but urlmill may remove unfinished files", lost[0])
	}
	return err
}

// files returns the new files.
func (r *Compaction) files() []File {
	files := make([]File, 0, len(r.Groups))
	for _, g := range r.Groups {
		files = append(files, g.File)
	}
	return files
}

// discard removes the files of a compaction that has not happened. Those of a replacement are of commits elsewhere, and stay there.
func (c *Chain) discard(ctx context.Context, r *Compaction) error {
	if r.Replacement {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	return c.each(ctx, r.files(), func(s store.Store, p []store.Pending) error { return s.Discard(ctx, p) })
}

// FinishCompaction does what is left of the last compaction. Any process may call it, at any time. It returns the files of it
// that are lost while those that they were to replace are there: the old ones count then.
func (c *Chain) FinishCompaction(ctx context.Context) (lost []string, err error) {
	last, done, err := numbersOf(ctx, c.root)
	if err != nil || last == 0 || done {
		return nil, err
	}
	// The process that created the record may have died before it made it durable. Files must not be removed by a record that
	// a power failure can take back.
	if err := c.root.Sync(ctx, CompactionsDir); err != nil {
		return nil, err
	}
	r, err := readCompaction(ctx, c.root, last)
	if err != nil {
		return nil, err
	}
	lost, err = c.do(ctx, r)
	if errors.Is(err, ErrOutrun) {
		return nil, nil // another process has finished it
	}
	for _, file := range lost {
		c.log.Warn("a file of a compaction was removed before it could be seen; what it was to replace is still there, and counts", "file", file)
	}
	return lost, err
}

// do does what a compaction says, as far as that has not been done. Group by group, the new file gets its name, and only
// when that is durable the old ones go: no row is ever missing, and those of one group at a time are there twice for a moment.
//
// A new file that is gone can mean three things. A newer compaction has replaced it: then this process is late, and outrun says
// so. The old files are gone as well: then the group was done, and the new file was removed by its reader. The old files are
// there: then it was lost before it could be seen, the compaction is never marked as done, and the next one says that this
// file is undone.
func (c *Chain) do(ctx context.Context, r *Compaction) (lost []string, err error) {
	if r.Replacement {
		return c.doReplacement(ctx, r)
	}
	for _, g := range r.Groups {
		s, err := c.place(ctx, g.File.Place)
		if err != nil {
			return nil, err
		}
		err = s.Publish(ctx, []store.Pending{g.File.Pending()})
		var gone *store.GoneError
		if errors.As(err, &gone) {
			if err := c.outrun(ctx, r.Number); err != nil { // first: old names say nothing once a newer one has begun
				return nil, err
			}
			there, err := anyThere(ctx, s, g.Replaces)
			if err != nil {
				return nil, err
			}
			if there {
				lost = append(lost, g.File.Path())
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := c.removeOld(ctx, s, g); err != nil {
			return nil, err
		}
	}
	if len(lost) > 0 {
		return lost, nil // not done: the next compaction says which of its files are undone
	}
	return nil, c.markDone(ctx, r)
}

// markDone creates the object that says that all of a compaction has been done.
func (c *Chain) markDone(ctx context.Context, r *Compaction) error {
	err := c.root.Create(ctx, path.Join(CompactionsDir, key(r.Number)+doneExt), []byte("{}\n"))
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	return err
}

// outrun returns [ErrOutrun] if there is a newer compaction, or all of this one was done: its files may have been replaced.
func (c *Chain) outrun(ctx context.Context, number int64) error {
	last, done, err := numbersOf(ctx, c.root)
	if err == nil && (last > number || done) {
		err = ErrOutrun
	}
	return err
}

// anyThere reports whether any of the files is there under its name.
func anyThere(ctx context.Context, s store.Store, files []Replaced) (bool, error) {
	for _, f := range files {
		if there, err := Visible(ctx, s, f.Name); there || err != nil {
			return there, err
		}
	}
	return false, nil
}

// Visible reports whether a file is there under its name.
func Visible(ctx context.Context, s store.Objects, name string) (bool, error) {
	o, err := s.Open(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, o.Close()
}

// removeOld removes the files that a group replaces, durably: they must not come back when the compaction counts as done.
func (c *Chain) removeOld(ctx context.Context, s store.Store, g Group) error {
	var group errgroup.Group
	group.SetLimit(readsAtATime)
	if len(g.Replaces) < readsAtATime {
		group.SetLimit(1)
	}
	for _, r := range g.Replaces {
		group.Go(func() error { return s.Delete(ctx, r.Name) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return s.Sync(ctx, path.Dir(g.File.Name))
}
