package recordbatch

import "errors"

// ErrNoRoom says that [Reader.Room] has refused the memory for what the next batch decompresses to. Nothing is wrong with it.
var ErrNoRoom = errors.New("no room for what a batch decompresses to")

// Reader reads the records of one record set after the other.
type Reader struct {
	// Decompressor is needed by compressed sets. It may be shared with other readers.
	Decompressor *Decompressor
	// Room is asked before n bytes are taken for what a batch decompresses to, in the place of those that it was asked for before.
	// Where it returns false, Next and Open return [ErrNoRoom], and the reader holds none. Nil is as much as there has to be.
	Room func(n int64) bool

	set   []byte // entries not yet opened
	entry []byte // the one that was opened last
	sound bool   // its checksum is right
	next  int64  // records before it are skipped
	end   int64  // offset after the entry that is open
	batch batch
	inner messages
	txns  transactions
	buf   []byte  // decompressed bytes of the entry that is open
	from  *[]byte // where buf came from in the decompressor's pool, nil while there is none
	err   error   // what stopped reading

	wants   int64 // bytes that Room refused
	granted int64 // bytes that Room has let the reader have
	growth  int   // how often the size of the batch before went into what it decompressed to
}

// usualGrowth is what the first batch of a reader is expected to grow by when it is decompressed.
const usualGrowth = 4

// maxKeptBuffer bounds the buffer that a reader keeps between entries, so that one giant does not stay.
const maxKeptBuffer = 8 << 20

// Reset begins with set, which the reader uses until the next Reset. Records before offset from are skipped:
// a fetch answers with whole batches.
func (r *Reader) Reset(set []byte, from int64) { r.ResetCommitted(set, nil, from) }

// ResetCommitted does the same with a set in which the records of aborted transactions are to be skipped. list is the
// fetch answer's list of these, as it came; it is not kept.
func (r *Reader) ResetCommitted(set, list []byte, from int64) {
	r.set, r.next, r.end = set, from, from
	r.batch, r.inner, r.err = batch{}, messages{}, nil
	r.entry, r.sound = nil, false
	r.txns.reset(list)
}

// Position returns the offset that reading goes on at: the one after the last record returned or, at the end of
// a batch, after the batch, whose last offsets may have no records. After an error it is where the record or
// the batch begins that could not be read, or after the record before it.
func (r *Reader) Position() int64 { return r.next }

// Wants returns the bytes that Room has refused, if the last Next or Open returned [ErrNoRoom].
func (r *Reader) Wants() int64 { return r.wants }

// Free lets other readers have the memory of what was decompressed. It may follow a Reset only, and the records read before are not
// valid any more.
func (r *Reader) Free() {
	if r.from == nil {
		return
	}
	if r.granted > 0 && r.Room != nil {
		r.Room(0)
	}
	r.granted = 0
	if cap(r.buf) > maxKeptBuffer {
		r.buf = nil
	}
	*r.from = r.buf
	r.Decompressor.buffers.Put(r.from)
	r.buf, r.from = nil, nil
}

// Done reports whether nothing of the set is left: Next would return false and no error, and the position would stay.
func (r *Reader) Done() bool {
	return r.err == nil && r.batch.left == 0 && len(r.inner.rest) == 0 && r.next >= r.end && len(r.set) == 0
}

// Next sets rec to the next record and returns true, or returns false at the end of the set, which may be in the
// middle of an entry. It skips the markers of transactions. An error is of kind [ErrCorrupt] and stays until
// Reset, or is [ErrNoRoom], after which Next goes on where it was.
func (r *Reader) Next(rec *Record) (bool, error) {
	if r.err != nil {
		return false, r.err
	}
	found, err := r.find(rec)
	if err != nil && !errors.Is(err, ErrNoRoom) {
		r.err = err
	}
	return found, err
}

// Open decompresses the next batch, if Next would begin with that, so that Next needs no room for its first record. The position
// stays. The error is [ErrNoRoom]; all others are for Next to return.
func (r *Reader) Open() error {
	if r.err != nil || r.batch.left > 0 || len(r.inner.rest) > 0 || r.next < r.end {
		return nil
	}
	e, offset, err := entry(r.set)
	if err != nil || e == nil || isRecord(e) {
		return nil
	}
	if _, err = r.take(e, offset, nil); errors.Is(err, ErrNoRoom) {
		return err
	}
	r.err = err
	return nil
}

// take takes the entry e off the set and opens it. Where there is no room for it, it stays.
func (r *Reader) take(e []byte, offset int64, rec *Record) (isRecord bool, err error) {
	set := r.set
	r.entry, r.sound, r.set = e, false, set[len(e):]
	if isRecord, err = r.open(e, offset, rec); errors.Is(err, ErrNoRoom) {
		r.set, r.end, r.batch = set, r.next, batch{}
	}
	return isRecord, err
}

func (r *Reader) find(rec *Record) (bool, error) {
	for {
		found, err := r.nextInEntry(rec)
		if err != nil {
			return false, err
		}
		if !found {
			e, offset, err := entry(r.set)
			if err != nil {
				r.entry, r.sound, r.set = r.set, false, nil
				return false, err
			}
			if e == nil {
				return false, nil
			}
			if found, err = r.take(e, offset, rec); err != nil {
				return false, err
			}
		}
		if found && rec.Offset >= r.next {
			r.next = rec.Offset + 1
			return true, nil
		}
	}
}

// nextInEntry takes the next record off the entry that is open, and closes it at its end.
func (r *Reader) nextInEntry(rec *Record) (found bool, err error) {
	switch {
	case r.batch.left > 0:
		return true, r.batch.next(rec)
	case len(r.inner.rest) > 0:
		return true, r.inner.next(rec)
	}
	r.next = max(r.next, r.end)
	return false, nil
}

// open begins with the entry e. A message of the old formats that is not compressed is a record itself.
func (r *Reader) open(e []byte, offset int64, rec *Record) (isRecord bool, err error) {
	last, err := lastOffset(e, offset)
	if err != nil {
		return false, err
	}
	if last < r.next {
		return false, nil
	}
	r.end = last + 1
	if e[magicAt] < 2 {
		return r.openMessage(e, last, rec)
	}
	return false, r.openBatch(e, offset, last)
}

// decompress returns what src decompresses to, in the reader's buffer, for which there has to be room: for as much as the headers in
// src say, or as the batch before, and twice that as long as it is not enough.
func (r *Reader) decompress(codec uint16, src []byte, offset int64) ([]byte, error) {
	if codec > codecZstd {
		return nil, corrupt(offset, "compression codec %d is unknown", codec)
	}
	d := r.Decompressor
	if cap(r.buf) > maxKeptBuffer {
		r.buf = nil
	}
	if r.from == nil {
		r.from = d.buffers.Get().(*[]byte)
		r.buf = *r.from
	}
	size, exact := decodedSize(codec, src)
	switch {
	case exact && size > uint64(d.limit):
		return nil, corrupt(offset, "%w", d.tooLarge())
	case size == 0:
		size = uint64(len(src)) * uint64(max(r.growth, usualGrowth))
	}
	for size := int(min(size, uint64(d.limit))); ; size = min(2*size, d.limit) {
		size = max(size, cap(r.buf))
		if r.granted = int64(size); r.Room != nil && !r.Room(r.granted) {
			r.wants, r.granted = r.granted, 0
			r.Free()
			return nil, ErrNoRoom
		}
		if cap(r.buf) < size {
			r.buf = make([]byte, 0, size)
		}
		out, err := d.Append(r.buf[:0], codec, src)
		switch {
		case err == nil:
			r.growth = len(out)/max(1, len(src)) + 1
			return out, nil
		case !errors.Is(err, errFull) || size >= d.limit:
			return nil, corrupt(offset, "%w", err)
		}
	}
}
