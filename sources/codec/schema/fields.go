package schema

import (
	"math"
	"time"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/urlcore/charset"
)

// Appender appends values to columns. Begin comes before the values of a record.
type Appender struct {
	scratch []byte
	room    int // bytes of JSON that the record may still become
}

// minRoom is how many bytes of JSON any record may become.
const minRoom = 1 << 20

// Begin begins a record of that length, in a batch whose columns may have batch bytes. All its fields of JSON together may be as
// long as four such columns, or as two such records: a few bytes can be written that are a long text as JSON.
func (c *Appender) Begin(batch, record int) { c.room = max(minRoom, 4*batch, 2*record) }

// maxScratch bounds what a giant value leaves behind, in bytes.
const maxScratch = 64 << 10

// Release lets go of memory that a giant value has made too large to keep.
func (c *Appender) Release() {
	if cap(c.scratch) > maxScratch {
		c.scratch = nil
	}
}

// Append appends v to its column, a null where it is missing. It appends a null and returns FaultCarried where v is not of the
// column's type, FaultTooLarge where it is too long as JSON, and 0 otherwise. format says how a number or a text is a time;
// r, which may be nil, shows a Complex value.
func (c *Appender) Append(dst *pipeline.Values, v *Value, format codec.TimeFormat, r Reader) pipeline.FaultCode {
	if v.Kind == Text && dst.Field.Type == pipeline.String { // what most values are
		dst.Text.Data = charset.AppendUTF8(dst.Text.Data, v.Data)
		dst.Text.End()
		dst.Valid = append(dst.Valid, true)
		return 0
	}
	if v.Kind == Missing || v.Kind == Null && dst.Field.Type != pipeline.JSON {
		dst.AppendNull()
		return 0
	}
	if dst.Field.Type == pipeline.JSON {
		if !c.json(v, r) {
			dst.AppendNull()
			return pipeline.FaultTooLarge
		}
		dst.Text.Data = charset.AppendUTF8(dst.Text.Data, c.scratch)
		dst.Text.End()
	} else if !c.value(dst, v, format) {
		dst.AppendNull()
		return pipeline.FaultCarried
	}
	dst.Valid = append(dst.Valid, true)
	return 0
}

// json writes v into the scratch, or returns false where it is longer than what is left of the record's room.
func (c *Appender) json(v *Value, r Reader) (ok bool) {
	if v.Kind == Complex {
		c.scratch, ok = r.AppendJSON(c.scratch[:0], v, c.room)
	} else if ok = v.Fits(c.room); ok {
		c.scratch = v.AppendJSON(c.scratch[:0])
	}
	if ok {
		c.room -= len(c.scratch)
	}
	return ok
}

// value appends v without its validity. It returns false, having appended nothing, where v is not of the column's type.
func (c *Appender) value(dst *pipeline.Values, v *Value, format codec.TimeFormat) bool {
	switch dst.Field.Type {
	case pipeline.String:
		text, ok := v.Data, v.Kind == Text || v.Kind == Bytes
		if !ok {
			if c.scratch, ok = v.appendText(c.scratch[:0]); !ok {
				return false
			}
			text = c.scratch
		}
		dst.Text.Data = charset.AppendUTF8(dst.Text.Data, text)
		dst.Text.End()
	case pipeline.Int64:
		if v.Kind != Int && v.Kind != Enum {
			return false
		}
		dst.Ints = append(dst.Ints, v.Num)
	case pipeline.Float64:
		f, ok := c.float(v)
		if !ok {
			return false
		}
		dst.Floats = append(dst.Floats, f)
	case pipeline.Bool:
		if v.Kind != Bool {
			return false
		}
		dst.Bools = append(dst.Bools, v.Num != 0)
	case pipeline.Timestamp:
		t, ok := timestamp(v, format)
		if !ok {
			return false
		}
		dst.Ints = append(dst.Ints, t)
	}
	return true
}

func (c *Appender) float(v *Value) (float64, bool) {
	switch v.Kind {
	case Float:
		return v.Float, true
	case Int:
		return float64(v.Num), true
	case Uint:
		return float64(uint64(v.Num)), true
	case Decimal:
		c.scratch = appendDecimal(c.scratch[:0], v.Data, int(v.Scale))
		return codec.ParseFloat(c.scratch)
	default:
		return 0, false
	}
}

const microsPerDay int64 = 86400e6

// timestamp returns v in microseconds. A number that the schema does not call a time is one in the unit of format.
func timestamp(v *Value, format codec.TimeFormat) (int64, bool) {
	switch v.Kind {
	case Instant:
		return v.Num, true
	case Date:
		return v.Num * microsPerDay, v.Num >= math.MinInt64/microsPerDay && v.Num <= math.MaxInt64/microsPerDay
	case Text:
		if format != codec.RFC3339 {
			return 0, false
		}
		return codec.ParseRFC3339(v.Data)
	case Int:
		if format == codec.RFC3339 {
			return 0, false
		}
		return Micros(v.Num, format)
	case Float:
		perUnit := math.Pow(1000, float64(codec.EpochMicros)-float64(format))
		t := math.Floor(v.Float * perUnit)
		return int64(t), format != codec.RFC3339 && t >= -1<<63 && t < 1<<63
	default:
		return 0, false
	}
}

// Micros returns a number in the unit of format, which is not RFC3339, in microseconds, rounded down; false where it does
// not fit.
func Micros(n int64, format codec.TimeFormat) (int64, bool) {
	switch format {
	case codec.EpochNanos:
		return time.Unix(0, n).UnixMicro(), true
	case codec.EpochMillis:
		return n * 1000, n >= math.MinInt64/1000 && n <= math.MaxInt64/1000
	case codec.EpochSeconds:
		return n * 1_000_000, n >= math.MinInt64/1_000_000 && n <= math.MaxInt64/1_000_000
	default:
		return n, true
	}
}
