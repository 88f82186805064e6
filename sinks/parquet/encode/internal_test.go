package encode

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestBounds compares cut bounds with what they are to bound.
func TestBounds(t *testing.T) {
	values := []string{
		"", "a", "zz", strings.Repeat("a", 64), strings.Repeat("a", 65), strings.Repeat("z", 200),
		strings.Repeat("\xff", 70), strings.Repeat("a", 10) + strings.Repeat("\xff", 90), strings.Repeat("ä", 40),
		strings.Repeat("漢", 50), strings.Repeat("🎉", 30), strings.Repeat("\U0010ffff", 20), "a" + strings.Repeat("\U0010ffff", 20),
		strings.Repeat("a", 61) + "\ud7ff" + "bbbbb", strings.Repeat("\ud7ff", 30), strings.Repeat("x", 62) + "🎉🎉",
	}
	for _, text := range []bool{false, true} {
		c := &column{order: bytewise, text: text}
		for _, s := range values {
			v := []byte(s)
			lo, exactLo := c.lower(v, indexBound)
			hi, exactHi, ok := c.upper([]byte("before"), v, indexBound)
			if bytes.Compare(lo, v) > 0 || exactLo != (string(lo) == s) || len(lo) > indexBound {
				t.Errorf("%q: lower bound %q, exact %t", s, lo, exactLo)
			}
			if !ok {
				if strings.TrimRight(strings.Trim(s, "\U0010ffff"), string([]byte{0xff})) != "" {
					t.Errorf("%q has no upper bound", s)
				}
				continue
			}
			hi = hi[len("before"):]
			if bytes.Compare(hi, v) < 0 || exactHi != (string(hi) == s) || len(hi) > indexBound+1 {
				t.Errorf("%q: upper bound %q, exact %t", s, hi, exactHi)
			}
			if text && utf8.ValidString(s) && (!utf8.Valid(lo) || !utf8.Valid(hi)) {
				t.Errorf("%q: bounds %q and %q are no UTF-8", s, lo, hi)
			}
		}
	}
}

// TestBoundsOfTexts compares the fast way to the least and greatest value with sorting.
func TestBoundsOfTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var data []byte
		var lens []int32
		var all []string
		prefix := strings.Repeat("ab", r.IntN(8))
		for range 1 + r.IntN(30) {
			v := prefix
			for range r.IntN(12) {
				v += string([]byte{0, 'a', 'b', 0xff}[r.IntN(4)])
			}
			data, lens, all = append(data, v...), append(lens, int32(len(v))), append(all, v)
		}
		lo, hi := boundsOfTexts(padded(data), lens)
		if string(lo) != slices.Min(all) || string(hi) != slices.Max(all) {
			t.Fatalf("%q: bounds %q and %q", all, lo, hi)
		}
	}
}

// TestLevels decodes random runs of levels.
func TestLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 3000 {
		l := levels{width: uint(1 + i%4)}
		l.reset()
		var want []byte
		for range r.IntN(20) {
			if r.IntN(3) == 0 {
				n := uint(r.IntN(32/int(l.width) + 1))
				all := everyBit[l.width] & (1<<(n*l.width) - 1)
				pattern := []uint64{r.Uint64(), 0, all}[r.IntN(3)] & (1<<(n*l.width) - 1)
				if l.chunk(pattern, n, all); r.IntN(2) == 0 {
					l.bits(0, 0)
				}
				for j := range n {
					want = append(want, byte(pattern>>(j*l.width)&(1<<l.width-1)))
				}
				continue
			}
			v, n := byte(r.IntN(1<<l.width)), []int{0, 1, 2, 7, 8, 9, 30, 700}[r.IntN(8)]
			l.add(v, n)
			for range n {
				want = append(want, v)
			}
		}
		got := decodeHybrid(t, l.finish(), l.width, len(want))
		for j, v := range want {
			if got[j] != uint32(v) {
				t.Fatalf("width %d: level %d is %d, want %d", l.width, j, got[j], v)
			}
		}
	}
}

// TestIndices does the same for dictionary indices.
func TestIndices(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for width := uint(1); width <= 20; width++ {
		for range 50 {
			var ids []uint32
			for range r.IntN(20) {
				id := r.Uint32N(1 << width)
				for range []int{1, 3, 8, 31, 32, 100}[r.IntN(6)] {
					ids = append(ids, id)
				}
			}
			got := decodeHybrid(t, appendIndices(nil, ids, width), width, len(ids))
			if !slices.Equal(got[:len(ids)], ids) {
				t.Fatalf("width %d: got %v, want %v", width, got, ids)
			}
		}
	}
}

// decodeHybrid is the specification's decoder, one bit at a time. What a packed run is filled up with comes with it.
func decodeHybrid(t *testing.T, b []byte, width uint, n int) (out []uint32) {
	t.Helper()
	varint := func() (v int) {
		for shift := 0; ; shift += 7 {
			c := b[0]
			b = b[1:]
			if v |= int(c&0x7f) << shift; c < 0x80 {
				return v
			}
		}
	}
	for len(b) > 0 {
		header := varint()
		if header&1 == 0 {
			v := uint32(0)
			for i := range (width + 7) / 8 {
				v |= uint32(b[i]) << (8 * i)
			}
			b = b[(width+7)/8:]
			out = append(out, slices.Repeat([]uint32{v}, header>>1)...)
			continue
		}
		bits := uint(header>>1) * 8
		for i := range bits {
			v := uint32(0)
			for j := range width {
				at := i*width + j
				v |= uint32(b[at/8]>>(at%8)&1) << j
			}
			out = append(out, v)
		}
		b = b[bits*width/8:]
	}
	if len(out) < n {
		t.Fatalf("%d of %d values", len(out), n)
	}
	return out
}

// TestInterner compares numbers with those of a map, in both ways of looking up.
func TestInterner(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var d interner
	want := map[string]uint32{}
	for round := range 20 {
		var data []byte
		var lens []int32
		var values []string
		for range 3000 {
			v := fmt.Sprintf("%0*d", r.IntN(60), r.IntN(1+round*500))
			data, lens, values = append(data, v...), append(lens, int32(len(v))), append(values, v)
		}
		got := d.appendIDs(nil, padded(data), lens)
		for i, v := range values {
			if _, ok := want[v]; !ok {
				want[v] = uint32(len(want))
			}
			if got[i] != want[v] || d.id([]byte(v)) != want[v] || string(d.value(int(got[i]))) != v {
				t.Fatalf("%q has the number %d, want %d", v, got[i], want[v])
			}
		}
		if d.len() != len(want) {
			t.Fatalf("%d values, want %d", d.len(), len(want))
		}
		if round == 10 {
			d.release()
			d.release() // as reset does after a group was written
			if d.expect != len(want) {
				t.Fatalf("the next table is made for %d values, want %d", d.expect, len(want))
			}
			clear(want)
		}
	}
}

// TestSplitTexts puts texts together again.
func TestSplitTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 500 {
		l := leaf{}
		var all []string
		for range 1 + r.IntN(40) {
			v := strings.Repeat("abc", r.IntN(4)) + strings.Repeat("x", r.IntN(50)) + string(rune('a'+r.IntN(3)))
			if r.IntN(5) == 0 {
				v = ""
			}
			all = append(all, v)
			l.data, l.lens = append(l.data, v...), append(l.lens, int32(len(v)))
		}
		l.data = padded(l.data)
		var s scratch
		l.splitTexts(&s)
		before, tails, shared := "", string(s.tails), 0
		for i, v := range all {
			got := before[:s.shared[i]] + tails[:s.rest[i]]
			tails = tails[s.rest[i]:]
			if i > 0 {
				shared += int(s.shared[i])
			}
			if n := int(s.shared[i]); got != v || n < len(before) && n < len(v) && before[n] == v[n] {
				t.Fatalf("%q after %q: %d bytes are shared, and it is %q", v, before, s.shared[i], got)
			}
			before = v
		}
		if n := sharedBytes(l.data, l.lens); n != shared || tails != "" {
			t.Fatalf("%q: %d bytes are shared, want %d; %q is left", all, n, shared, tails)
		}
	}
}

// padded returns b with slack behind it.
func padded(b []byte) []byte { return append(b, make([]byte, slack)...)[:len(b)] }
