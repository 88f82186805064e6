package recordbatch

// Reader reads the records of one record set after the other.
type Reader struct {
	// Decompressor is needed by compressed sets. It may be shared with other readers.
	Decompressor *Decompressor

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
}

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

// Held returns the bytes that the reader holds of what was decompressed.
func (r *Reader) Held() int64 {
	if r.from == nil {
		return 0
	}
	return int64(cap(r.buf))
}

// Free lets other readers have that memory. It may follow a Reset only, and the records read before are not valid any more.
func (r *Reader) Free() {
	if r.from == nil {
		return
	}
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
// Reset.
func (r *Reader) Next(rec *Record) (bool, error) {
	if r.err != nil {
		return false, r.err
	}
	found, err := r.find(rec)
	r.err = err
	return found, err
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
			r.entry, r.sound, r.set = e, false, r.set[len(e):]
			if found, err = r.open(e, offset, rec); err != nil {
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

func (r *Reader) decompress(codec uint16, src []byte, offset int64) ([]byte, error) {
	if cap(r.buf) > maxKeptBuffer {
		r.buf = nil
	}
	if r.from == nil && r.Decompressor != nil {
		r.from = r.Decompressor.buffers.Get().(*[]byte)
		r.buf = *r.from
	}
	out, err := r.Decompressor.Append(r.buf[:0], codec, src)
	if err != nil {
		return nil, corrupt(offset, "%v", err)
	}
	r.buf = out
	return out, nil
}
