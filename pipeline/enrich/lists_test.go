package enrich

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/urlcore/columns"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// TestBuiltInLists reads the lists, in which no two lines may contradict each other, and says how many facts there are at least.
func TestBuiltInLists(t *testing.T) {
	r := rules(t, Default())
	places, parameters := len(r.sources.apps), 0
	for _, slot := range r.params.slots {
		parameters += len(slot)
	}
	for _, p := range r.sources.hosts {
		places += len(p.paths)
		if p.source != nil {
			places++
		}
	}
	for what, n := range map[string][2]int{
		"sources": {len(r.sources.names), 600}, "places": {places, 1000}, "parameters": {parameters, 75},
		"networks": {len(r.params.networks), 30}, "rules": {len(r.channels.rules), 28},
	} {
		if n[0] < n[1] {
			t.Errorf("the lists have %d %s, and had %d", n[0], what, n[1])
		}
	}
}

// TestMemory compares what rules and an acquirer hold with what memory_limit is told that they do.
func TestMemory(t *testing.T) {
	suffixes := psl.Embedded()
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for _, limit := range []int{1, 10_000, 1 << 18} {
		o := Default()
		o.PathTemplateLimit = limit
		before := inUse()
		r, again := rules(t, o), rules(t, o) // while a reload replaces the one by the other
		a := NewAcquirer(allColumns())
		a.use(r, suffixes)
		used, told := inUse()-before, o.Memory(1)
		runtime.KeepAlive(r)
		runtime.KeepAlive(again)
		runtime.KeepAlive(a)
		if used > told || used < told/16 {
			t.Errorf("with %d templates at most: %d bytes, told were %d", limit, used, told)
		}
	}
}

// rules returns the rules of options that are right.
func rules(t testing.TB, o Acquisition) *Rules {
	t.Helper()
	r, err := o.Read()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// batch is page views with their referrers.
type batch struct {
	page, referrer columns.Columns
	field          pipeline.Values
	acquirer       *Acquirer
}

func allColumns() (all []Column) {
	for c := range NumColumns {
		all = append(all, c)
	}
	return all
}

// newBatch parses pairs of a page and a referrer; an empty referrer is null.
func newBatch(t testing.TB, pairs ...[2]string) *batch {
	t.Helper()
	b := &batch{acquirer: NewAcquirer(allColumns())}
	b.page.Want, b.referrer.Want = WantPage, WantReferrer
	var pages pipeline.Bytes
	for _, pair := range pairs {
		pages.Append([]byte(pair[0]))
		b.field.Text.Append([]byte(pair[1]))
		b.field.Valid = append(b.field.Valid, pair[1] != "")
	}
	if err := columns.Parse(&b.page, pages.Data, pages.Ends); err != nil {
		t.Fatal(err)
	}
	if err := columns.Parse(&b.referrer, b.field.Text.Data, b.field.Text.Ends); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *batch) fill(t testing.TB, r *Rules) {
	if err := b.acquirer.Fill(r, psl.Embedded(), b.page.Rows, &b.page, &b.field, &b.referrer); err != nil {
		t.Fatal(err)
	}
}

// at returns a value, - for a null.
func (b *batch) at(c Column, row int) string {
	if text := b.acquirer.Column(c); text.IsValid(row) {
		return string(text.At(row))
	}
	return "-"
}

// cases returns the lines of a file of testdata, taken apart at their bars.
func cases(t *testing.T, name string) (all [][]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, "\n"); line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "|")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		all = append(all, fields)
	}
	return all
}

func TestReferrers(t *testing.T) {
	all := cases(t, "referrers.txt")
	if len(all) < 500 {
		t.Errorf("there are %d cases", len(all))
	}
	o := Default()
	o.Internal = []string{"own.example"}
	var pairs [][2]string
	for _, c := range all {
		pairs = append(pairs, [2]string{"https://www.example.com/", c[0]})
	}
	b := newBatch(t, pairs...)
	b.fill(t, rules(t, o))
	for i, c := range all {
		if got := [...]string{b.at(ReferrerClass, i), b.at(ReferrerSource, i), b.at(SearchTerm, i)}; got != [...]string{c[1], c[2], c[3]} {
			t.Errorf("%s is %q, want %q", c[0], got, c[1:])
		}
	}
}

// TestChannelGroups compares each channel with at least ten cases, beside the condition of GA4's definition.
func TestChannelGroups(t *testing.T) {
	r := rules(t, Default())
	a := NewAcquirer(allColumns())
	a.use(r, psl.Embedded())
	counts := map[string]int{}
	for _, c := range cases(t, "channels.txt") {
		counts[c[0]]++
		a.row = row{origin: unknownOrigin}
		for field, text := range c[1:4] {
			a.values[field] = nil
			if text != "" {
				a.values[field] = []byte(text)
			}
		}
		a.values[fieldSourceClass] = a.values[fieldSource]
		if got := string(a.channel()); got != c[0] {
			t.Errorf("source %q, medium %q, campaign %q: %s, want %s", c[1], c[2], c[3], got, c[0])
		}
	}
	for _, rule := range append(r.channels.rules, channelRule{name: unassigned}) {
		if counts[string(rule.name)] < 10 {
			t.Errorf("%s has %d cases", rule.name, counts[string(rule.name)])
		}
	}
}
