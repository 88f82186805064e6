package encode

import (
	"encoding/binary"
	"math/bits"
)

// Blocks of DELTA_BINARY_PACKED (Encodings.md): 128 deltas in four miniblocks of 32, as other writers have them.
const (
	deltaBlock = 128
	deltaMini  = 32
	deltaMinis = deltaBlock / deltaMini
)

type integer interface{ int32 | int64 }

// appendDelta appends values as DELTA_BINARY_PACKED. Differences wrap around, which the format allows for: readers add them
// in the width of the column and wrap around in turn.
func appendDelta[T integer](dst []byte, values []T) []byte {
	dst = binary.AppendUvarint(dst, deltaBlock)
	dst = binary.AppendUvarint(dst, deltaMinis)
	dst = binary.AppendUvarint(dst, uint64(len(values)))
	var first T
	if len(values) > 0 {
		first = values[0]
	}
	dst = binary.AppendVarint(dst, int64(first))
	var block [deltaBlock]T
	for i := 1; i < len(values); i += deltaBlock {
		n := min(deltaBlock, len(values)-i)
		prev, least := values[i-1], values[i]-values[i-1]
		for j, v := range values[i : i+n] {
			d := v - prev
			prev = v
			block[j] = d
			least = min(least, d)
		}
		dst = appendDeltaBlock(dst, block[:n], least)
	}
	return dst
}

// appendDeltaBlock appends one block of 1 to 128 deltas, which it overwrites.
func appendDeltaBlock[T integer](dst []byte, deltas []T, least T) []byte {
	dst = binary.AppendVarint(dst, int64(least))
	widths := len(dst)
	dst = append(dst, 0, 0, 0, 0) // a width for each of deltaMinis; those without a delta stay 0 and have no bytes
	for m := 0; m*deltaMini < len(deltas); m++ {
		mini := deltas[m*deltaMini : min(len(deltas), (m+1)*deltaMini)]
		var all T
		for i := range mini {
			mini[i] -= least
			all |= mini[i]
		}
		width := bitsOf(all)
		dst[widths+m] = byte(width)
		if width <= 32 {
			dst = packNarrow(dst, mini, width)
		} else {
			dst = packWide(dst, mini, width)
		}
	}
	return dst
}

// bitsOf returns the bits that a difference has as an unsigned number.
func bitsOf[T integer](v T) uint {
	if v32, ok := any(v).(int32); ok {
		return uint(bits.Len32(uint32(v32)))
	}
	return uint(bits.Len64(uint64(v)))
}

// packNarrow appends a miniblock of up to 32 values of up to 32 bits.
func packNarrow[T integer](dst []byte, mini []T, width uint) []byte {
	end := len(dst) + int(width)*deltaMini/8 // a miniblock is whole in the file, however few values it has
	var acc uint64
	var n uint
	for _, v := range mini {
		acc |= uint64(uint32(v)) << n
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

// packWide appends a miniblock of up to 32 values of more than 32 bits.
func packWide[T integer](dst []byte, mini []T, width uint) []byte {
	end := len(dst) + int(width)*deltaMini/8
	var acc uint64
	var n uint
	for _, v := range mini {
		u := uint64(v)
		acc |= u << n
		if n += width; n >= 64 {
			dst = binary.LittleEndian.AppendUint64(dst, acc)
			n -= 64
			acc = u >> (width - n) // the n bits of u that did not fit
		}
	}
	for ; len(dst) < end; acc >>= 8 {
		dst = append(dst, byte(acc))
	}
	return dst
}
