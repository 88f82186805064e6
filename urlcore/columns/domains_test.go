package columns

import (
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/urlmill/urlmill/urlcore/psl"
)

// All who use a list have the same filter, and that of a list that is gone goes as well.
func TestFiltersAreShared(t *testing.T) {
	list, err := psl.Parse(strings.NewReader("// ===BEGIN ICANN DOMAINS===\ncom\nco.uk\n// ===END ICANN DOMAINS===\n"))
	if err != nil {
		t.Fatal(err)
	}
	first, second, other := Columns{PSL: list}, Columns{PSL: list}, Columns{}
	for _, c := range []*Columns{&first, &second, &other} {
		data := []byte("http://a.b.co.uk/")
		Parse(c, data, []int32{int32(len(data))})
		if got := string(c.RegistrableDomain.At(0)); got != "b.co.uk" {
			t.Errorf("registrable domain %q", got)
		}
	}
	if first.filter != second.filter || first.filter == other.filter {
		t.Error("a list has several filters, or several lists have one")
	}
	key := weak.Make(list)
	if _, ok := filters.Load(key); !ok {
		t.Error("no filter is kept for the list")
	}
	first, second = Columns{}, Columns{} // nobody uses list from here on
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		runtime.GC()
		if _, ok := filters.Load(key); !ok {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the filter of a list that nobody has is kept")
		}
	}
}
