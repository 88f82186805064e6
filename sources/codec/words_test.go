package codec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// TestShortFloat: short numbers are what strconv makes of them, to the bit.
func TestShortFloat(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	short := 0
	for range 200_000 {
		text := strconv.FormatUint(rng.Uint64N(uint64(math.Pow10(1+rng.IntN(17)))), 10)
		if at := rng.IntN(2 * len(text)); at <= len(text) {
			text = text[:at] + "." + text[at:]
		}
		if rng.IntN(8) == 0 {
			text = "0" + text
		}
		got, ok := shortFloat([]byte(text))
		if !ok {
			continue
		}
		short++
		if want, err := strconv.ParseFloat(text, 64); err != nil || got != want {
			t.Fatalf("%s: %v, want %v, %v", text, got, want, err)
		}
		grammar := scanner{data: []byte(text)}
		if !grammar.number() || grammar.pos != len(text) {
			t.Fatalf("%s is no JSON number", text)
		}
	}
	if short < 50_000 {
		t.Fatalf("only %d of the numbers were short", short)
	}
}

// TestMembers: of many members, each is found by its key, also by one that is empty or escaped, and none by a key that is not there.
func TestMembers(t *testing.T) {
	keys := []string{"", "a", "é", `"`}
	for i := range 700 {
		keys = append(keys, strings.Repeat("k", i%5)+strconv.Itoa(i))
	}
	pointers := make([][]string, len(keys))
	record := []byte(`{"none":1,"k":2,"zz":{"a":3}`)
	for i, key := range keys {
		pointers[i] = []string{key}
		record = fmt.Appendf(record, ",%q:%d", key, i)
	}
	record = append(record, '}')
	root, slots := newTree(pointers)
	s := scanner{caps: make([]capture, len(slots))}
	if !s.scan(root, record) {
		t.Fatalf("no JSON at %d", s.pos)
	}
	for i, slot := range slots {
		if got := string(record[s.caps[slot].start:s.caps[slot].end]); got != strconv.Itoa(i) {
			t.Fatalf("%q: %s, want %d", keys[i], got, i)
		}
	}
}

// TestPlainRecords: bytes beyond ASCII and escapes are seen wherever they stand in a record.
func TestPlainRecords(t *testing.T) {
	r := NewPlaces([]string{"/b"}).NewReader()
	for n := range 40 {
		for at := range n + 1 {
			for _, c := range []struct {
				text  string
				plain bool
			}{{"x", true}, {"é", false}, {"\xff", false}, {`\n`, false}, {`A`, true}, {`\u0041`, false}} {
				text := strings.Repeat("w", at) + c.text + strings.Repeat("w", n-at)
				for _, record := range []string{`{"a":"` + text + `","b":1}`, `{"` + text + `":[]}`, `"` + text + `"`, ` [ "` + text + `" , 1.5e7 ] `} {
					if _, ok := r.Scan([]byte(record)); !ok || r.Plain() != c.plain {
						t.Fatalf("%q: %v, plain: %v", record, ok, r.Plain())
					}
				}
			}
		}
	}
}
