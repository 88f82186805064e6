package columns

// Buffers are kept from batch to batch, so that batches of like sizes allocate nothing. One giant URL must not keep its
// memory for ever: when all of patience batches are less than a spare part of the largest, and that is of a size that
// matters, all buffers go, and grow anew to what is needed now.
const (
	patience = 16
	spare    = 8
	matters  = 1 << 20
)

// sizes remembers how large batches were.
type sizes struct {
	largest int // since buffers went last
	small   int // how many batches in a row were much smaller
	recent  int // the largest of them
}

// next takes in the size of a batch and reports whether the buffers are to go.
func (s *sizes) next(size int) bool {
	if s.largest < matters || size >= s.largest/spare {
		s.largest, s.small, s.recent = max(s.largest, size), 0, 0
		return false
	}
	s.small++
	s.recent = max(s.recent, size)
	if s.small < patience {
		return false
	}
	*s = sizes{largest: s.recent}
	return true
}

// spareBuffers drops all buffers if they are much larger than the batches of late. size is that of the next one in bytes.
func (c *Columns) spareBuffers(size int) {
	if c.sizes.next(size) {
		*c = Columns{
			Want: c.Want, Dictionaries: c.Dictionaries, PSL: c.PSL, Hosts: c.Hosts, Origins: c.Origins, RegistrableDomains: c.RegistrableDomains,
			list: c.list, filter: c.filter, hosts: c.hosts, sizes: c.sizes,
		}
	}
}
