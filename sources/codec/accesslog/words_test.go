package accesslog

import (
	"bytes"
	"strings"
	"testing"
)

// TestWords: what looks at eight bytes at a time sees what a look at each of them does, wherever a byte stands.
func TestWords(t *testing.T) {
	for n := range 70 {
		for at := range n + 1 {
			for b := range 256 {
				s := []byte(strings.Repeat("w", n))
				if at < n {
					s[at] = byte(b)
				}
				ascii, slash, client := true, false, n > 0
				for _, b := range s {
					ascii = ascii && b < 0x80
					slash = slash || b == '\\'
					client = client && clientBytes[b]
				}
				if isASCII(s) != ascii || isPlain(s) != (ascii && !slash) || isClient(s) != client {
					t.Fatalf("%q: isASCII %v, isPlain %v, isClient %v", s, isASCII(s), isPlain(s), isClient(s))
				}
				if got, want := indexByte(s, byte(b)), bytes.IndexByte(s, byte(b)); got != want {
					t.Fatalf("%q: %q is at %d, not at %d", s, byte(b), got, want)
				}
			}
		}
	}
}

// TestTimes: a time has the same meaning whatever stood in the line before.
func TestTimes(t *testing.T) {
	texts := []string{
		"", "-", "x", "21/Nov/2026:12:00:00", "21/Nov/2026:12:00:00.", "21/Nov/2026:12:00:00.5", "21/Nov/2026:12:00:00.250", "21/Nov/2026:12:00:01.250",
		"21/Nov/2026:12:00:00 +0000", "21/Nov/2026:12:00:00 -0700", "21/Nov/2026:12:00:00.5 +0100", "21/Nov/2026:12:00:00.x", "21/Nov/2026:12:00:61.5",
		"32/Nov/2026:12:00:00.5", "2026-11-21T12:00:00Z", "2026-11-21T12:00:00.5Z", "2026-11-21T12:00:00.123456789123456789123Z", "2026-11-21",
		"2026-11-22", "1795262400", "1795262400.5", "1795262400000",
	}
	c := &lines{}
	for _, before := range texts {
		for _, text := range texts {
			for _, r := range []role{timeCLF, timeISO, timeAny, dateOnly} {
				c.time([]byte(before), timeCLF)
				c.time([]byte(before), r)
				got, ok := c.time([]byte(text), r)
				want, valid := c.parseTime([]byte(text), r)
				if ok != valid || ok && got != want {
					t.Fatalf("%q after %q as %d: %d, %v; want %d, %v", text, before, r, got, ok, want, valid)
				}
			}
		}
	}
}
