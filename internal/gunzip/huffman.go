package gunzip

import (
	"encoding/binary"
	"math/bits"
)

// Entries of tables. The lowest six bits are how many bits of the input the symbol takes, with its extra bits, and bits 8 to 11 how many
// of these are its code. Bits 16 to 30 are a byte, the least length or distance, or where a table of longer codes begins. An entry
// of 0 is for codes that there are not.
const (
	isEnd     = 1 << 14
	isLiteral = 1 << 15
	isTable   = 1 << 31

	literalBits  = 11 // of the first table, which most codes have their entries in
	distanceBits = 8
	maxBits      = 15
)

// decoder has the tables of a block.
type decoder struct {
	literals  [1 << 13]uint32 // 2048 and at most 144 tables of 16
	distances [1 << 12]uint32 // 256 and at most 16 tables of 128
	// longer are masks for the bits that index tables of longer codes.
	longerLiterals, longerDistances uint64
	fixed                           bool // these are the fixed tables
	lengths                         [288 + 32]uint8
	offset                          int64 // of the input, for errors
}

// literalValues and distanceValues are the entries of symbols, without the lengths of their codes.
//
// Source: RFC 1951, section 3.2.5
var literalValues, distanceValues = func() (literals [288]uint32, distances [32]uint32) {
	for i := range 256 {
		literals[i] = isLiteral | uint32(i)<<16
	}
	literals[256] = isEnd
	for i, base := 257, uint32(3); i < 285; i++ {
		extra := uint32(max(0, (i-261)/4))
		literals[i] = base<<16 | extra
		base += 1 << extra
	}
	literals[285] = 258 << 16
	for i, base := 0, uint32(1); i < 30; i++ {
		extra := uint32(max(0, (i-2)/2))
		distances[i] = base<<16 | extra
		base += 1 << extra
	}
	return literals, distances
}()

// build makes the table of a code of symbols of these lengths, with a first table of root bits, and returns the mask of longer codes.
// It returns false where there is no such code.
func build(table []uint32, root int, lengths []uint8, values []uint32) (longer uint64, ok bool) {
	var count [maxBits + 1]int
	for _, n := range lengths {
		count[n]++
	}
	longest := maxBits
	for longest > 0 && count[longest] == 0 {
		longest--
	}
	clear(table[:1<<root])
	if longest == 0 {
		return 0, true
	}
	var next [maxBits + 1]int
	code := 0
	for n := 1; n <= longest; n++ {
		code <<= 1
		next[n] = code
		code += count[n]
	}
	if code != 1<<longest && (code != 1 || longest != 1) { // a single symbol has a code of one bit
		return 0, false
	}
	end, width := 1<<root, max(0, longest-root)
	for symbol, length := range lengths {
		n := int(length)
		if n == 0 {
			continue
		}
		reversed := int(bits.Reverse16(uint16(next[n])) >> (16 - n))
		next[n]++
		if n <= root {
			for i := reversed; i < 1<<root; i += 1 << n {
				table[i] = entry(values[symbol], n)
			}
			continue
		}
		slot := reversed & (1<<root - 1)
		if table[slot] == 0 {
			table[slot] = isTable | uint32(end)<<16
			clear(table[end : end+1<<width])
			end += 1 << width
		}
		first := int(table[slot] >> 16 & 0x7fff)
		for i := reversed >> root; i < 1<<width; i += 1 << (n - root) {
			table[first+i] = entry(values[symbol], n-root)
		}
	}
	return 1<<width - 1, true
}

// entry adds the length of a code to a value, 0 for the symbols that no stream has.
func entry(value uint32, n int) uint32 {
	if value == 0 {
		return 0
	}
	return value + uint32(n) | uint32(n)<<8
}

func (d *Reader) useFixed() {
	if d.fixed {
		return
	}
	for i := range 288 {
		switch {
		case i < 144:
			d.lengths[i] = 8
		case i < 256:
			d.lengths[i] = 9
		case i < 280:
			d.lengths[i] = 7
		default:
			d.lengths[i] = 8
		}
	}
	for i := range 32 {
		d.lengths[288+i] = 5
	}
	d.longerLiterals, _ = build(d.literals[:], literalBits, d.lengths[:288], literalValues[:])
	d.longerDistances, _ = build(d.distances[:], distanceBits, d.lengths[288:], distanceValues[:])
	d.fixed = true
}

var lengthOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// lengthValues are the entries of the symbols of lengths.
var lengthValues = func() (values [19]uint32) {
	for i := range values {
		values[i] = isLiteral | uint32(i)<<16
	}
	return values
}()

// readTables reads the tables of a block.
//
// Source: RFC 1951, section 3.2.7
func (d *Reader) readTables() bool {
	d.fixed = false
	literals, distances, n := int(d.take(5))+257, int(d.take(5))+1, int(d.take(4))+4
	if literals > 286 || distances > 30 {
		return false
	}
	var lengths [19]uint8
	for _, at := range lengthOrder[:n] {
		lengths[at] = uint8(d.take(3))
	}
	if _, ok := build(d.literals[:], 7, lengths[:], lengthValues[:]); !ok {
		return false
	}
	all := d.lengths[:literals+distances]
	for i := 0; i < len(all); {
		if d.nb < 14 {
			d.fill()
		}
		e := d.literals[d.bits&127]
		if e == 0 || d.pad > d.nb {
			return false
		}
		d.take(uint(e & 63))
		symbol := uint8(e >> 16)
		if symbol < 16 {
			all[i] = symbol
			i++
			continue
		}
		var again int
		var value uint8
		switch symbol {
		case 16:
			if i == 0 {
				return false
			}
			again, value = 3+int(d.take(2)), all[i-1]
		case 17:
			again = 3 + int(d.take(3))
		default:
			again = 11 + int(d.take(7))
		}
		if again > len(all)-i {
			return false
		}
		for range again {
			all[i] = value
			i++
		}
	}
	var ok, valid bool
	d.longerLiterals, ok = build(d.literals[:], literalBits, all[:literals], literalValues[:])
	d.longerDistances, valid = build(d.distances[:], distanceBits, all[literals:], distanceValues[:])
	return ok && valid && all[256] > 0
}

// symbols decodes until the block ends, or there is no room.
func (d *Reader) symbols() {
	const (
		literalMask  = 1<<literalBits - 1
		distanceMask = 1<<distanceBits - 1
	)
	// All that changes is in variables, which the compiler keeps in registers.
	literals, distances := &d.literals, &d.distances
	src, pos, in, nb, out, w := d.src, d.pos, d.bits, d.nb, d.out, d.w
	limit := len(out) - slack
	for w <= limit {
		// 56 bits or more are enough for two codes of the first table, and a length with its extra bits.
		if len(src)-pos >= 8 {
			in |= binary.LittleEndian.Uint64(src[pos:]) << (nb & 63)
			pos += int((63 - nb) >> 3)
			nb |= 56
		} else {
			d.pos, d.bits, d.nb = pos, in, nb
			d.fill()
			src, pos, in, nb = d.src, d.pos, d.bits, d.nb
			if d.pad > nb {
				break
			}
		}
		e := literals[in&literalMask]
		if e&isLiteral != 0 && d.pad == 0 {
			in >>= e & 63
			nb -= uint(e & 63)
			out[w] = byte(e >> 16)
			w++
			if e = literals[in&literalMask]; e&isLiteral != 0 {
				in >>= e & 63
				nb -= uint(e & 63)
				out[w] = byte(e >> 16)
				w++
				e = literals[in&literalMask]
			}
		}
		if e&isTable != 0 {
			in >>= literalBits
			nb -= literalBits
			e = literals[(uint64(e>>16&0x7fff)+in&d.longerLiterals)&uint64(len(literals)-1)]
		}
		code, all := e>>8&15, e&63
		extra := in >> code & (1<<(all-code) - 1)
		in >>= all
		nb -= uint(all)
		if d.pad > nb {
			break
		}
		if e&isLiteral != 0 {
			out[w] = byte(e >> 16)
			w++
			continue
		}
		if e&isEnd != 0 || e == 0 {
			if e == 0 {
				d.pos, d.bits, d.nb = pos, in, nb
				d.w = w
				d.corruptUnlessEnded()
				return
			}
			d.state = block
			break
		}
		length := int(e>>16) + int(extra)

		if len(src)-pos >= 8 {
			in |= binary.LittleEndian.Uint64(src[pos:]) << (nb & 63)
			pos += int((63 - nb) >> 3)
			nb |= 56
		} else {
			d.pos, d.bits, d.nb = pos, in, nb
			d.fill()
			src, pos, in, nb = d.src, d.pos, d.bits, d.nb
		}
		e = distances[in&distanceMask]
		if e&isTable != 0 {
			in >>= distanceBits
			nb -= distanceBits
			e = distances[(uint64(e>>16&0x7fff)+in&d.longerDistances)&uint64(len(distances)-1)]
		}
		code, all = e>>8&15, e&63
		distance := int(e>>16) + int(in>>code&(1<<(all-code)-1))
		in >>= all
		nb -= uint(all)
		if e == 0 || distance > w-d.from || d.pad > nb {
			d.pos, d.bits, d.nb = pos, in, nb
			d.w = w
			d.corruptUnlessEnded()
			return
		}
		end := w + length
		switch at := w - distance; {
		case distance >= 8:
			for ; w < end; w, at = w+8, at+8 {
				binary.LittleEndian.PutUint64(out[w:], binary.LittleEndian.Uint64(out[at:]))
			}
		default:
			for ; w < end; w, at = w+1, at+1 {
				out[w] = out[at]
			}
		}
		w = end
	}
	d.pos, d.bits, d.nb, d.w = pos, in, nb, w
}
