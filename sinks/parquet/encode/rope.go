package encode

import "io"

// rope holds the bytes of a chunk in blocks borrowed from bytePool, so that it grows without copying and a small one stays
// small. It owns its blocks until release, and nothing of what is appended is aliased.
type rope struct {
	blocks [][]byte
	size   int64 // bytes appended
	held   int64 // the capacities of the blocks
}

const (
	minBlock = 4 << 10
	maxBlock = 256 << 10
)

func (r *rope) append(v []byte) {
	r.size += int64(len(v))
	for len(v) > 0 {
		last := len(r.blocks) - 1
		if last < 0 || len(r.blocks[last]) == cap(r.blocks[last]) {
			size := minBlock // doubled from block to block: a short chunk takes little memory, a long one few blocks
			if last >= 0 {
				size = min(maxBlock, 2*cap(r.blocks[last]))
			}
			r.blocks = append(r.blocks, bytePool.get(size))
			last++
			r.held += int64(size)
		}
		b := r.blocks[last]
		n := copy(b[len(b):cap(b)], v)
		r.blocks[last] = b[:len(b)+n]
		v = v[n:]
	}
}

// writeTo writes all bytes and gives the memory back, also when it fails: after an error the file can only be discarded.
func (r *rope) writeTo(w io.Writer) error {
	defer r.release()
	for _, b := range r.blocks {
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

func (r *rope) release() {
	for i, b := range r.blocks {
		bytePool.put(b)
		r.blocks[i] = nil
	}
	r.blocks, r.size, r.held = r.blocks[:0], 0, 0
}
