package partition

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// Late is the Dir of the part with the rows that come too late for a directory of their time.
const Late = "\x00late"

// Clock tells the time by which rows are partitioned.
type Clock struct {
	column    int
	perSecond int64
	period    int64 // seconds of the shortest time that has a directory
}

// NewClock returns the clock of keys, of which one at least is a date or an hour, and all of these of the same column.
func NewClock(keys []Key, s *arrow.Schema) (*Clock, error) {
	c := &Clock{period: 24 * 60 * 60}
	column := ""
	for _, k := range keys {
		if k.Func != "date" && k.Func != "hour" {
			continue
		}
		if column != "" && k.Column != column {
			return nil, fmt.Errorf("the directories are of two times, %s and %s, so that nothing says which of them is late; keep one", column, k.Column)
		}
		b, err := bind(k, s)
		if err != nil {
			return nil, err
		}
		column, c.column = k.Column, b.column
		c.perSecond = perSecond(s.Field(b.column).Type.(*arrow.TimestampType))
		if k.Func == "hour" {
			c.period = 60 * 60
		}
	}
	if column == "" {
		return nil, errors.New("no directory is of a time that a row could be late for; add date(column) or hour(column), or take it out")
	}
	return c, nil
}

// Newest returns the beginning of the newest period of the rows of r, in seconds since 1970, math.MinInt64 if none of them
// has a time. Times after limit do not count: they are wrong.
func (c *Clock) Newest(r arrow.Record, limit int64) int64 {
	a := r.Column(c.column).(*array.Timestamp)
	newest := int64(math.MinInt64)
	for i, v := range a.TimestampValues() {
		if at := floorDiv(int64(v), c.perSecond); at > newest && at <= limit && a.IsValid(i) {
			newest = at
		}
	}
	if newest == math.MinInt64 {
		return newest
	}
	return floorDiv(newest, c.period) * c.period
}

// SplitLate is Split, but the rows whose time is before a second since 1970 are in one part, whose Dir is [Late]. Those
// without a time are not among them.
func (p *Splitter) SplitLate(r arrow.Record, c *Clock, before int64) []Part {
	p.clock, p.before = c, before
	defer func() { p.clock = nil }()
	return p.Split(r)
}

// late reports whether the row i is late.
func (p *Splitter) late(r arrow.Record, i int) bool {
	a := r.Column(p.clock.column).(*array.Timestamp)
	return a.IsValid(i) && floorDiv(int64(a.Value(i)), p.clock.perSecond) < p.before
}
