package generate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/urlcore"
)

// clicks is how a pipeline reads the NDJSON records.
func clicks(tb testing.TB) codec.Factory {
	tb.Helper()
	f, err := codec.NewNDJSON(codec.NDJSONOptions{URL: "/url", Base: "/referer", Carry: []codec.CarriedField{
		{Name: "ts", Pointer: "/ts", Type: pipeline.Timestamp},
		{Name: "user_id", Pointer: "/user_id", Type: pipeline.Int64},
		{Name: "session", Pointer: "/session"},
		{Name: "status", Pointer: "/status", Type: pipeline.Int64},
		{Name: "country", Pointer: "/country"},
	}})
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

func newGenerator(tb testing.TB, o Options) *Generator {
	tb.Helper()
	g, err := NewGenerator(o)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// onlyClass returns a generator of one class.
func onlyClass(m model, c Class) *Generator {
	weights := make([]float64, len(classes))
	weights[c] = 1
	m.classes, m.seeds.records = newAlias(weights), mix(uint64(c))
	return m.generator(0, 1)
}

// parser parses what a codec has read, as the transform does.
type parser struct {
	p         urlcore.Parser
	url, base urlcore.URL
}

// code returns what the column url_error has to say about row i.
func (p *parser) code(b *pipeline.Batch, i int) string {
	for _, f := range b.Faults {
		if int(f.Row) == i {
			return f.Code.String()
		}
	}
	var base *urlcore.URL
	if b.Bases.Len() > 0 && b.Bases.Valid[i] && len(b.Bases.At(i)) > 0 {
		if f := p.p.Parse(&p.base, b.Bases.At(i), nil); f.Code != urlcore.OK {
			return "the referer does not parse: " + f.Code.String()
		}
		base = &p.base
	}
	if f := p.p.Parse(&p.url, b.URLs.At(i), base); f.Code != urlcore.OK {
		return f.Code.String()
	}
	return ""
}

// TestTruth compares what the generator says about each class with what comes out of the codec and the parser.
func TestTruth(t *testing.T) {
	for _, o := range []Options{{}, {Format: Lines}, {Profile: Crawl}, {Profile: Crawl, Format: Lines}} {
		m, err := newModel(o)
		if err != nil {
			t.Fatal(err)
		}
		f := clicks(t)
		if o.Format == Lines {
			f = codec.NewLines(codec.LinesOptions{})
		}
		for _, c := range Classes() {
			if o.Format != Lines || c == Page || c >= firstPlainClass {
				checkTruth(t, onlyClass(*m, c), f, c)
			}
		}
	}
}

func checkTruth(t *testing.T, g *Generator, f codec.Factory, c Class) {
	t.Helper()
	var p parser
	read, b := f.New(), &pipeline.Batch{}
	n := 300
	if strings.HasSuffix(c.String(), "long") {
		n = 10
	}
	for i := range n {
		b.Reset()
		read.Prepare(b)
		record := g.Append(nil)
		if !read.Decode(b, record) {
			t.Fatalf("%s: %q is no row", c, record)
		}
		truth := g.Truth()
		if truth.Class != c && truth.Repeat == NoRepeat || truth.Number != int64(i) || truth.Code != truth.Class.Code() {
			t.Fatalf("%s: %+v", c, truth)
		}
		if got := p.code(b, 0); got != truth.Code {
			t.Fatalf("%s: %.200q gives %q, want %q", c, record, got, truth.Code)
		}
		if strings.HasPrefix(truth.Code, "record-") {
			continue
		}
		if !bytes.Equal(b.URLs.At(0), g.URL()) {
			t.Fatalf("%s: read %q, want %q", c, b.URLs.At(0), g.URL())
		}
		if len(b.Carried) > 0 && (b.Carried[0].Ints[0] != truth.Timestamp || b.Carried[1].Ints[0] != truth.UserID) {
			t.Fatalf("%s: %d and %d, want %+v", c, b.Carried[0].Ints[0], b.Carried[1].Ints[0], truth)
		}
	}
}

// TestEveryValidationError checks that there is no validation error of the standard that the generated URLs do not
// lead to, fatal or not.
func TestEveryValidationError(t *testing.T) {
	missing := map[string]bool{}
	for c := urlcore.Code(1); c < urlcore.CodeInputTooLong; c++ {
		missing[c.String()] = true
	}
	p := parser{}
	p.p.CollectErrors = true
	b := &pipeline.Batch{}
	m, err := newModel(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Classes() {
		g, read := onlyClass(*m, c), clicks(t).New()
		for range 200 {
			b.Reset()
			read.Prepare(b)
			read.Decode(b, g.Append(nil))
			p.code(b, 0)
			for _, e := range p.p.ValidationErrors() {
				delete(missing, e.Code.String())
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("never seen: %q", slices.Sorted(maps.Keys(missing)))
	}
}

// TestLines checks that a record never contains what would end its line.
func TestLines(t *testing.T) {
	for _, p := range []Profile{Clickstream, Crawl} {
		for _, o := range []Options{{Format: Lines}, {Format: NDJSON}} {
			o.Profile = p
			g := newGenerator(t, o)
			for range 20000 {
				if record := g.Append(nil); bytes.ContainsAny(record, "\r\n") {
					t.Fatalf("%s: %q", g.Truth().Class, record)
				}
			}
		}
	}
}

// TestJSON checks with encoding/json that the records are what the documentation says, and that the ones that are
// not JSON are those that are said not to be.
func TestJSON(t *testing.T) {
	g := newGenerator(t, Options{Mix: map[string]float64{MalformedRecord.String(): 0.05, NumberURL.String(): 0.05, MissingURL.String(): 0.05}})
	for range 20000 {
		record := g.Append(nil)
		truth := g.Truth()
		var v struct {
			TS      time.Time `json:"ts"`
			UserID  int64     `json:"user_id"`
			Session string
			URL     any
			Referer *string
			Status  int
			Country string
		}
		d := json.NewDecoder(bytes.NewReader(record))
		d.DisallowUnknownFields()
		err := d.Decode(&v)
		if json.Valid(record) == (truth.Class == MalformedRecord) {
			t.Fatalf("%s: %s", truth.Class, record)
		}
		if truth.Class == MalformedRecord {
			continue
		}
		if err != nil || v.TS.UnixMicro() != truth.Timestamp || v.UserID != truth.UserID || len(v.Session) != 36 || v.Status < 200 || len(v.Country) != 2 {
			t.Fatalf("%s: %v %+v", record, err, v)
		}
		if _, isString := v.URL.(string); isString == (truth.Class == MissingURL || truth.Class == NumberURL) {
			t.Fatalf("%s: %s", truth.Class, record)
		}
	}
}

// TestSameRecords checks that a record depends on nothing but the options and its number.
func TestSameRecords(t *testing.T) {
	for _, p := range []Profile{Clickstream, Crawl} {
		all, again := newGenerator(t, Options{Profile: p, Seed: 7}), newGenerator(t, Options{Profile: p, Seed: 7})
		var records []string
		for range 3000 {
			records = append(records, string(all.Append(nil)))
			if string(again.Append(nil)) != records[len(records)-1] {
				t.Fatal("another record the second time")
			}
		}
		for i := 2999; i >= 0; i -= 7 {
			again.SetPosition(int64(i))
			if got := string(again.Append([]byte("x"))); got != "x"+records[i] || again.Position() != int64(i)+1 {
				t.Fatalf("record %d is another when it comes first: %s", i, got)
			}
		}
		m, err := newModel(Options{Profile: p, Seed: 7, Lanes: 3})
		if err != nil {
			t.Fatal(err)
		}
		for lane := range 3 {
			g := m.generator(lane, 3)
			for i := lane; i < len(records); i += 3 {
				if got := string(g.Append(nil)); got != records[i] || g.Truth().Number != int64(i) {
					t.Fatalf("record %d is another in lane %d of 3", i, lane)
				}
			}
		}
		if other := newGenerator(t, Options{Profile: p, Seed: 8}); string(other.Append(nil)) == records[0] {
			t.Error("the seed makes no difference")
		}
	}
}

// TestShares checks that the classes come about as often as they should.
func TestShares(t *testing.T) {
	const n = 100000
	for _, p := range []Profile{Clickstream, Crawl} {
		o := Options{Profile: p, Repeats: -1, Mix: map[string]float64{"ipv6": 0.1, "long": 0, "very-long": 0}}
		g := newGenerator(t, o)
		counts := make([]int, len(classes))
		invalid := 0
		for range n {
			g.Append(nil)
			counts[g.Truth().Class]++
			if g.Truth().Code != "" {
				invalid++
			}
		}
		sum := 0.0
		for _, c := range Classes() {
			want := c.Share(p)
			sum += want
			switch c.String() {
			case "ipv6":
				want = 0.1
			case "long", "very-long":
				want = 0
			case "page":
				want -= 0.1
			}
			if got := float64(counts[c]) / n; math.Abs(got-want) > 0.001+5*math.Sqrt(want/n) {
				t.Errorf("%s: %s has a share of %v, want %v", p, c, got, want)
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("the shares add up to %v", sum)
		}
		if share := float64(invalid) / n; p == Clickstream && (share < 0.008 || share > 0.013) || p == Crawl && (share < 0.002 || share > 0.005) {
			t.Errorf("%s: %v are invalid", p, share)
		}
	}
}

// TestFit checks the figures that the package documentation gives.
func TestFit(t *testing.T) {
	const n = 50000
	for _, test := range []struct {
		p                Profile
		mean             [2]float64
		quartiles        [3][2]int
		query, fragments [2]float64
	}{
		{Clickstream, [2]float64{80, 130}, [3][2]int{{45, 60}, {68, 84}, {100, 130}}, [2]float64{0.55, 0.65}, [2]float64{0.03, 0.06}},
		{Crawl, [2]float64{42, 48}, [3][2]int{{27, 35}, {35, 45}, {48, 60}}, [2]float64{0.04, 0.06}, [2]float64{0.005, 0.02}},
	} {
		g := newGenerator(t, Options{Profile: test.p, Format: Lines})
		var lengths []int
		total, queries, fragments := 0, 0, 0
		for range n {
			url := g.Append(nil)
			lengths = append(lengths, len(url))
			total += len(url)
			if bytes.IndexByte(url, '?') >= 0 {
				queries++
			}
			if bytes.IndexByte(url, '#') >= 0 {
				fragments++
			}
		}
		slices.Sort(lengths)
		within := func(what string, got float64, bounds [2]float64) {
			if got < bounds[0] || got > bounds[1] {
				t.Errorf("%s: %s is %v", test.p, what, got)
			}
		}
		within("the mean length", float64(total)/n, test.mean)
		within("the share of queries", float64(queries)/n, test.query)
		within("the share of fragments", float64(fragments)/n, test.fragments)
		for i, q := range test.quartiles {
			within(fmt.Sprintf("quartile %d", i+1), float64(lengths[n*(i+1)/4]), [2]float64{float64(q[0]), float64(q[1])})
		}
	}
}

// TestIDNs checks that every label goes with every top-level domain, whatever the seed.
func TestIDNs(t *testing.T) {
	for seed := range uint64(30) {
		list, err := newIDNs(seed, 500)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range list {
			u, err := urlcore.Parse("https://" + h.unicode)
			if err != nil || u.Hostname() != h.ascii {
				t.Fatalf("%s: %v, want %s", h.unicode, err, h.ascii)
			}
		}
	}
}

func TestTimes(t *testing.T) {
	for _, start := range []time.Time{DefaultStart, time.Date(1969, 12, 31, 23, 59, 59, 990e6, time.UTC), time.Date(2024, 2, 28, 23, 59, 59, 995e6, time.UTC)} {
		g := newGenerator(t, Options{Start: start})
		for i := range 50 {
			want := start.Add(time.Duration(i) * time.Millisecond).Format(`{"ts":"2006-01-02T15:04:05.000Z"`)
			if got := string(g.Append(nil)); !strings.HasPrefix(got, want) && g.Truth().Class != MalformedRecord {
				t.Errorf("%s, want %s", got, want)
			}
		}
	}
}

func TestAllocations(t *testing.T) {
	for _, o := range []Options{{}, {Format: Lines}, {Profile: Crawl, Format: Lines}} {
		g := newGenerator(t, o)
		buf := make([]byte, 0, 4<<20)
		g.url = make([]byte, 0, 4<<20)
		if n := testing.AllocsPerRun(5000, func() { buf = g.Append(buf[:0]) }); n != 0 {
			t.Errorf("%+v: %v allocations", o, n)
		}
	}
}

func BenchmarkGenerator(b *testing.B) {
	for name, o := range map[string]Options{"clicks": {}, "click lines": {Format: Lines}, "crawl lines": {Profile: Crawl, Format: Lines}} {
		b.Run(name, func(b *testing.B) {
			g, buf, n := newGenerator(b, o), []byte(nil), 0
			b.ReportAllocs()
			for b.Loop() {
				buf = g.Append(buf[:0])
				n += len(buf)
			}
			b.SetBytes(int64(n / b.N))
		})
	}
}

// TestVisitsOption checks that records with visits have a user agent, and are the same as without but for that and the referrer.
func TestVisitsOption(t *testing.T) {
	plain, visits := newGenerator(t, Options{Seed: 3}), newGenerator(t, Options{Seed: 3, Visits: true})
	agents, other := map[string]int{}, 0
	for range 5000 {
		var a, b map[string]any
		without, with := plain.Append(nil), visits.Append(nil)
		if plain.Truth() != visits.Truth() {
			t.Fatalf("%+v and %+v", plain.Truth(), visits.Truth())
		}
		if json.Unmarshal(without, &a) != nil || json.Unmarshal(with, &b) != nil {
			continue // a malformed record
		}
		agent, _ := b["user_agent"].(string)
		agents[agent]++
		delete(b, "user_agent")
		if plain.Truth().Class != Relative && a["referer"] != b["referer"] {
			other++
			delete(a, "referer")
			delete(b, "referer")
		}
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Fatalf("%s\n%s", without, with)
		}
	}
	if len(agents) < 15 || agents[""] > 0 || other < 500 {
		t.Errorf("%d user agents, %d records without one, %d other referrers", len(agents), agents[""], other)
	}
}
