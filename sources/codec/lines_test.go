package codec

import (
	"strings"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, test := range []struct {
		o            LinesOptions
		record, want string // want: "" is the empty URL, "skip" no row
	}{
		{LinesOptions{}, "http://a/", "http://a/"},
		{LinesOptions{}, "http://a/\r", "http://a/"},
		{LinesOptions{}, "http://a/\r\r", "http://a/\r"},
		{LinesOptions{}, " a ", " a "},
		{LinesOptions{}, "", ""},
		{LinesOptions{}, "\r", ""},
		{LinesOptions{}, "a\x00b\xff", "a\x00b\xff"},
		{LinesOptions{}, long, long},
		{LinesOptions{Trim: true}, " \t\f a b \n\r", "a b"},
		{LinesOptions{Trim: true}, "\v", "\v"},
		{LinesOptions{Trim: true}, "  ", ""},
		{LinesOptions{SkipEmpty: true}, "", "skip"},
		{LinesOptions{SkipEmpty: true}, "\r", "skip"},
		{LinesOptions{SkipEmpty: true}, " ", " "},
		{LinesOptions{SkipEmpty: true, Trim: true}, " ", "skip"},
	} {
		f := NewLines(test.o)
		c, b := f.New(), &pipeline.Batch{Carried: make([]pipeline.Values, 3)}
		c.Prepare(b)
		ok := c.Decode(b, []byte(test.record))
		if !ok {
			if test.want != "skip" || b.URLs.Len() != 0 {
				t.Errorf("%+v %q: no row", test.o, test.record)
			}
			continue
		}
		if got := string(b.URLs.At(0)); got != test.want || !b.URLs.Valid[0] || len(b.Faults) > 0 || len(b.Carried) > 0 {
			t.Errorf("%+v %.40q: %.40q, want %.40q", test.o, test.record, got, test.want)
		}
		if raw, ok := b.Raw(0); !ok || string(raw) != test.want {
			t.Errorf("raw %.40q", raw)
		}
	}
	if f := NewLines(LinesOptions{}); f.HasBase() || f.KeepsRecords() || f.Fields() != nil {
		t.Error("lines have nothing but the URL")
	}
}

func TestLinesTombstone(t *testing.T) {
	c, b := NewLines(LinesOptions{SkipEmpty: true}).New(), &pipeline.Batch{}
	c.DecodeNull(b)
	if got := row(b, 0); got != "- record-null@-1" {
		t.Error(got)
	}
}
