package encode

import "encoding/binary"

// levels builds definition or repetition levels of a page in the format's hybrid of run lengths and bit packing
// (Encodings.md, "RLE/Bit-Packing Hybrid") from runs, without a number per entry. Packed runs have up to 63 groups of
// eight, so that their header is one byte that can be reserved.
//
// Entries are in up to three places, the oldest first: in buf, in group, and in the open run. Whatever goes into group
// or buf therefore closes the open run before. Only the last group of a page may have fewer than eight levels, since the
// format counts packed levels by groups; the reader knows from the header of the page how many entries there are.
type levels struct {
	buf   []byte
	width uint // bits of a level, 1 to 8

	run  byte // the level of the open run
	runN int  // its length; 0 if no run is open

	group  uint64 // levels that wait until there are eight, the first in the lowest bits
	groupN uint   // 0 to 7 between calls
	header int    // position of the header of the open packed run, -1 if there is none
	groups int    // in it
}

func (l *levels) reset() {
	l.buf = l.buf[:0]
	l.runN, l.group, l.groupN, l.header, l.groups = 0, 0, 0, -1, 0
}

// add adds n entries of the level v.
func (l *levels) add(v byte, n int) {
	if n == 0 {
		return
	}
	if v == l.run {
		l.runN += n
		return
	}
	l.close()
	l.run, l.runN = v, n
}

// close ends the open run. Its first levels fill the open group of eight. The rest becomes a run if it is long enough for
// its two bytes, and the end of the packed run around it, to be worth it.
func (l *levels) close() {
	n := l.runN
	l.runN = 0
	if n == 0 {
		return
	}
	fill := int(-l.groupN & 7)
	if n < fill+16 {
		l.pack(n)
		return
	}
	l.pack(fill)
	l.endPacked()
	n -= fill
	l.buf = binary.AppendUvarint(l.buf, uint64(n)<<1)
	l.buf = append(l.buf, l.run)
}

// pack packs n entries of the open run, as many at once as fit.
func (l *levels) pack(n int) {
	if n == 0 {
		return
	}
	most := (64 - 7*l.width) / l.width           // up to seven levels wait in group already
	pattern := uint64(l.run) * everyBit[l.width] // the level again and again
	for n > 0 {
		k := min(uint(n), most)
		n -= int(k)
		l.group |= pattern & (1<<(k*l.width) - 1) << (l.groupN * l.width)
		for l.groupN += k; l.groupN >= 8; l.groupN -= 8 {
			l.putGroup()
		}
	}
}

// everyBit has, for a width, each bit set whose number is a multiple of it.
var everyBit = [9]uint64{
	1: ^uint64(0), 2: 0x5555555555555555, 3: 0x9249249249249249, 4: 0x1111111111111111,
	5: 0x1084210842108421, 6: 0x1041041041041041, 7: 0x8102040810204081, 8: 0x0101010101010101,
}

// chunk adds n levels like bits, but as a run where they are all the same. all is the pattern of n equal levels.
func (l *levels) chunk(pattern uint64, n uint, all uint64) {
	if pattern == all {
		l.add(byte(all&(1<<l.width-1)), int(n))
		return
	}
	l.bits(pattern, n)
}

// bits adds n levels of at most four bits that are packed into 32 bits or fewer, the first in the lowest. More would not
// fit into group, where seven levels, up to 28 bits, may wait.
func (l *levels) bits(pattern uint64, n uint) {
	if l.runN > 0 {
		l.close()
	}
	l.group |= pattern << (l.groupN * l.width)
	for l.groupN += n; l.groupN >= 8; l.groupN -= 8 {
		l.putGroup()
	}
}

// openPacked opens a packed run unless one is open that has room for a group.
func (l *levels) openPacked() {
	if l.header < 0 || l.groups == 63 {
		l.endPacked()
		l.header = len(l.buf)
		l.buf = append(l.buf, 0)
	}
}

// putGroup writes the eight levels in the lowest bits of group, and removes them from it.
func (l *levels) putGroup() {
	l.openPacked()
	for range l.width {
		l.buf = append(l.buf, byte(l.group))
		l.group >>= 8
	}
	l.groups++
}

func (l *levels) endPacked() {
	if l.header >= 0 {
		l.buf[l.header] = byte(l.groups<<1 | 1)
	}
	l.header, l.groups = -1, 0
}

// finish returns the levels. They alias the memory of l and are valid until its next reset.
func (l *levels) finish() []byte {
	// A run may have any length, so the last one stays a run however short it is, unless levels wait in group: close fills
	// those up from it.
	if l.groupN == 0 && l.runN > 0 {
		l.endPacked()
		l.buf = binary.AppendUvarint(l.buf, uint64(l.runN)<<1)
		l.buf = append(l.buf, l.run)
		l.runN = 0
	}
	l.close()
	if l.groupN > 0 { // filled up with zeros
		l.putGroup()
		l.groupN = 0
	}
	l.endPacked()
	return l.buf
}

// appendIndices appends dictionary indices in the same hybrid. They have width bits at most.
//
// Runs are looked for at every eighth index behind the last one alone, so that what is packed between two of them is whole
// groups. A run has to have 32 indices to be worth ending the packed run for.
func appendIndices(dst []byte, ids []uint32, width uint) []byte {
	packed := 0 // indices before this one are written
	for i := 0; i+8 <= len(ids); {
		if !sameEight(ids[i:]) {
			i += 8
			continue
		}
		end := i + 8
		for end < len(ids) && ids[end] == ids[i] {
			end++
		}
		if end-i < 32 {
			i += 8
			continue
		}
		dst = appendPacked(dst, ids[packed:i], width)
		dst = binary.AppendUvarint(dst, uint64(end-i)<<1)
		for shift := uint(0); shift < width; shift += 8 {
			dst = append(dst, byte(ids[i]>>shift))
		}
		i, packed = end, end
	}
	return appendPacked(dst, ids[packed:], width)
}

func sameEight(v []uint32) bool {
	_ = v[7] // one check of bounds instead of eight
	return v[0] == v[1] && v[0] == v[2] && v[0] == v[3] && v[0] == v[4] && v[0] == v[5] && v[0] == v[6] && v[0] == v[7]
}

// appendPacked appends a packed run, filled up with zeros to a multiple of eight.
func appendPacked(dst []byte, ids []uint32, width uint) []byte {
	if len(ids) == 0 {
		return dst
	}
	groups := (len(ids) + 7) / 8
	dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
	end := len(dst) + groups*int(width)
	var acc uint64
	var n uint // bits in acc, fewer than 32 before each index
	for _, id := range ids {
		acc |= uint64(id) << n
		if n += width; n >= 32 {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(acc))
			acc >>= 32
			n -= 32
		}
	}
	for ; len(dst) < end; acc >>= 8 {
		dst = append(dst, byte(acc))
	}
	return dst
}
