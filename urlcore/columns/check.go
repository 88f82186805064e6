package columns

import (
	"errors"
	"fmt"
	"math"
)

// ErrEnds is the kind of error of a batch whose ends do not lead through its text.
var ErrEnds = errors.New("ends that do not lead through the text")

// ErrTooLarge is the error of a batch of which a column, or a dictionary with the values that it has already, would have more bytes
// than 32-bit offsets can count. A single URL is never too large.
var ErrTooLarge = errors.New("a column of the URLs would have more than 2 GiB; parse fewer of them at a time")

// maxText is how long a column may become. It is a variable for tests.
var maxText = math.MaxInt32

// maxGrowth is what a byte of a URL, or of the base that it is resolved against, can become in a column: the U+FFFD of an ill-formed
// byte is nine when it is percent-encoded.
const maxGrowth = 9

// checkEnds returns an error if ends do not ascend from 0 to size at most. The kernels do not check what they are given: an end
// elsewhere would make them read and write beside the buffers.
func checkEnds(what string, ends []int32, size int) error {
	if ascend(ends) && (len(ends) == 0 || int(ends[len(ends)-1]) <= size) {
		return nil
	}
	before := int32(0)
	for i, end := range ends {
		if end < before || int(end) > size {
			return fmt.Errorf("columns: %w: %s %d is from byte %d to byte %d of %d", ErrEnds, what, i, before, end, size)
		}
		before = end
	}
	return nil
}

// ascend reports whether ends ascend from 0: no difference of two has a sign. It has no branch for an
// end, as every batch goes through it.
func ascend(ends []int32) bool {
	signs, before := int64(0), int64(0)
	for len(ends) >= 4 {
		a, b, c, d := int64(ends[0]), int64(ends[1]), int64(ends[2]), int64(ends[3])
		signs |= (a - before) | (b - a) | (c - b) | (d - c)
		before, ends = d, ends[4:]
	}
	for _, end := range ends {
		signs |= int64(end) - before
		before = int64(end)
	}
	return signs >= 0
}

// check returns an error for a batch that cannot be parsed. It notes whether the columns may become too large, which emitting looks
// after then.
func (c *Columns) check(data []byte, ends []int32, bases []byte, baseEnds []int32) error {
	if err := checkEnds("URL", ends, len(data)); err != nil {
		return err
	}
	if baseEnds != nil {
		if len(baseEnds) != len(ends) {
			return fmt.Errorf("columns: %w: %d URLs and %d bases", ErrEnds, len(ends), len(baseEnds))
		}
		if err := checkEnds("base", baseEnds, len(bases)); err != nil {
			return err
		}
	}
	held := 0
	for _, mask := range [...]Mask{Host, Origin, RegistrableDomain} {
		if c.isDictionary(mask) {
			held = max(held, len(c.dictionary(mask).Values.Data))
		}
	}
	// A URL without a path gets one.
	c.large = held+maxGrowth*(len(data)+len(bases))+len(ends) > maxText
	return nil
}

// fits reports whether every column that is wanted has room for n more bytes.
func (c *Columns) fits(n int) bool {
	if !c.large {
		return true
	}
	for i := range textColumns {
		col := &textColumns[i]
		t := col.get(c)
		if c.isDictionary(col.mask) {
			t = &c.dictionary(col.mask).Values
		}
		if c.want&col.mask != 0 && len(t.Data)+n > maxText {
			return false
		}
	}
	return c.want&Params == 0 || max(len(c.Params.Keys.Data), len(c.Params.Values.Data))+n <= maxText
}
