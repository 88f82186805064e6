package pqread

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/parquet-go/parquet-go/format"
)

func isDictionary(e format.Encoding) bool {
	return e == format.RLEDictionary || e == format.PlainDictionary //nolint:staticcheck // files of before 2.0 have it
}

// slack is how many values more than a page has its runs may have: the last group of eight is filled up, by some writers a
// run of 63 groups, for which this leaves room.
const slack = 4096

// checkBody compares the counts within a page with the number of its values, before the library allocates by them.
func (s *stream) checkBody(h *header, data []byte) error {
	most := h.values + slack
	if !h.data() {
		return nil // a dictionary is PLAIN, whose values have their bytes
	}
	data, err := s.checkLevels(h, data, most)
	if err != nil {
		return fmt.Errorf("levels: %w", err)
	}
	if len(data) == 0 {
		return nil
	}
	switch {
	case isDictionary(h.encoding):
		if data[0] > 32 {
			return fmt.Errorf("indexes of %d bits", data[0])
		}
		err = checkRuns(data[1:], uint(data[0]), most)
	case h.encoding == format.RLE && len(data) >= 4: // booleans
		err = checkRuns(data[4:], 1, most)
	case h.encoding == format.DeltaBinaryPacked, h.encoding == format.DeltaLengthByteArray:
		_, _, err = openDeltas(data, most)
	case h.encoding == format.DeltaByteArray:
		err = s.checkPrefixes(data, most)
	}
	return err
}

// checkLevels compares the counts of levels, and returns what follows them.
func (s *stream) checkLevels(h *header, data []byte, most int64) ([]byte, error) {
	if h.typ == format.DataPageV2 {
		rep, def := h.repLevels, h.defLevels
		if rep+def > int64(len(data)) {
			return nil, errShort
		}
		if s.repeated > 0 {
			if err := checkRuns(data[:rep], widthOf(s.repeated), most); err != nil {
				return nil, err
			}
		}
		if s.optional > 0 {
			if err := checkRuns(data[rep:rep+def], widthOf(s.optional), most); err != nil {
				return nil, err
			}
		}
		return data[rep+def:], nil
	}
	for _, l := range []struct {
		highest  int
		encoding int64
	}{{s.repeated, h.repLevels}, {s.optional, h.defLevels}} {
		if l.highest == 0 {
			continue
		}
		if len(data) < 4 {
			return nil, errShort
		}
		n := int64(binary.LittleEndian.Uint32(data))
		if n > int64(len(data)-4) {
			return nil, errShort
		}
		if format.Encoding(l.encoding) == format.RLE {
			if err := checkRuns(data[4:4+n], widthOf(l.highest), most); err != nil {
				return nil, err
			}
		}
		data = data[4+n:]
	}
	return data, nil
}

// widthOf returns how many bits a level has.
func widthOf(highest int) uint { return uint(bits.Len(uint(highest))) }

// errMoreValues is the error of a page whose values are more than its header says.
var errMoreValues = errors.New("it has more values than its header says")

// checkRuns goes over the runs of the hybrid of RLE and bit-packing, which have at most so many values.
func checkRuns(data []byte, width uint, most int64) error {
	for n := int64(0); len(data) > 0; {
		u, k := binary.Uvarint(data)
		if k <= 0 || u>>1 > math.MaxInt32 {
			return fmt.Errorf("%w: the length of a run", errMalformed)
		}
		data = data[k:]
		count, size := int64(u>>1), int64(width+7)/8
		if u&1 != 0 {
			count, size = count*8, count*int64(width)
		}
		if n += count; n > most {
			return errMoreValues
		}
		data = data[min(size, int64(len(data))):]
	}
	return nil
}

// deltas reads DELTA_BINARY_PACKED.
//
// https://parquet.apache.org/docs/file-format/data-pages/encodings/#DELTAENC
type deltas struct {
	miniblocks, perBlock int   // in a block, values in a miniblock
	total                int64 // values
	first                int64
}

// openDeltas reads the header, which may tell of so many values, and returns what follows it.
func openDeltas(data []byte, most int64) (d deltas, rest []byte, err error) {
	var head [3]uint64
	for i := range head {
		u, k := binary.Uvarint(data)
		if k <= 0 || u > math.MaxInt32 {
			return d, nil, fmt.Errorf("%w: the header of deltas", errMalformed)
		}
		head[i], data = u, data[k:]
	}
	first, k := binary.Varint(data)
	if k <= 0 || head[1] == 0 || head[0]/head[1] == 0 {
		return d, nil, fmt.Errorf("%w: the header of deltas", errMalformed)
	}
	if int64(head[2]) > most {
		return d, nil, errMoreValues
	}
	return deltas{int(head[1]), int(head[0] / head[1]), int64(head[2]), first}, data[k:], nil
}

// sum returns the sum of the values, which are lengths, and what follows them.
func (d deltas) sum(data []byte) (sum int64, rest []byte, err error) {
	if d.total == 0 {
		return 0, data, nil
	}
	value := int32(d.first)
	add := func(delta int64) error {
		if value += int32(delta); value < 0 {
			return fmt.Errorf("%w: a length of %d", errMalformed, value)
		}
		sum += int64(value)
		return nil
	}
	if err := add(0); err != nil {
		return 0, nil, err
	}
	for left := d.total - 1; left > 0; {
		low, k := binary.Varint(data)
		if k <= 0 || len(data) < k+d.miniblocks {
			return 0, nil, errShort
		}
		widths := data[k : k+d.miniblocks]
		data = data[k+d.miniblocks:]
		for _, width := range widths {
			n := min(int64(d.perBlock), left)
			block := data[:min(len(data), d.perBlock*int(width)/8)]
			if width > 64 || int64(len(block))*8 < n*int64(width) {
				return 0, nil, errShort
			}
			for i := range n {
				if err := add(low + int64(bitsAt(block, int(i)*int(width), uint(width)))); err != nil {
					return 0, nil, err
				}
			}
			data = data[len(block):]
			if left -= n; left == 0 {
				break
			}
		}
	}
	return sum, data, nil
}

// bitsAt returns the width bits of data from a bit on, of which the lowest comes first, without those above the 32nd.
func bitsAt(data []byte, bit int, width uint) uint32 {
	var v uint64
	for i, b := range data[bit/8 : min(len(data), (bit+int(width)+7)/8)] {
		if i == 8 {
			break // what it has of 32 bits is there
		}
		v |= uint64(b) << (8 * i)
	}
	v >>= bit % 8
	if width < 32 {
		v &= 1<<width - 1
	}
	return uint32(v)
}

// checkPrefixes compares the lengths of DELTA_BYTE_ARRAY with the limit: each value may be the one before once more, so that
// a few bytes become as many as there are values times their length.
func (s *stream) checkPrefixes(data []byte, most int64) error {
	total := int64(0)
	for range 2 { // the lengths of the prefixes, and of what follows them
		d, rest, err := openDeltas(data, most)
		if err != nil {
			return err
		}
		sum, rest, err := d.sum(rest)
		if err != nil {
			return err
		}
		total, data = total+sum, rest
	}
	if total > s.limit {
		return tooLarge(total, s.limit)
	}
	return nil
}
