package codec

import (
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
)

// LinesOptions configures the codec in which the record is the URL. The zero value is the default; there is no
// combination that is wrong.
type LinesOptions struct {
	// SkipEmpty leaves empty records out. By default each is a row of its own, whose URL is the empty
	// string and does not parse: nothing that was in the input is missing in the output.
	SkipEmpty bool
	// Trim removes spaces, tabs, form feeds, carriage returns and line feeds from both ends, beyond the
	// one carriage return at the end that always goes. The URL parser strips them as well; with Trim they
	// are also gone from the column that shows the URL as read, and a line of them alone counts as empty.
	Trim bool
}

// LinesKind is the codec of URLs.
var LinesKind = Kind{Name: "lines", Doc: "The whole line is the URL.", New: func() Options { return &LinesOptions{} }}

const skipEmptyDoc = "Whether empty records are left out instead of being rows with an error."

// Section implements [Options].
func (o *LinesOptions) Section() config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "skip_empty", Doc: skipEmptyDoc, Value: config.Bool(&o.SkipEmpty)},
		{Name: "trim", Doc: "Whether white space around the URL is taken away.", Value: config.Bool(&o.Trim)},
	}}
}

// Factory implements [Options].
func (o *LinesOptions) Factory() (Factory, error) { return NewLines(*o), nil }

// NewLines returns the codec of records that are a URL and nothing else: the lines of a file, or the values of
// a topic. One carriage return at the end does not belong to the URL.
func NewLines(o LinesOptions) Factory { return &lines{o: o} }

// lines implements [Factory] and [Codec]: it has no state.
type lines struct {
	Shape
	o LinesOptions
}

// New implements [Factory].
func (c *lines) New() Codec { return c }

// Decode implements [Codec].
func (c *lines) Decode(b *pipeline.Batch, record []byte) bool {
	record = TrimReturn(record)
	if c.o.Trim {
		record = trim(record)
	}
	if len(record) == 0 && c.o.SkipEmpty {
		return false
	}
	b.URLs.Append(record)
	return true
}

func trim(s []byte) []byte {
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

func isSpace(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' && b != '\v' }
