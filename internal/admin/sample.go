package admin

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
)

const (
	maxMessages = 50
	maxBad      = 50
	maxDomains  = 200
	maxText     = 500 // bytes of a text that is kept
	// Of a batch so many rows are looked at, evenly spread, and so many of its bad ones kept. The domains of all lanes
	// together are looked at only so often: what it costs does not depend on the rate of the rows.
	sampled    = 64
	lookEvery  = 20 * time.Millisecond
	badOfBatch = 3
)

// ring holds the last values that were added.
type ring[T any] struct {
	values []T
	next   int // the oldest, once it is full
}

func newRing[T any](n int) ring[T] { return ring[T]{values: make([]T, 0, n)} }

func (r *ring[T]) add(v T) {
	if len(r.values) < cap(r.values) {
		r.values = append(r.values, v)
		return
	}
	r.values[r.next] = v
	r.next = (r.next + 1) % len(r.values)
}

// list returns a copy of the values, oldest first.
func (r *ring[T]) list() []T {
	return append(append(make([]T, 0, len(r.values)), r.values[r.next:]...), r.values[:r.next]...)
}

// topK counts the most frequent keys in bounded memory: Metwally, Agrawal and El Abbadi's space-saving, in which a new
// key takes the place and the count of the rarest one. A count is too high by at most that of the rarest.
type topK struct {
	counts map[string]*int64
	most   int
	total  int64
}

func newTopK(most int) topK { return topK{counts: make(map[string]*int64, most), most: most} }

// add counts key, which is copied if it is kept.
func (t *topK) add(key string) {
	t.total++
	if n := t.counts[key]; n != nil {
		*n++ // not through the map: assigning would keep key itself, whose bytes are another's
		return
	}
	count := int64(1)
	if len(t.counts) == t.most {
		rarest, least := "", int64(-1)
		for k, n := range t.counts {
			if least < 0 || *n < least {
				rarest, least = k, *n
			}
		}
		delete(t.counts, rarest)
		count += least
	}
	t.counts[strings.Clone(key)] = &count
}

// Share is the share of a domain in the rows that were looked at.
type Share struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"`
}

// top returns the n most frequent keys, most first.
func (t *topK) top(n int) []Share {
	out := make([]Share, 0, len(t.counts))
	for k, c := range t.counts {
		out = append(out, Share{k, float64(*c) / float64(t.total)})
	}
	slices.SortFunc(out, func(a, b Share) int { return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Name, b.Name)) })
	return out[:min(n, len(out))]
}

// BadRow is a row that has an error.
type BadRow struct {
	At   time.Time `json:"at"`
	Lane string    `json:"lane"`
	Code string    `json:"code"`
	URL  string    `json:"url"` // its start
}

// texts is a column of text.
type texts interface {
	arrow.Array
	Value(i int) string
}

// column returns a column of text by its name, nil where there is none.
func column(r arrow.Record, name string) texts {
	if i := slices.IndexFunc(r.Schema().Fields(), func(f arrow.Field) bool { return f.Name == name }); name != "" && i >= 0 {
		c, _ := r.Column(i).(texts)
		return c
	}
	return nil
}

// look takes samples of a batch: the domains of its rows, and what is wrong with the bad ones. Channels and bots it counts.
func (m *Monitor) look(id pipeline.LaneID, out *pipeline.Output) {
	names := m.opts.Columns
	if r := out.Records[pipeline.Rows]; r != nil && r.NumRows() > 0 {
		if domains := column(r, names.Domain); domains != nil {
			m.lookAtDomains(domains)
		}
		m.countVisits(column(r, names.Channel), column(r, names.Bot))
	}
	if out.Invalid+out.Nulled == 0 {
		return
	}
	for table, r := range out.Records {
		if r == nil {
			continue
		}
		url := func(int) string { return "" }
		if urls := column(r, names.URL); pipeline.Table(table) == pipeline.DeadLetters && out.DeadURLs != nil {
			url = func(i int) string { return string(out.DeadURLs.At(i)) }
		} else if urls != nil {
			url = urls.Value
		}
		m.lookAtErrors(id, column(r, names.Code), column(r, names.Field), url)
	}
}

func (m *Monitor) lookAtDomains(domains texts) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if now.Sub(m.looked) < lookEvery {
		return
	}
	m.looked = now
	step := max(1, domains.Len()/sampled)
	for i := step / 2; i < domains.Len(); i += step {
		if domains.IsValid(i) {
			m.domains.add(domains.Value(i))
		}
	}
}

// lookAtErrors keeps some of the rows that have a code or an error of a field, each once: with on_field_error: error the code is that
// of the field. The columns are nil where there are none. url returns the URL of a row, "" where there is none.
func (m *Monitor) lookAtErrors(id pipeline.LaneID, codes, fields texts, url func(row int) string) {
	rows := 0
	for _, c := range []texts{codes, fields} {
		if c != nil && c.NullN() < c.Len() {
			rows = c.Len()
		}
	}
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, kept := 0, 0; i < rows && kept < badOfBatch; i++ {
		code, field := valueAt(codes, i), valueAt(fields, i)
		switch {
		case code == "":
			code = field
		case field != "" && field != code:
			code += ", " + field
		}
		if code == "" {
			continue
		}
		m.bad.add(BadRow{At: now, Lane: clip(id.String(), maxText), Code: strings.Clone(code), URL: clip(url(i), maxText)})
		kept++
	}
}

// valueAt returns the text of a row, "" where it is null or there is no column.
func valueAt(c texts, i int) string {
	if c == nil || c.IsNull(i) {
		return ""
	}
	return c.Value(i)
}

// clip returns a copy of the start of s that is whole characters.
func clip(s string, most int) string {
	if len(s) <= most {
		return strings.Clone(s)
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}
