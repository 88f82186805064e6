package columns

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// heldBytes is the capacity of all slices in v, and in what they and its fields hold; maps and pointers are left out.
func heldBytes(v reflect.Value) int {
	n := 0
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			n += heldBytes(v.Field(i))
		}
	case reflect.Slice:
		n += v.Cap() * int(v.Type().Elem().Size())
	}
	return n
}

// giantBatch is one URL that makes every buffer large.
func giantBatch() ([]byte, []int32) {
	url := []byte("HTTPS://Example.com/" + strings.Repeat("ü/", 1<<17) + "?" + strings.Repeat("a=%20b&", 1<<17) + "#" + strings.Repeat("ü", 1<<16))
	return url, []int32{int32(len(url))}
}

func smallBatch() (data []byte, ends []int32) {
	for i := range 100 {
		data = fmt.Appendf(data, "https://www.example.com/%d?a=b+c", i)
		ends = append(ends, int32(len(data)))
	}
	return data, ends
}

// What a giant URL needed goes when batches are small again, from every buffer; bases and Locate have theirs.
func TestGiantURLPinsNoMemory(t *testing.T) {
	EachVariant(t, func(t *testing.T) {
		giant, giantEnds := giantBatch()
		data, ends := smallBatch()
		for _, want := range []Mask{All, Host | Params} {
			c := Columns{Want: want}
			ParseWithBases(&c, giant, giantEnds, giant, giantEnds)
			Parse(&c, giant, giantEnds)
			c.Locate(giant, giantEnds)
			if held := heldBytes(reflect.ValueOf(c)); held < len(giant) {
				t.Fatalf("holds %d bytes of a batch of %d", held, len(giant))
			}
			for range patience {
				Parse(&c, data, ends)
			}
			if held := heldBytes(reflect.ValueOf(c)); held > matters {
				t.Errorf("%b: holds %d bytes after small batches", want, held)
			}
			if c.Rows != len(ends) || c.Invalid != 0 {
				t.Errorf("%d rows, %d of them invalid", c.Rows, c.Invalid)
			}
		}
	})
}

// Buffers are not dropped where large batches come again and again, or where nothing is large.
func TestSizes(t *testing.T) {
	for _, test := range []struct {
		name  string
		size  func(i int) int
		drops int
	}{
		{"equal", func(int) int { return 10 * matters }, 0},
		{"small", func(i int) int { return []int{matters - 1, 1}[min(i, 1)] }, 0},
		{"now and then", func(i int) int { return []int{10 * matters, 1}[min(i%patience, 1)] }, 0},
		{"not much smaller", func(i int) int { return []int{10 * matters, 2 * matters}[min(i, 1)] }, 0},
		{"much smaller", func(i int) int { return []int{10 * matters, matters}[min(i, 1)] }, 1},
		{"seldom", func(i int) int { return []int{10 * matters, 1}[min(i%50, 1)] }, 20},
	} {
		var s sizes
		drops := 0
		for i := range 1000 {
			if s.next(test.size(i)) {
				drops++
			}
		}
		if drops != test.drops {
			t.Errorf("%s: dropped %d times, want %d", test.name, drops, test.drops)
		}
	}
}

// A host that is no domain, but a text of a megabyte, is not remembered.
func TestKnownHostsAreShort(t *testing.T) {
	var c Columns
	for i := range 5 {
		data := fmt.Appendf(nil, "https://%sü%d/", strings.Repeat("a", 1<<20), i)
		Parse(&c, data, []int32{int32(len(data))})
	}
	for host := range c.hosts.known {
		t.Errorf("remembers a host of %d bytes", len(host))
	}
}
