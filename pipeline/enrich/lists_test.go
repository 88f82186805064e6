package enrich

import (
	"os"
	"regexp"
	"runtime"
	"slices"
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

// definition is the condition of a channel, of which one of each list of conditions has to hold.
type definition struct {
	channel string
	all     [][]func(visit [3]string, class string) bool
}

// definitions reads the lines of testdata/channels.txt that begin with #=.
func definitions(t *testing.T) (all []definition) {
	text, err := os.ReadFile("testdata/channels.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), "#= ")
		if !ok {
			continue
		}
		channel, condition, _ := strings.Cut(line, ": ")
		d := definition{channel: channel}
		for part := range strings.SplitSeq(condition, " AND ") {
			var any []func([3]string, string) bool
			for one := range strings.SplitSeq(part, " OR ") {
				any = append(any, defined(t, one))
			}
			d.all = append(d.all, any)
		}
		all = append(all, d)
	}
	return all
}

// defined returns what a condition of one field says. A value that is not there is "(not set)", and letters count in any case.
func defined(t *testing.T, text string) func([3]string, string) bool {
	field, rest, _ := strings.Cut(strings.TrimPrefix(text, "(source"), " ")
	if strings.HasPrefix(text, "(source") {
		field = "source"
	}
	at := slices.Index([]string{"source", "medium", "campaign"}, field)
	var values []string
	for _, quoted := range regexp.MustCompile(`"([^"]*)"`).FindAllStringSubmatch(rest, -1) {
		values = append(values, quoted[1])
	}
	if rest = strings.TrimSpace(rest); at < 0 {
		t.Fatalf("%q has no field", text)
	}
	has := func(test func(value, want string) bool) func([3]string, string) bool {
		return func(visit [3]string, _ string) bool {
			return slices.ContainsFunc(values, func(want string) bool { return test(visit[at], want) })
		}
	}
	is := func(value, want string) bool { return value == want }
	if list, ok := strings.CutPrefix(rest, "matches a list of "); ok {
		return func(_ [3]string, class string) bool { return class+" sites" == list }
	}
	if pattern, ok := strings.CutPrefix(rest, "matches regex "); ok {
		if strings.Count(pattern, ")") > strings.Count(pattern, "(") {
			pattern = strings.TrimSuffix(pattern, ")") // of the group that the condition is in
		}
		re := regexp.MustCompile(pattern)
		return func(visit [3]string, _ string) bool { return re.MatchString(visit[at]) }
	}
	if value, ok := strings.CutPrefix(rest, "exactly matches "); ok {
		values = []string{value}
		return has(is)
	}
	for verb, test := range map[string]func(value, want string) bool{"is one of ": is, "contains ": strings.Contains, "ends with ": strings.HasSuffix} {
		if strings.HasPrefix(rest, verb) && len(values) > 0 {
			return has(test)
		}
	}
	t.Fatalf("%q has no condition", text)
	return nil
}

// TestChannelGroups compares each channel with at least ten cases, and what the rules say of all combinations of their sources, mediums
// and campaigns with the conditions of GA4's definitions beside them.
func TestChannelGroups(t *testing.T) {
	r := rules(t, Default())
	a := NewAcquirer(allColumns())
	a.use(r, psl.Embedded())
	channel := func(visit ...string) string {
		a.row = row{origin: unknownOrigin}
		for field, text := range visit {
			a.values[field] = nil
			if text != "" {
				a.values[field] = []byte(text)
			}
		}
		a.values[fieldSourceClass] = a.values[fieldSource]
		return string(a.channel())
	}
	counts, seen := map[string]int{}, [3][]string{}
	for _, c := range cases(t, "channels.txt") {
		counts[c[0]]++
		for field, text := range c[1:4] {
			seen[field] = append(seen[field], text)
		}
		if got := channel(c[1:4]...); got != c[0] {
			t.Errorf("source %q, medium %q, campaign %q: %s, want %s", c[1], c[2], c[3], got, c[0])
		}
	}
	for field := range seen {
		slices.Sort(seen[field])
		seen[field] = slices.Compact(seen[field])
	}
	published, differ, all := definitions(t), 0, 0
	for _, source := range seen[0] {
		// The class of a source is what a rule by it alone says, of those that begin with Organic.
		class := map[string]string{"Organic Search": "search", "Organic Social": "social", "Organic Video": "video", "Organic Shopping": "shopping", "AI Assistant": "ai_assistant"}[channel(source, "", "")]
		for _, medium := range seen[1] {
			for _, campaign := range seen[2] {
				visit := [3]string{source, medium, campaign}
				for i, text := range visit {
					if visit[i] = strings.ToLower(text); text == "" {
						visit[i] = "(not set)"
					}
				}
				want := string(unassigned)
				for _, d := range published {
					if !slices.ContainsFunc(d.all, func(any []func([3]string, string) bool) bool {
						return !slices.ContainsFunc(any, func(holds func([3]string, string) bool) bool { return holds(visit, class) })
					}) {
						want = d.channel
						break
					}
				}
				all++
				if got := channel(source, medium, campaign); got != want {
					if differ++; differ < 20 {
						t.Errorf("source %q (%s), medium %q, campaign %q: %s, by the definitions %s", source, class, medium, campaign, got, want)
					}
				}
			}
		}
	}
	t.Logf("%d combinations, %d differ from the %d definitions", all, differ, len(published))
	for _, rule := range append(r.channels.rules, channelRule{name: unassigned}) {
		if counts[string(rule.name)] < 10 {
			t.Errorf("%s has %d cases", rule.name, counts[string(rule.name)])
		}
	}
}
