package psl

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// small returns the list of testdata/small.dat.
func small(tb testing.TB) *List {
	tb.Helper()
	f, err := os.Open(filepath.Join("testdata", "small.dat"))
	if err != nil {
		tb.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			tb.Error(err)
		}
	}()
	l, err := Parse(f)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// ownCases returns the arrays of testdata/lookup.json.
func ownCases(tb testing.TB) [][]*string {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "lookup.json"))
	if err != nil {
		tb.Fatal(err)
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		tb.Fatal(err)
	}
	var cases [][]*string
	for _, entry := range raw[1:] {
		var c []*string
		if err := json.Unmarshal(entry, &c); err != nil || len(c) != 6 {
			tb.Fatalf("%s: %v", entry, err)
		}
		cases = append(cases, c)
	}
	return cases
}

// tailOf returns host[start:], or nil for -1.
func tailOf(host string, start int) *string {
	if start < 0 {
		return nil
	}
	tail := host[start:]
	return &tail
}

func show(s *string) string {
	if s == nil {
		return "(none)"
	}
	return *s
}

func same(a, b *string) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

func TestLookup(t *testing.T) {
	l := small(t)
	for _, c := range ownCases(t) {
		host := *c[0]
		suffix, domain, section := l.Lookup([]byte(host))
		if !same(tailOf(host, suffix), c[1]) || !same(tailOf(host, domain), c[2]) || section.String() != *c[3] {
			t.Errorf("Lookup(%q) = %s, %s, %v, want %s, %s, %s", host,
				show(tailOf(host, suffix)), show(tailOf(host, domain)), section, show(c[1]), show(c[2]), *c[3])
		}
		suffix, domain, section = l.LookupICANN([]byte(host))
		if !same(tailOf(host, suffix), c[4]) || !same(tailOf(host, domain), c[5]) || section == Private {
			t.Errorf("LookupICANN(%q) = %s, %s, %v, want %s, %s", host,
				show(tailOf(host, suffix)), show(tailOf(host, domain)), section, show(c[4]), show(c[5]))
		}
		if got, section := l.PublicSuffix(host); c[1] != nil && got != *c[1] || c[1] == nil && got != "" || section.String() != *c[3] {
			t.Errorf("PublicSuffix(%q) = %q, %v", host, got, section)
		}
		if got, ok := l.RegistrableDomain(host); ok != (c[2] != nil) || ok && got != *c[2] {
			t.Errorf("RegistrableDomain(%q) = %q, %v", host, got, ok)
		}
	}
}

// TestZeroList checks that a List without rules knows the default rule alone.
func TestZeroList(t *testing.T) {
	var l List
	suffix, domain, section := l.Lookup([]byte("www.example.co.uk"))
	if suffix != len("www.example.co.") || domain != len("www.example.") || section != Unlisted {
		t.Errorf("got %d, %d, %v", suffix, domain, section)
	}
	if v := l.Version(); v != "" {
		t.Errorf("Version() = %q", v)
	}
}

func TestAllocations(t *testing.T) {
	l := Embedded()
	for _, host := range []string{"www.example.com", "a.b.c.kobe.jp.", "", "a", "my-very-long-subdomain-name.shop.example.com.br"} {
		bytes := []byte(host)
		if n := testing.AllocsPerRun(100, func() {
			l.Lookup(bytes)
			l.LookupICANN(bytes)
			l.LookupString(host)
			l.PublicSuffix(host)
			l.RegistrableDomain(host)
			Default()
		}); n != 0 {
			t.Errorf("%q: %v allocations", host, n)
		}
	}
}

func TestSwap(t *testing.T) {
	if Default() != Embedded() {
		t.Fatal("the first list is not the embedded one")
	}
	l := small(t)
	if old := Swap(l); old != Embedded() {
		t.Error("Swap did not return the embedded list")
	}
	if Default() != l || Version() != l.Version() {
		t.Error("Swap had no effect")
	}
	if old := Swap(nil); old != l || Default() != Embedded() {
		t.Error("Swap(nil) did not put the embedded list back")
	}
}

// TestSwapConcurrently lets the race detector look at reloads during lookups.
func TestSwapConcurrently(t *testing.T) {
	lists := []*List{small(t), nil}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 1000 {
				if _, domain, _ := Default().LookupString("www.example.co.uk"); domain != 4 {
					t.Errorf("domain starts at %d", domain)
					return
				}
			}
		})
	}
	for i := range 1000 {
		Swap(lists[i%2])
	}
	wg.Wait()
	Swap(nil)
}

// TestEmbedded checks what the package says about its list.
func TestEmbedded(t *testing.T) {
	info := Embedded().Info()
	if info.Source == "" || len(info.Date) != len("2006-01-02") || info.Commit == "" {
		t.Errorf("the embedded list does not tell where it is from: %+v", info)
	}
	if info.ICANN < 6000 || info.Private < 2000 {
		t.Errorf("the embedded list has %d ICANN and %d private rules", info.ICANN, info.Private)
	}
	if want := info.Date + " " + info.Commit; Version() != want {
		t.Errorf("Version() = %q, want %q", Version(), want)
	}
	t.Logf("embedded list: %s, %d ICANN and %d private rules, %d nodes in %d slots", Version(), info.ICANN, info.Private,
		len(Embedded().nodes), len(Embedded().slots))
}
