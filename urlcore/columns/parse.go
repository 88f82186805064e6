package columns

import (
	"github.com/urlmill/urlmill/urlcore/internal/scan"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// A batch is worked off in stretches of rows whose positions and bitmaps stay in the first caches.
const (
	stretchRows  = 1024
	stretchBytes = 128 << 10
)

// MaxURL is how long a URL may be, both as it is given and serialized: 64 MiB. It bounds what one row adds to the columns.
const MaxURL = 64 << 20

// rowMemory is about how many bytes a row takes besides its text.
const rowMemory = 64

// Parse fills dst with the URLs of a batch: URL i is data[ends[i-1]:ends[i]]. It keeps neither slice.
//
// Once dst's buffers have grown to the size of the batches it allocates nothing, except for hosts that need
// IDNA and were not seen lately. A URL of more than [MaxURL] bytes is the error [urlcore.CodeInputTooLong].
//
// An error is of kind [ErrEnds], where the ends do not ascend or lead beyond data, or [ErrTooLarge]; dst has no rows then. A byte
// that is no UTF-8 becomes nine in a serialized URL, so that nothing is too large while the URLs, with the bases that they are
// resolved against, have at most 227 MiB together.
func Parse(dst *Columns, data []byte, ends []int32) error { return dst.parseAll(data, ends, nil, nil) }

// ParseWithBases is [Parse] with a base URL for every row: that of row i is bases[baseEnds[i-1]:baseEnds[i]],
// where an empty one means none. Runs of rows with the same base are parsed against one parsed base.
func ParseWithBases(dst *Columns, data []byte, ends []int32, bases []byte, baseEnds []int32) error {
	return dst.parseAll(data, ends, bases, baseEnds)
}

// Locate finds where the parts of a batch's URLs are, without copying them: URL i is data[ends[i-1]:ends[i]]. c.Want
// says which parts are needed, and c.PSL what list is used, as for [Parse]; nothing else of c is touched. The
// result belongs to c and is valid until its next use; its spans are of data, and of its own side buffer. An error is
// as for [Parse].
func (c *Columns) Locate(data []byte, ends []int32) (*Positions, error) {
	if err := checkEnds("URL", ends, len(data)); err != nil {
		return nil, err
	}
	c.spareBuffers(len(data) + rowMemory*len(ends))
	c.prepare()
	all := &c.located
	all.reset()
	start := int32(0)
	for c.first = 0; c.first < len(ends); {
		stretch := nextStretch(ends[c.first:], start)
		c.pos.resetSide()
		c.locate(data, int(start), stretch)
		if len(all.Side)+len(c.pos.Side) > maxText { // the highest bit of a span tells the side buffer
			return nil, ErrTooLarge
		}
		all.add(&c.pos)
		c.first += len(stretch)
		start = stretch[len(stretch)-1]
	}
	all.Flags = append(all.Flags, c.pos.Flags...)
	all.ports, all.users, all.errors = append(all.ports, c.pos.ports...), append(all.users, c.pos.users...), append(all.errors, c.pos.errors...)
	return all, nil
}

func (c *Columns) parseAll(data []byte, ends []int32, bases []byte, baseEnds []int32) error {
	if err := c.check(data, ends, bases, baseEnds); err != nil {
		c.reset()
		return err
	}
	c.spareBuffers(len(data) + len(bases) + rowMemory*len(ends))
	c.reset()
	c.bases, c.baseEnds = bases, baseEnds
	safe := safeRows(data, ends)
	defer func() { c.bases, c.baseEnds, c.current = nil, nil, nil }()
	start, baseStart := int32(0), int32(0)
	for c.first = 0; c.first < len(ends); {
		stretch := nextStretch(ends[c.first:], start)
		if c.large && baseEnds != nil { // long bases would make a side buffer that spans cannot count
			stretch = stretch[:len(nextStretch(baseEnds[c.first:c.first+len(stretch)], baseStart))]
			baseStart = baseEnds[c.first+len(stretch)-1]
		}
		end := stretch[len(stretch)-1]
		c.pos.resetSide()
		c.locate(data, int(start), stretch)
		if !c.emit(data, int(end-start), min(max(safe-c.first, 0), len(stretch))) {
			c.reset()
			return ErrTooLarge
		}
		c.first += len(stretch)
		start = end
	}
	c.finish()
	return nil
}

// locate finds the positions of the rows of a stretch that begins at start.
func (c *Columns) locate(data []byte, start int, ends []int32) {
	end := int(ends[len(ends)-1])
	mapped := scan.Bitmapped() && start < end && end-start <= 2*stretchBytes
	if mapped {
		c.locateMapped(data, start, ends)
	} else {
		c.locateEach(data, start, ends)
	}
}

// safeRows returns the number of rows behind which scan.Slack bytes of data may be read.
func safeRows(data []byte, ends []int32) int {
	n := len(ends)
	for n > 0 && int(ends[n-1])+scan.Slack > cap(data) {
		n--
	}
	return n
}

// nextStretch returns the rows at the front of ends, whose text begins at start, that are worked off together. A row
// that is larger than a stretch is alone in its own.
func nextStretch(ends []int32, start int32) []int32 {
	n := min(len(ends), stretchRows)
	if ends[n-1]-start <= stretchBytes {
		return ends[:n]
	}
	low, high := 1, n // rows that fit or are one, and that do not
	for low < high {
		if mid := (low + high + 1) / 2; ends[mid-1]-start <= stretchBytes {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return ends[:low]
}

// prepare takes over what is wanted, and empties the positions.
func (c *Columns) prepare() {
	c.want = c.Want
	if c.want == 0 {
		c.want = All
	}
	if c.wantsDomains() {
		list := c.PSL
		if list == nil {
			list = psl.Default()
		}
		c.useList(list)
	}
	c.pos.reset()
}

// reset prepares for a batch and empties the columns.
func (c *Columns) reset() {
	c.prepare()
	c.Rows, c.Invalid, c.Errors = 0, 0, c.Errors[:0]
	for i := range textColumns {
		textColumns[i].get(c).reset()
	}
	for _, mask := range [...]Mask{Host, Origin, RegistrableDomain} {
		if c.isDictionary(mask) {
			c.dictionary(mask).begin()
		}
	}
	c.HasUsername.reset()
	c.Port.reset()
	c.Params.reset()
}
