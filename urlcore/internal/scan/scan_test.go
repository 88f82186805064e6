package scan

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/urlmill/urlmill/urlcore/percent"
)

// eachVariant runs a test on every variant that this CPU can run.
func eachVariant(t *testing.T, test func(t *testing.T)) {
	for _, v := range Variants() {
		t.Run(v.String(), func(t *testing.T) {
			defer Use(Use(v))
			test(t)
		})
	}
}

// withGeneric runs f on the reference.
func withGeneric(f func()) {
	defer Use(Use(Generic))
	f()
}

func TestClassOf(t *testing.T) {
	for i := range 256 {
		c := byte(i)
		class := ClassOf(c)
		dirty := c == '\\' || c != '?' && c != '#' && (percent.Path.Has(c) || percent.SpecialQuery.Has(c) || percent.Fragment.Has(c))
		if class&Dirty != 0 != dirty {
			t.Errorf("%q: Dirty is %v", c, !dirty)
		}
		if class&Stop == 0 != strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-._", rune(c)) {
			t.Errorf("%q: Stop is wrong", c)
		}
		for class, chars := range map[Class]string{Mark: "?#", Slash: "/", Dot: ".", Amp: "&", Equal: "=", Escape: "+%"} {
			if (ClassOf(c)&class != 0) != (strings.IndexByte(chars, c) >= 0) {
				t.Errorf("%q: class %b is wrong", c, class)
			}
		}
	}
}

// Every length and alignment, against both guard pages: the bitmaps are those of the definition.
func TestClassify(t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 1))
		atEnd, atStart := guarded(t, 400)
		for n := 0; n <= 400; n++ {
			for _, text := range [][]byte{atEnd[400-n:], atStart[:n]} {
				for i := range text {
					text[i] = byte(r.IntN(256))
					if r.IntN(2) == 0 {
						text[i] = "/.%+?#a&="[r.IntN(9)]
					}
				}
				var b Bitmaps
				b.Classify(text)
				checkBitmaps(t, &b, text)
			}
		}
	})
}

func checkBitmaps(t *testing.T, b *Bitmaps, text []byte) {
	t.Helper()
	bit := func(m []byte, i int) bool { return m[i/8]>>(i%8)&1 != 0 }
	for i, c := range text {
		class := ClassOf(c)
		begins := i > 0 && text[i-1] == '/' && class&(Dot|Escape) != 0
		for _, m := range []struct {
			name string
			got  bool
			want bool
		}{
			{"stop", bit(b.Stop, i), class&Stop != 0},
			{"mark", bit(b.Mark, i), class&Mark != 0},
			{"dirty", bit(b.Dirty, i), class&Dirty != 0 || begins},
			{"dot", bit(b.Dot, i+8*Lead), class&Dot != 0},
		} {
			if m.got != m.want && (c < 0x80 || m.name == "stop" || m.name == "dirty") {
				t.Fatalf("%d bytes: %s of byte %d, %q, is %v", len(text), m.name, i, c, m.got)
			}
		}
	}
	for _, m := range [][]byte{b.Stop, b.Mark, b.Dirty, b.Dot} {
		if !bytes.HasSuffix(m, bytes.Repeat([]byte{0xFF}, 16)) {
			t.Fatalf("%d bytes: no ones behind a bitmap", len(text))
		}
	}
}

// The pieces may end right before Slack bytes that end before a guard page, and so may the destination.
func TestGather(t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(2, 2))
		const size = 600
		input, _ := guarded(t, size)
		side, _ := guarded(t, size)
		for i := range input {
			input[i], side[i] = byte(r.IntN(256)), byte(r.IntN(256))
		}
		for round := range 3000 {
			words, want := []uint32{}, []byte("before")
			wantOffsets := []int32{}
			n := r.IntN(20)
			for range n {
				length := r.IntN(40)
				if r.IntN(5) == 0 {
					length = r.IntN(size - Slack + 1)
				}
				start := r.IntN(size - Slack - length + 1)
				from, bit := input, uint32(0)
				if r.IntN(2) == 0 {
					from, bit = side, Side
				}
				words = append(words, 7, bit|uint32(start), 9, bit|uint32(start+length))
				want = append(want, from[start:start+length]...)
				wantOffsets = append(wantOffsets, int32(len(want)))
			}
			room := len(want) + Slack
			memory, _ := guardedPage(t, room)
			dst := memory[:copy(memory, "before")]
			offsets := make([]int32, n)
			spans := Spans{Words: words, Start: 1, End: 3, Stride: 4, Usual: Usual(round % 5)}
			got := Gather(dst, offsets, spans, n, input[:size-Slack], side[:size-Slack])
			if !bytes.Equal(got, want) || !slices.Equal(offsets, wantOffsets) {
				t.Fatalf("round %d: %q, want %q", round, got, want)
			}
			safe := GatherSafe([]byte("before"), offsets, spans, n, input[:size-Slack], side[:size-Slack])
			if !bytes.Equal(safe, want) || !slices.Equal(offsets, wantOffsets) {
				t.Fatalf("round %d: GatherSafe: %q, want %q", round, safe, want)
			}
		}
	})
}

func TestPlane(t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 5))
		memory, _ := guarded(t, 400)
		for n := range 401 {
			flags := make([]Flags, n)
			text, _ := guardedPage(t, n)
			for i := range flags {
				text[i] = byte(r.IntN(256))
			}
			flags = unsafe.Slice((*Flags)(unsafe.SliceData(text)), n)
			for bit := range 8 {
				dst := memory[400-(n+7)/8:]
				want := 0
				got := Plane(dst, flags, 1<<bit)
				for i, f := range flags {
					if set := f>>bit&1 != 0; set != (dst[i/8]>>(i%8)&1 != 0) {
						t.Fatalf("%d flags: bit %d of flag %d", n, bit, i)
					} else if set {
						want++
					}
				}
				if n%8 != 0 && dst[n/8]>>(n%8) != 0 || got != want {
					t.Fatalf("%d flags: %d, want %d, or bits behind the last", n, got, want)
				}
			}
		}
	})
}

var pages = map[testing.TB][]byte{}

// guardedPage is guarded with one mapping a test.
func guardedPage(t testing.TB, n int) (atEnd, atStart []byte) {
	const most = 1 << 16
	if pages[t] == nil {
		pages[t], _ = guarded(t, most)
		t.Cleanup(func() { delete(pages, t) })
	}
	return pages[t][most-n:], nil
}

var pages2 = map[testing.TB][]byte{}

// guarded2 is guardedPage for another text.
func guarded2(t testing.TB, n int) (atEnd, atStart []byte) {
	const most = 1 << 16
	if pages2[t] == nil {
		pages2[t], _ = guarded(t, most)
		t.Cleanup(func() { delete(pages2, t) })
	}
	return pages2[t][most-n:], nil
}

// texts that rows are made of.
var pieces = []string{
	"https://", "http://", "HTTP://", "www.", "example", ".com", ".co.uk", ".ck", "/", "/", "/a", "/b.html", "/%2e", "/%2E", "/%20", "/.", "/..", "/+", "?", "#",
	"a=b", "&", "+", "%", "x", "1", "-", "_", "~", "@", ":80", "ü", " ", "\\", "'", "{", strings.Repeat("h", 50), strings.Repeat("p", 70), ".", "..",
}

func randomRow(r *rand.Rand) string {
	var b strings.Builder
	if r.IntN(10) > 0 {
		b.WriteString(pieces[r.IntN(2)] + pieces[3+r.IntN(2)] + pieces[4] + pieces[5+r.IntN(3)])
	}
	for range r.IntN(12) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// The text ends before a guard page; what is found is what the reference finds.
func TestLocate(t *testing.T) {
	filter := new(SuffixFilter)
	filter.Add("co", "uk", true)
	filter.Add("example", "com", false)
	filter.Add("", "ck", false)
	eachVariant(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 3))
		for round := range 5000 {
			var text []byte
			var ends []int32
			start := r.IntN(1000)
			for range 1 + r.IntN(30) {
				text = append(text, randomRow(r)...)
				ends = append(ends, int32(start+len(text)))
			}
			memory, _ := guardedPage(t, len(text))
			copy(memory, text)
			maps := new(Bitmaps)
			maps.Classify(memory)
			rows := func() *Rows {
				n := len(ends)
				x := &Rows{
					Text: memory, Maps: maps, Ends: ends, Start: start, WithPath: round%3 == 0, Parts: make([]Parts, n), Flags: make([]Flags, n),
					Declined: make([]int32, 0, n), Irregular: make([]int32, 0, n),
				}
				if round%4 > 0 {
					x.Suffixes = filter
				}
				return x
			}
			got, want := rows(), rows()
			got.Locate()
			withGeneric(want.Locate)
			if !slices.Equal(got.Declined, want.Declined) || !slices.Equal(got.Irregular, want.Irregular) {
				t.Fatalf("round %d: declined %v, want %v; irregular %v, want %v; %q", round, got.Declined, want.Declined, got.Irregular, want.Irregular, text)
			}
			for i := range ends {
				if !slices.Contains(want.Declined, int32(i)) && !slices.Contains(want.Declined, ^int32(i)) && (got.Parts[i] != want.Parts[i] || got.Flags[i] != want.Flags[i]) {
					t.Fatalf("round %d: row %d: %+v %b, want %+v %b; %q", round, i, got.Parts[i], got.Flags[i], want.Parts[i], want.Flags[i], text)
				}
			}
		}
	})
}

// Enough of the rows are taken.
func TestLocateTakesCleanRows(t *testing.T) {
	eachVariant(t, func(t *testing.T) {
		for url, clean := range map[string]bool{
			"https://example.com/": true, "http://example.com/a/b?c=d#e": true, "https://example.com": true, "https://example.com?a": true,
			"https://a.b/%2f": true, "https://a.b/+": true, "https://a.b/%": true, "https://a.b/%2": true, "https://a.b/c?d=/%2f": true,
			"https://a.b/.": false, "https://a.b/%2e": false, "https://A.b/": false, "https://a.b:80/": false, "https://a.1/": false, "https://a./": false,
			"https:///": false, "https://": false, "ftp://a.b/": false, "https://a.b/ ": false, "https://a.b@c/": false,
			"https://" + strings.Repeat("a", 53) + ".b/": true, "https://" + strings.Repeat("a", 54) + ".b/": false,
		} {
			var maps Bitmaps
			maps.Classify([]byte(url))
			r := Rows{
				Text: []byte(url), Maps: &maps, Ends: []int32{int32(len(url))}, Parts: make([]Parts, 1), Flags: make([]Flags, 1),
				Declined: make([]int32, 0, 1), Irregular: make([]int32, 0, 1),
			}
			if r.Locate(); len(r.Declined) == 0 != clean {
				t.Errorf("%s: declined %v", url, r.Declined)
			}
		}
	})
}

func TestSplit(t *testing.T) {
	pieces := []string{
		"a", "bc", "=", "&", "&", "=", "+", "%20", strings.Repeat("n", 60), strings.Repeat("v", 130), strings.Repeat("&", 9), strings.Repeat("a&", 40),
	}
	eachVariant(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(4, 4))
		var got Queries
		for round := range 5000 {
			text := []byte("skipped")
			got.Start = len(text)
			got.Ends, got.Before = got.Ends[:0], int32(r.IntN(3))
			var want []string
			var counts []int32
			for range r.IntN(12) {
				query := ""
				for range r.IntN(10) * r.IntN(2) {
					query += pieces[r.IntN(len(pieces))]
				}
				for pair := range strings.SplitSeq(query, "&") {
					if name, value, _ := strings.Cut(pair, "="); pair != "" {
						want = append(want, fmt.Sprint(name, "=", value, strings.ContainsAny(pair, "+%")))
					}
				}
				text = append(text, query...)
				got.Ends = append(got.Ends, int32(len(text)))
				counts = append(counts, got.Before+int32(len(want)))
			}
			memory, _ := guardedPage(t, len(text)-got.Start+Slack)
			got.Text = memory[:copy(memory, text[got.Start:])]
			got.Counts = make([]int32, len(got.Ends))
			got.Split()
			var pairs []string
			for i, p := range got.Pairs {
				pairs = append(pairs, fmt.Sprint(string(got.Text[p.Key.Start:p.Key.End]), "=", string(got.Text[p.Value.Start:p.Value.End]), slices.Contains(got.Escaped, int32(i))))
			}
			if !slices.Equal(pairs, want) || !slices.Equal(got.Counts, counts) {
				t.Fatalf("round %d: %q: %q %v, want %q %v", round, text, pairs, got.Counts, want, counts)
			}
		}
	})
}

// What is decoded is what the reference of the whole format says, with ends of both texts before guard pages, and the
// decoding stops behind each text that is not ASCII.
func TestDecodePairs(t *testing.T) {
	pieces := []string{
		"a", "b", "%41", "%4", "%", "+", "%zz", "%e4%bd%a0", "%FF", "%2", "ü", "%ü0", strings.Repeat("x", 57), "%00", "%:0", "%g0", "%0G", "%@@", "%`a",
		"=", "=", "&", "&", "&",
	}
	isHigh := func(b byte) bool { return b >= 0x80 }
	decoded := func(s string) []byte { return percent.AppendDecode(nil, []byte(strings.ReplaceAll(s, "+", " "))) }
	eachVariant(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(6, 6))
		var q Queries
		for round := range 20000 {
			text := ""
			for range 1 + r.IntN(1+round%40) {
				text += pieces[r.IntN(len(pieces))]
			}
			memory, _ := guardedPage(t, len(text)+Slack)
			q.Text = memory[:copy(memory, text)]
			q.Ends, q.Counts = append(q.Ends[:0], int32(len(text))), make([]int32, 1)
			q.Split()
			before := "before"
			room, _ := guarded2(t, len(before)+len(text)+Slack)
			side := append(room[:0], before...)
			cursor, stops := 0, map[Span]bool{}
			for {
				var span *Span
				if side, cursor, span = q.DecodePairs(side, cursor); span == nil {
					break
				}
				stops[*span] = true
				if got := side[span.Start&^Side : span.End&^Side]; span.Start&span.End&Side == 0 || !slices.ContainsFunc(got, isHigh) || int(span.End&^Side) != len(side) {
					t.Fatalf("%q: stopped at %q of %q", text, got, side)
				}
			}
			if string(side[:len(before)]) != before {
				t.Fatalf("%q: %q", text, side)
			}
			i := 0
			for pair := range strings.SplitSeq(text, "&") {
				if pair == "" {
					continue
				}
				name, value, _ := strings.Cut(pair, "=")
				for j, raw := range []string{name, value} {
					s, got, want := []Span{q.Pairs[i].Key, q.Pairs[i].Value}[j], q.Text, decoded(raw)
					if s.Start&Side != 0 {
						got = side
					}
					if got = got[s.Start&^Side : s.End&^Side]; !bytes.Equal(got, want) {
						t.Fatalf("%q: %q, want %q", text, got, want)
					}
					// Whether bytes that are not escaped count does not matter: no URL has any.
					if slices.ContainsFunc(want, isHigh) && !slices.ContainsFunc([]byte(raw), isHigh) && !stops[s] {
						t.Fatalf("%q: did not stop at %q", text, want)
					}
				}
				i++
			}
			if i != len(q.Pairs) {
				t.Fatalf("%q: %d pairs, want %d", text, len(q.Pairs), i)
			}
		}
	})
}

func TestVariants(t *testing.T) {
	all := Variants()
	if all[0] != Generic || all[len(all)-1] != Current() {
		t.Errorf("%v, in use %v", all, Current())
	}
	eachVariant(t, func(t *testing.T) {
		if t.Name() != "TestVariants/"+Current().String() || Bitmapped() == (Current() == Generic) {
			t.Error(Current())
		}
	})
}
