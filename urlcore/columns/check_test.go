package columns

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// malformed has ends that do not lead through 190 bytes.
var malformed = map[string][]int32{
	"negative":       {-(1 << 30), 100},
	"beyond":         {19, 1 << 30, 190},
	"descending":     {19, 57, 38},
	"behind the end": {19, 191},
	"lowest":         {19, math.MinInt32, 190},
	"the last":       {19, 38, -1},
	"wrapped":        {math.MaxInt32, math.MinInt32, 190},
}

// TestMalformedEnds has ends with which the kernels would read and write beside the buffers. That is a fault which ends the process,
// or else the columns of another URL.
func TestMalformedEnds(t *testing.T) {
	data := []byte(strings.Repeat("http://example.com/", 10))
	good := []int32{19, 38}
	EachVariant(t, func(t *testing.T) {
		for name, ends := range malformed {
			for places := range 2 { // alone, and as the last of a stretch
				if places == 1 {
					ends = append(slices.Repeat([]int32{0}, stretchRows-1), ends...)
				}
				var c Columns
				bases := slices.Repeat([]int32{19}, len(ends))
				for call, err := range map[string]error{
					"Parse":     Parse(&c, data, ends),
					"bases":     ParseWithBases(&c, nil, make([]int32, len(ends)), data, ends),
					"with good": ParseWithBases(&c, data, ends, data, bases),
					"Locate":    func() error { _, err := c.Locate(data, ends); return err }(),
				} {
					if !errors.Is(err, ErrEnds) {
						t.Errorf("%s, %s: %v", name, call, err)
					}
				}
				if c.Rows != 0 || len(c.Errors) != 0 || len(c.Href.Offsets) != 1 || len(c.Href.Data) != 0 {
					t.Errorf("%s: %d rows, %d errors, offsets %d", name, c.Rows, len(c.Errors), c.Href.Offsets)
				}
				if err := Parse(&c, data, good); err != nil || string(c.Href.At(1)) != "http://example.com/" {
					t.Errorf("%s: the batch after it: %v, %q", name, err, c.Href.At(1))
				}
			}
		}
		var c Columns
		if err := ParseWithBases(&c, data, good, data, good[:1]); !errors.Is(err, ErrEnds) {
			t.Errorf("a base is missing: %v", err)
		}
	})
}

// FuzzEnds parses texts with any ends: an error, or rows that lie in the text.
func FuzzEnds(f *testing.F) {
	f.Add("http://a/http://b/", []byte("\x00\x00\x00\x09\x00\x00\x00\x12"))
	f.Add("http://a/http://b/", []byte("\xc0\x00\x00\x00\x00\x00\x00\x09"))
	f.Fuzz(func(t *testing.T, text string, raw []byte) {
		var ends []int32
		for ; len(raw) >= 4; raw = raw[4:] {
			ends = append(ends, int32(raw[0])<<24|int32(raw[1])<<16|int32(raw[2])<<8|int32(raw[3]))
		}
		fits := slices.IsSorted(ends) && (len(ends) == 0 || ends[0] >= 0 && int(ends[len(ends)-1]) <= len(text))
		var c Columns
		if err := Parse(&c, []byte(text), ends); (err == nil) != fits || c.Rows != len(ends) && fits {
			t.Fatalf("%d: %v, %d rows", ends, err, c.Rows)
		}
	})
}

// limitText sets how long columns may become, for a test.
func limitText(t *testing.T, n int) {
	before := maxText
	maxText = n
	t.Cleanup(func() { maxText = before })
}

// TestTooLarge has batches that fit in their text and not in the columns. A tenth of each fits.
func TestTooLarge(t *testing.T) {
	limitText(t, 4<<20)
	row := func(part string, c string, n int) string { return "http://h/" + part + strings.Repeat(c, n) }
	for name, test := range map[string]struct {
		url, base   string
		rows        int
		want, coded Mask
		tooLarge    bool
		locateFits  bool
	}{
		"ill-formed paths":       {row("", "\xff", 4000), "", 300, Path, 0, true, false},
		"ill-formed queries":     {row("?", "\xff", 4000), "", 300, Query, 0, true, false},
		"ill-formed parameters":  {row("?", "\xff", 4000), "", 300, Params, 0, true, false},
		"ill-formed and unseen":  {row("", "\xff", 4000), "", 300, Host, 0, false, false},
		"ASCII":                  {row("", "a", 4000), "", 300, All, 0, false, true},
		"bases":                  {"x", row("", "a", 4000) + "/", 1200, Path, 0, true, true},
		"ill-formed bases":       {"x", row("", "\xff", 4000) + "/", 300, Href, 0, true, true},
		"a dictionary of origin": {"http://" + strings.Repeat("a", 200) + ".example/" + strings.Repeat("\xff", 4000), "", 300, Origin, Origin, false, false},
	} {
		var data, bases []byte
		var ends, baseEnds []int32
		for range test.rows {
			data, bases = append(data, test.url...), append(bases, test.base...)
			ends, baseEnds = append(ends, int32(len(data))), append(baseEnds, int32(len(bases)))
		}
		c := Columns{Want: test.want, Dictionaries: test.coded}
		err := ParseWithBases(&c, data, ends, bases, baseEnds)
		if (err != nil) != test.tooLarge || err != nil && !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && (c.Rows != 0 || len(c.Path.Data) != 0) {
			t.Errorf("%s: %d rows beside an error", name, c.Rows)
		}
		if _, err := c.Locate(data, ends); (err == nil) != test.locateFits || err != nil && !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: Locate: %v", name, err)
		}
		n := test.rows / 10
		if err := ParseWithBases(&c, data, ends[:n], bases, baseEnds[:n]); err != nil || c.Rows != n || c.Invalid != 0 {
			t.Errorf("%s: a tenth of it: %v, %d rows, %d invalid", name, err, c.Rows, c.Invalid)
		}
	}
}

// TestTooLargeDictionary fills a dictionary over many batches.
func TestTooLargeDictionary(t *testing.T) {
	limitText(t, 64<<10)
	c := Columns{Want: Host, Dictionaries: Host}
	host := bytes.Repeat([]byte("a"), 60)
	parsed := 0
	for i := range 10_000 {
		for k := range 6 {
			host[k] = 'a' + byte(i>>(3*k)&7)
		}
		url := append([]byte("http://"), host...)
		if err := Parse(&c, url, []int32{int32(len(url))}); err != nil {
			if !errors.Is(err, ErrTooLarge) {
				t.Fatal(err)
			}
			break
		}
		if string(c.Hosts.Values.At(int(c.Hosts.Indices[0]))) != string(host) {
			t.Fatalf("host %d: %q", i, c.Hosts.Values.At(int(c.Hosts.Indices[0])))
		}
		parsed++
	}
	if n := len(c.Hosts.Values.Data); parsed < 1000 || parsed == 10_000 || n > maxText {
		t.Fatalf("%d hosts, %d bytes of them", parsed, n)
	}
	c.ResetDictionaries()
	if err := Parse(&c, []byte("http://h/"), []int32{9}); err != nil {
		t.Error(err)
	}
}

// TestLimitedEqualsReference has a limit that is near: what is not refused is right, and no column is longer.
func TestLimitedEqualsReference(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(17, 17))}
	refused := 0
	for round := range 40 {
		limitText(t, 100<<10+round<<13)
		var data, bases []byte
		var ends, baseEnds []int32
		for range 1500 {
			data, bases = append(data, g.mutate(g.url())...), append(bases, g.url()...)
			ends, baseEnds = append(ends, int32(len(data))), append(baseEnds, int32(len(bases)))
		}
		var got Columns
		if err := ParseWithBases(&got, data, ends, bases, baseEnds); err != nil {
			if !errors.Is(err, ErrTooLarge) {
				t.Fatal(err)
			}
			refused++
			continue
		}
		var want reference
		want.parse(data, ends, bases, baseEnds)
		checkSame(t, &want.Columns, &got, func(row int) string { return fmt.Sprint("row ", row) })
		for i := range textColumns {
			if n := len(textColumns[i].get(&got).Data); n > maxText {
				t.Errorf("a column of %d bytes", n)
			}
		}
	}
	if refused == 0 || refused == 40 {
		t.Errorf("%d batches of 40 were refused", refused)
	}
}
