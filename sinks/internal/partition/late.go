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

// minTime is the least time that counts as the newest: there is room below it for the period and for what is late.
const minTime = math.MinInt64 / 2

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

// Watermark is how far the times of the rows of a lane have come. Its zero value is before the first of them.
type Watermark struct {
	newest int64 // beginning of the newest period, in seconds since 1970
	known  bool
}

// Lateness says which rows are late: those whose time is more than After seconds before the beginning of the newest period that the
// lane had come to when the row came. Rows without a time are not, and times after Limit, in seconds since 1970, do not count:
// they are wrong.
type Lateness struct {
	Clock        *Clock
	After, Limit int64
}

// SplitLate is Split, but the late rows are in one part, whose Dir is [Late]. Rows are taken in their order, and w goes with them:
// what is late does not depend on how the rows of a lane are divided into records.
func (p *Splitter) SplitLate(r arrow.Record, w *Watermark, l Lateness) []Part {
	c := l.Clock
	a := r.Column(c.column).(*array.Timestamp)
	p.late = p.late[:0]
	for i, v := range a.TimestampValues() {
		late := false
		if a.IsValid(i) {
			at := floorDiv(int64(v), c.perSecond)
			if (!w.known || at >= w.newest+c.period) && minTime <= at && at <= l.Limit {
				w.newest, w.known = floorDiv(at, c.period)*c.period, true
			}
			late = w.known && at < w.newest-l.After
		}
		p.late = append(p.late, late)
	}
	defer func() { p.late = p.late[:0] }()
	return p.Split(r)
}
