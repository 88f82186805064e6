package urlcols

import (
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/urlcore/charset"
)

// utf8 returns the values of c as UTF-8: as they are where all of them are, and else copies with U+FFFD for
// every maximal ill-formed part.
func (s *state) utf8(c *pipeline.Bytes) (data []byte, offsets []int32) {
	if allUTF8(c) {
		return c.Data, s.scratch.offsets(c.Ends)
	}
	offsets = s.scratch.takeInts(c.Len() + 1)
	offsets[0] = 0
	start := len(s.texts)
	for from := 0; from < c.Len(); from += utf8Stretch {
		to := min(from+utf8Stretch, c.Len())
		if areUTF8(c, from, to) {
			first := startOf(c, from)
			shift := int32(len(s.texts)-start) - first
			s.texts = append(s.texts, c.Data[first:c.Ends[to-1]]...)
			for i := from; i < to; i++ {
				offsets[i+1] = c.Ends[i] + shift
			}
			continue
		}
		for i := from; i < to; i++ {
			s.texts = charset.AppendUTF8(s.texts, c.At(i))
			offsets[i+1] = int32(len(s.texts) - start)
		}
	}
	return s.texts[start:len(s.texts):len(s.texts)], offsets
}

// utf8Stretch is the number of values that are looked at one by one where one of them is not UTF-8.
const utf8Stretch = 128

func startOf(c *pipeline.Bytes, i int) int32 {
	if i == 0 {
		return 0
	}
	return c.Ends[i-1]
}

// allUTF8 reports whether every value is UTF-8.
func allUTF8(c *pipeline.Bytes) bool { return areUTF8(c, 0, c.Len()) }

// areUTF8 reports whether the values in [from, to) are UTF-8. That all of them together are is not enough: one value could
// end what another began.
func areUTF8(c *pipeline.Bytes, from, to int) bool {
	if from == to {
		return true
	}
	start := startOf(c, from)
	if !utf8.Valid(c.Data[start:c.Ends[to-1]]) {
		return false
	}
	for _, end := range c.Ends[from:to] {
		if start < end && !utf8.RuneStart(c.Data[start]) {
			return false
		}
		start = end
	}
	return true
}

func (s *state) urls() *array.Data { return s.urlText(&s.batch.URLs) }

func (s *state) baseURLs() *array.Data { return s.urlText(&s.batch.Bases) }

func (s *state) urlText(c *pipeline.NullBytes) *array.Data {
	if c.Len() == 0 {
		return s.allNull(utf8Type)
	}
	valid, nulls := s.scratch.bitmap(c.Valid)
	data, offsets := s.utf8(&c.Bytes)
	return s.varData(utf8Type, s.maybe(valid), nulls, offsets, data)
}

// raw builds the column of records that the column url does not show: those with a fault, and those whose
// bytes are not UTF-8.
func (s *state) raw() *array.Data {
	b := s.batch
	n := b.Len()
	bits := s.scratch.takeBytes((n + 7) / 8)
	offsets := s.scratch.takeInts(n + 1)
	offsets[0] = 0
	nulls, fault := n, 0
	clean := allUTF8(&b.URLs.Bytes)
	if clean && len(b.Faults) == 0 {
		clear(offsets)
		return s.varData(binaryType, s.buffer(bits), nulls, offsets, nil)
	}
	start := len(s.texts)
	for i := range n {
		show := !clean && !utf8.Valid(b.URLs.At(i))
		if fault < len(b.Faults) && int(b.Faults[fault].Row) == i {
			fault++
			show = true
		}
		if show {
			if record, ok := s.guard.Raw(b, i); ok {
				s.texts = append(s.texts, record...)
				bits[i/8] |= 1 << (i % 8)
				nulls--
			}
		}
		offsets[i+1] = int32(len(s.texts) - start)
	}
	return s.varData(binaryType, s.buffer(bits), nulls, offsets, s.texts[start:len(s.texts):len(s.texts)])
}
