package main

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
)

// Numbers that decoders do not like.
var edges = []uint64{0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 40, 1<<63 - 1, 1 << 63, 1<<64 - 1}

// mutate returns data with one to six things changed.
func mutate(r *rand.Rand, data []byte) []byte {
	out := bytes.Clone(data)
	for range 1 + r.IntN(6) {
		if len(out) < 16 {
			out = append(out, make([]byte, 16)...)
		}
		at := r.IntN(len(out))
		if r.IntN(3) == 0 { // where footers are
			at = len(out) - 1 - r.IntN(min(len(out), 2048))
		}
		switch r.IntN(9) {
		case 0:
			out[at] ^= 1 << r.IntN(8)
		case 1:
			out[at] = byte(r.Uint32())
		case 2:
			n := min(4, len(out)-at)
			copy(out[at:at+n], binary.LittleEndian.AppendUint32(nil, uint32(edges[r.IntN(len(edges))])))
		case 3:
			n := min(8, len(out)-at)
			copy(out[at:at+n], binary.LittleEndian.AppendUint64(nil, edges[r.IntN(len(edges))]))
		case 4: // a varint
			out = append(out[:at:at], append(binary.AppendUvarint(nil, edges[r.IntN(len(edges))]), out[at+1:]...)...)
		case 5: // a piece is not there
			out = append(out[:at:at], out[min(len(out), at+1+r.IntN(64)):]...)
		case 6: // or twice
			end := min(len(out), at+1+r.IntN(256))
			out = append(out[:end:end], out[at:]...)
		case 7:
			out = out[:at+1]
		case 8: // or elsewhere
			n := min(len(out)-at, 1+r.IntN(64))
			copy(out[r.IntN(len(out)-n+1):], bytes.Clone(out[at:at+n]))
		}
	}
	return out
}

// mutateText changes a text by its words and lines, so that more of it gets past what reads the syntax.
func mutateText(r *rand.Rand, data []byte) []byte {
	if r.IntN(3) == 0 {
		return mutate(r, data)
	}
	words := [][]byte{
		[]byte("\x00"), []byte("\x1b[31m"), []byte("\u202e"), []byte("\xff\xfe"), []byte("{"), []byte("["), []byte("\""), []byte("- "), []byte(": "),
		[]byte("99999999999999999999"), []byte("-1"), []byte("null"), []byte("1e999"), []byte("~"), []byte("${HOME}"), []byte("<<: *a"), []byte("\r"),
		bytes.Repeat([]byte("9"), 5000), bytes.Repeat([]byte("["), 3000), bytes.Repeat([]byte("a,"), 3000), []byte("https://xn--a.example/"),
	}
	lines := bytes.SplitAfter(bytes.Clone(data), []byte("\n"))
	for range 1 + r.IntN(8) {
		i, j := r.IntN(len(lines)), r.IntN(len(lines))
		switch r.IntN(4) {
		case 0:
			lines[i], lines[j] = lines[j], lines[i]
		case 1:
			lines[i] = append(bytes.Clone(lines[j]), lines[i]...)
		default:
			at := 0
			if len(lines[i]) > 0 {
				at = r.IntN(len(lines[i]))
			}
			lines[i] = append(append(bytes.Clone(lines[i][:at]), words[r.IntN(len(words))]...), lines[i][at:]...)
		}
	}
	return bytes.Join(lines, nil)
}
