package take

// Scratch lends slices from memory that is used again. Its zero value is ready.
type Scratch[T any] struct {
	slices [][]T
	lent   int
}

// Take returns a slice of length n, whose contents are undefined. It is the caller's until the next Reset.
func (s *Scratch[T]) Take(n int) []T {
	if s.lent == len(s.slices) {
		s.slices = append(s.slices, nil)
	}
	if cap(s.slices[s.lent]) < n {
		s.slices[s.lent] = make([]T, n+n/4)
	}
	s.lent++
	return s.slices[s.lent-1][:n]
}

// Reset takes back all that has been lent.
func (s *Scratch[T]) Reset() { s.lent = 0 }

// Cap returns how many values there is memory for.
func (s *Scratch[T]) Cap() (n int) {
	for _, slice := range s.slices {
		n += cap(slice)
	}
	return n
}
