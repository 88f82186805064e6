package generate

// Repeat is how the URL of a record that repeats an earlier one is written.
type Repeat uint8

const (
	// NoRepeat is a record that repeats none on purpose. In the crawl profile its URL is then new; in the
	// clickstream profile popular pages come again by themselves.
	NoRepeat Repeat = iota
	// SameURL is the same URL, byte by byte.
	SameURL
	// SameHref is a URL that parses to the same but for the fragment.
	SameHref
	// SameButTracking is the same but for added parameters of trackers.
	SameButTracking
)

// Truth is what the generator knows about a record.
type Truth struct {
	// Number is the number of the record among all lanes, from 0 on.
	Number int64
	Class  Class
	// Code is what the column url_error has to say, empty when the URL parses; see [Class.Code].
	Code string
	// Repeat says whether the record was made to repeat the page of another one, whose number is Original.
	// The original is an ordinary page and repeats none itself.
	Repeat   Repeat
	Original int64
	// Timestamp is the time of the record in microseconds since 1970 UTC.
	Timestamp int64
	// UserID identifies the user. It is 0 for lines.
	UserID int64
}

// Generator makes the records of one lane. It is not for concurrent use. What it makes depends on its options alone.
type Generator struct {
	m           *model
	lane, lanes int64
	next        int64 // in the lane
	last        Truth
	r           rng    // of the last record
	url         []byte // of the last record
	referer     []byte
	day         int64 // since 1970, whose date is in date
	date        [10]byte
}

// NewGenerator returns a generator of all records that the options describe, in order, or what Validate has to say
// about them. Records, Lanes and Rate are for the source: a generator has no end and no pace.
func NewGenerator(o Options) (*Generator, error) {
	m, err := newModel(o)
	if err != nil {
		return nil, err
	}
	return m.generator(0, 1), nil
}

func (m *model) generator(lane, lanes int) *Generator {
	return &Generator{m: m, lane: int64(lane), lanes: int64(lanes), day: -1 << 62}
}

// SetPosition makes record n of the lane the next. It costs nothing.
func (g *Generator) SetPosition(n int64) { g.next = n }

// Position returns the number of the next record in the lane.
func (g *Generator) Position() int64 { return g.next }

// Append appends the next record, without a line end, and returns the extended slice.
func (g *Generator) Append(dst []byte) []byte {
	number := g.next*g.lanes + g.lane
	g.next++
	g.r = newRNG(g.m.seeds.records, uint64(number))
	r := &g.r
	g.last = Truth{Number: number, Timestamp: g.m.start + number*1000}
	g.last.Class, g.last.Repeat, g.last.Original = g.m.kind(r, number)
	g.last.Code = classes[g.last.Class].code
	if g.m.lines {
		start := len(dst)
		dst = g.appendURL(dst, r)
		g.url = append(g.url[:0], dst[start:]...)
		return dst
	}
	g.url = g.appendURL(g.url[:0], r)
	return g.appendRecord(dst, r)
}

// Truth returns what the generator knows about the record that Append appended last.
func (g *Generator) Truth() Truth { return g.last }

// URL returns the URL of the record that Append appended last, also when the record itself does not have it because
// of its class. It is valid until the next Append.
func (g *Generator) URL() []byte { return g.url }

// kind decides what a record is. It draws from r what comes first in every record, so that it can be asked about
// another record as well.
func (m *model) kind(r *rng, number int64) (c Class, repeat Repeat, original int64) {
	repeats := r.next()>>32 < m.repeats
	c = Class(m.classes.draw(r))
	if !repeats || number == 0 {
		return c, NoRepeat, 0
	}
	back := min(uint64(number), m.within)
	original = number - 1 - int64(r.next()>>32*back>>32)
	if !m.mayRepeat(original) {
		return c, NoRepeat, 0
	}
	return Page, SameURL + Repeat(r.below(3)), original
}

// mayRepeat reports whether a record is an ordinary page that repeats none.
func (m *model) mayRepeat(number int64) bool {
	r := newRNG(m.seeds.records, uint64(number))
	return r.next()>>32 >= m.repeats && Class(m.classes.draw(&r)) == Page
}

// appendURL appends the URL of a record whose kind is in g.last.
func (g *Generator) appendURL(dst []byte, r *rng) []byte {
	m, t := g.m, &g.last
	switch {
	case t.Repeat != NoRepeat:
		how := tweak(0)
		switch t.Repeat {
		case SameHref:
			how = pick(r, []tweak{upperHost, defaultPort, dotSegment, otherFragment, upperHost | defaultPort | dotSegment | otherFragment})
		case SameButTracking:
			how = moreTracking
		}
		first := newRNG(m.seeds.records, uint64(t.Original))
		first.next() // what mayRepeat draws
		first.next()
		return m.appendPage(dst, &first, uint64(t.Original), how)
	case t.Class == Relative:
		return m.appendRelative(dst, r)
	case classes[t.Class].write == nil:
		return m.appendPage(dst, r, uint64(t.Number), 0)
	}
	return classes[t.Class].write(m, dst, r, uint64(t.Number))
}

// driveLetter begins a reference from one file to another, as some programs on Windows have it.
const driveLetter = "C|"

// appendRelative appends a reference that is no URL by itself.
func (m *model) appendRelative(dst []byte, r *rng) []byte {
	switch r.below(32) {
	case 31:
		return add(dst, driveLetter, "/", pick(r, words))
	case 0:
		return add(dst, "../", pick(r, words))
	case 1, 6:
		return add(dst, "./", pick(r, words), ".html")
	case 2, 7, 8:
		return m.appendParameter(append(dst, '?'), r)
	case 3, 9, 10:
		return add(dst, "#", pick(r, words))
	case 4, 11:
		return add(dst, "//", m.hosts.draw(r), "/", pick(r, words))
	case 5:
		return append(dst, pick(r, words)...)
	}
	return m.appendQuery(m.appendPath(dst, r), r, 0)
}
