package columns

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// The values that the indices stand for are those of the text columns, over many batches, and no value has two numbers.
func TestDictionaries(t *testing.T) {
	EachVariant(t, func(t *testing.T) {
		g := generator{rand.New(rand.NewPCG(5, 5))}
		coded := Columns{Dictionaries: All}
		var text Columns
		for batch := range 30 {
			var data []byte
			var ends []int32
			for range 300 {
				data = append(data, g.url()...)
				ends = append(ends, int32(len(data)))
			}
			if batch == 20 {
				coded.ResetDictionaries()
			}
			Parse(&text, data, ends)
			Parse(&coded, data, ends)
			if batch%3 == 0 {
				keep := make([]bool, len(ends))
				for i := range keep {
					keep[i] = g.chance(50)
				}
				text.Compact(keep)
				coded.Compact(keep)
			}
			for name, c := range map[string]struct {
				text *Text
				dict *Dictionary
			}{
				"host": {&text.Host, &coded.Hosts}, "origin": {&text.Origin, &coded.Origins}, "domain": {&text.RegistrableDomain, &coded.RegistrableDomains},
			} {
				sameValidity(t, name, &c.text.Validity, &c.dict.Validity)
				if len(c.dict.Indices) != text.Rows {
					t.Fatalf("%s: %d indices of %d rows", name, len(c.dict.Indices), text.Rows)
				}
				for i, index := range c.dict.Indices {
					if c.dict.IsValid(i) && string(c.dict.Values.At(int(index))) != string(c.text.At(i)) {
						t.Fatalf("%s of row %d: %q, want %q", name, i, c.dict.Values.At(int(index)), c.text.At(i))
					}
				}
				seen := map[string]bool{}
				for i := range len(c.dict.Values.Offsets) - 1 {
					if v := string(c.dict.Values.At(i)); seen[v] || !c.dict.Values.IsValid(i) {
						t.Fatalf("%s: value %q is there twice, or null", name, v)
					} else {
						seen[v] = true
					}
				}
			}
			if len(coded.Host.Offsets) != 1 || len(coded.Path.Offsets) != coded.Rows+1 {
				t.Fatal("a column has both forms, or none")
			}
		}
	})
}

func TestDictionariesAllocateNothing(t *testing.T) {
	var data []byte
	var ends []int32
	for i := range 5000 {
		data = fmt.Appendf(data, "https://www.example%d.com/%d", i%2000, i)
		ends = append(ends, int32(len(data)))
	}
	c := Columns{Dictionaries: Host | RegistrableDomain}
	Parse(&c, data, ends)
	if n := testing.AllocsPerRun(3, func() { Parse(&c, data, ends) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if n := len(c.Hosts.Values.Offsets) - 1; n != 2000 {
		t.Errorf("%d values", n)
	}
}
