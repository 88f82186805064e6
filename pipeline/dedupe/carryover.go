package dedupe

import (
	"encoding/binary"
	"errors"

	"github.com/cockroachdb/pebble"

	"github.com/urlmill/urlmill/pipeline/dedupe/runs"
)

// carryOver makes a run of the keys that an older version has left in the store, with where they are from, and deletes them there. It
// returns the list of runs, which is durable. What a crash leaves of that is done again.
func (k *runKeys) carryOver(files runFiles) ([]runs.File, error) {
	bounds := &pebble.IterOptions{LowerBound: []byte{seenKey}, UpperBound: []byte{seenKey + 1}}
	it, err := k.db.NewIter(bounds)
	if err != nil {
		return nil, err
	}
	if !it.First() {
		return nil, it.Close()
	}
	k.opts.Log.Info("carrying the state of dedupe over to the form of this version", "path", k.opts.Path)
	list, commits, err := k.copyKeys(it, files)
	if err = errors.Join(err, it.Close()); err != nil {
		return nil, err
	}
	b := k.db.NewBatch()
	defer b.Close()
	for from, number := range commits {
		if err := b.Set(numbered(fromKey, number), []byte(from), nil); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(b.DeleteRange([]byte{seenKey}, []byte{seenKey + 1}, nil), b.Commit(pebble.NoSync)); err != nil {
		return nil, err
	}
	if err := k.commit(runs.Change{Runs: list}); err != nil {
		return nil, err
	}
	return list, k.db.Compact([]byte{seenKey}, []byte{seenKey + 1}, false) // gives the disk back
}

// copyKeys writes the keys of the store as a run. It numbers where they are from.
func (k *runKeys) copyKeys(it *pebble.Iterator, files runFiles) ([]runs.File, map[string]uint64, error) {
	last, err := lastNumber(k.db)
	if err != nil {
		return nil, nil, err
	}
	name := k.name()
	out, err := files.Create(name)
	if err != nil {
		return nil, nil, err
	}
	w, commits := runs.NewWriter(out), make(map[string]uint64)
	for ok := it.Valid(); ok && err == nil; ok = it.Next() {
		number := uint64(0)
		if _, _, known := parseFrom(it.Value()); known && k.opts.Positions {
			var is bool
			if number, is = commits[string(it.Value())]; !is {
				last++
				number = last
				commits[string(it.Value())] = number
			}
		}
		err = w.Add([]Key{Key(it.Key()[1:])}, number)
	}
	if err != nil {
		return nil, nil, errors.Join(err, out.Finish())
	}
	info, err := w.Finish()
	return []runs.File{{Name: name, Info: info}}, commits, errors.Join(err, out.Finish())
}

// lastNumber returns the number of the last journal that there is, or that keys are from.
func lastNumber(db *pebble.DB) (last uint64, err error) {
	for _, kind := range []byte{journalKey, fromKey} {
		it, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte{kind}, UpperBound: []byte{kind + 1}})
		if err != nil {
			return 0, err
		}
		if it.Last() {
			last = max(last, binary.BigEndian.Uint64(it.Key()[1:]))
		}
		if err := it.Close(); err != nil {
			return 0, err
		}
	}
	return last, nil
}
