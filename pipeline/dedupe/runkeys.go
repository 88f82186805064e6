package dedupe

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/vfs"

	"github.com/urlmill/urlmill/pipeline/dedupe/runs"
)

// runsFolder is the folder in that of a state with its runs.
const runsFolder = "runs"

// runKeys are the keys of committed rows in sorted runs, where there are no windows. The value of a key is the number of the journal that it
// came with. The store has the list of runs; where each journal is from; and the journals whose keys are in no run yet.
type runKeys struct {
	db    *pebble.DB
	opts  Options
	set   *runs.Set
	names atomic.Uint64 // number of the last run
}

// openRuns opens the keys of a state. It carries over what an older version has left.
func openRuns(opts Options, db *pebble.DB, fs vfs.FS, failed *failure) (*runKeys, error) {
	k := &runKeys{db: db, opts: opts}
	files := runFiles{fs, fs.PathJoin(opts.Path, runsFolder)}
	list, err := k.list()
	if err == nil {
		err = k.clear(files, list)
	}
	if err == nil && list == nil {
		list, err = k.carryOver(files)
	}
	if err != nil {
		return nil, err
	}
	k.set, err = runs.Open(runs.Options{Files: files, Memory: opts.setMemory(), Table: opts.table, Name: k.name, Commit: k.commit, Failed: failed.note}, list)
	if err != nil {
		return nil, fmt.Errorf("opening the keys in %s: %w", files.folder, err)
	}
	err = k.numbered(doneKey, func(number uint64, _ []byte) error {
		keys, err := journalKeys(db, number)
		if err != nil {
			return err
		}
		return k.set.Add(keys, k.value(number), number)
	})
	if err != nil {
		return nil, errors.Join(err, k.set.Close())
	}
	return k, nil
}

// list returns the runs that the store names, nil where there was never a list.
func (k *runKeys) list() (list []runs.File, err error) {
	text, closer, err := k.db.Get([]byte{runsKey})
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(text, &list)
	return list, errors.Join(err, closer.Close())
}

// clear makes the folder of the runs, and removes those that a crash has left before they were in the list.
func (k *runKeys) clear(files runFiles, list []runs.File) error {
	fs := files.fs
	if err := errors.Join(fs.MkdirAll(files.folder, 0o777), syncFolder(fs, k.opts.Path)); err != nil {
		return err
	}
	names, err := fs.List(files.folder)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(list, func(f runs.File) bool { return f.Name == name }) {
			if err := files.Remove(name); err != nil {
				return err
			}
		} else if n, err := strconv.ParseUint(name, 16, 64); err == nil {
			k.names.Store(max(k.names.Load(), n))
		}
	}
	return nil
}

func (k *runKeys) name() string { return fmt.Sprintf("%012x", k.names.Add(1)) }

// commit makes the list of runs durable, and forgets journals whose keys are in runs.
func (k *runKeys) commit(c runs.Change) error {
	text, err := json.Marshal(c.Runs)
	if err != nil {
		return err
	}
	b := k.db.NewBatch()
	defer b.Close()
	if err := b.Set([]byte{runsKey}, text, nil); err != nil {
		return err
	}
	for _, n := range c.Added {
		err := errors.Join(b.Delete(numbered(doneKey, n), nil), b.DeleteRange(numbered(journalKey, n), numbered(journalKey, n+1), nil))
		if err != nil {
			return err
		}
	}
	return b.Commit(pebble.Sync)
}

// value returns the value of the keys of a journal.
func (k *runKeys) value(number uint64) uint64 {
	if !k.opts.Positions {
		return 0 // where they are from is not kept
	}
	return number
}

// numbered calls each for the keys of the store of a kind, with their numbers, in order.
func (k *runKeys) numbered(kind byte, each func(number uint64, value []byte) error) error {
	it, err := k.db.NewIter(&pebble.IterOptions{LowerBound: []byte{kind}, UpperBound: []byte{kind + 1}})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		err = each(binary.BigEndian.Uint64(it.Key()[1:]), it.Value())
	}
	return errors.Join(err, it.Close())
}

// promoted puts into b that the keys of a journal are those of committed rows, and where they are from.
func (k *runKeys) promoted(b *pebble.Batch, number uint64, keys []Key, from []byte) error {
	if len(keys) == 0 {
		return b.DeleteRange(numbered(journalKey, number), numbered(journalKey, number+1), nil)
	}
	err := b.Set(numbered(doneKey, number), nil, nil)
	if k.opts.Positions {
		err = errors.Join(err, b.Set(numbered(fromKey, number), from, nil))
	}
	return err
}

// add adds keys of a journal, once [runKeys.promoted] was applied.
func (k *runKeys) add(number uint64, keys []Key) error {
	if len(keys) == 0 {
		return nil
	}
	runs.Sort(keys, func(k *Key) *Key { return k }) // they are in order, but for journals of older versions
	return k.set.Add(keys, k.value(number), number)
}

// questions is what [runKeys.find] needs for a while.
type questions struct {
	order []runs.Place
	keys  []Key
	found []bool
}

var questionRooms = sync.Pool{New: func() any { return new(questions) }}

// find implements [seenSet].
func (k *runKeys) find(asked []question) error {
	room := questionRooms.Get().(*questions)
	defer questionRooms.Put(room)
	room.order = runs.Order(room.order, len(asked), func(i int) *Key { return &asked[i].key })
	room.keys, room.found = room.keys[:0], resize(room.found, len(asked))
	clear(room.found)
	for _, p := range room.order {
		room.keys = append(room.keys, asked[p.At].key)
	}
	if err := k.set.Find(room.keys, room.found); err != nil {
		return k.opts.unusable(err)
	}
	for i, p := range room.order {
		asked[p.At].seen = room.found[i]
	}
	return nil
}

// forget deletes the keys whose origin is among gone and whose commit ended beyond the position there, and returns how many those were.
func (k *runKeys) forget(ctx context.Context, gone map[uint64]int64) (int, error) {
	numbers := make(map[uint64]bool)
	err := k.numbered(fromKey, func(number uint64, text []byte) error {
		origin, end, known := parseFrom(text)
		if last, is := gone[origin]; known && is && end > last {
			numbers[number] = true
		}
		return nil
	})
	if err != nil || len(numbers) == 0 {
		return 0, err
	}
	n, err := k.set.Delete(ctx, func(number uint64) bool { return numbers[number] })
	if err != nil {
		return int(n), err
	}
	b := k.db.NewBatch()
	defer b.Close()
	for number := range numbers {
		if err := b.Delete(numbered(fromKey, number), nil); err != nil {
			return int(n), err
		}
	}
	return int(n), b.Commit(pebble.NoSync)
}

// close writes what is in no run, unless that is so little that it is better added again at the next start.
func (k *runKeys) close() error {
	var err error
	if pending, limit := k.set.Pending(); pending > limit/8 {
		err = k.set.Flush()
	}
	return errors.Join(err, k.set.Close())
}

// runFiles are the files of runs in a folder.
type runFiles struct {
	fs     vfs.FS
	folder string
}

func (f runFiles) Create(name string) (runs.Output, error) {
	file, err := f.fs.Create(f.fs.PathJoin(f.folder, name))
	if err != nil {
		return nil, err
	}
	// Written out as it comes, as what is synced in one go at the end holds up the syncs of commits.
	return runOutput{vfs.NewSyncingFile(file, vfs.SyncingFileOptions{BytesPerSync: 1 << 20}), f}, nil
}

type runOutput struct {
	vfs.File
	files runFiles
}

func (o runOutput) Finish() error {
	return errors.Join(o.Sync(), o.Close(), syncFolder(o.files.fs, o.files.folder))
}

func (f runFiles) Open(name string) (runs.Input, error) {
	file, err := f.fs.Open(f.fs.PathJoin(f.folder, name), vfs.RandomReadsOption)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return runInput{file, info.Size()}, nil
}

type runInput struct {
	vfs.File
	size int64
}

func (i runInput) Size() int64 { return i.size }

func (f runFiles) Remove(name string) error { return f.fs.Remove(f.fs.PathJoin(f.folder, name)) }
