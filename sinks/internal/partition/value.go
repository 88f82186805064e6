package partition

import (
	"encoding/hex"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/zeebo/xxh3"
)

// Null is the directory value of nulls, and of empty texts, which a directory's name cannot tell from nulls.
//
// Source: Apache Hive, hive.exec.default.partition.name
const Null = "__HIVE_DEFAULT_PARTITION__"

// textOf returns what appends the text of a value, nil for types that cannot be partitioned by.
func textOf(t arrow.DataType) func(dst []byte, a arrow.Array, i int) []byte {
	switch t.ID() {
	case arrow.STRING:
		return func(dst []byte, a arrow.Array, i int) []byte { return append(dst, a.(*array.String).Value(i)...) }
	case arrow.LARGE_STRING:
		return func(dst []byte, a arrow.Array, i int) []byte { return append(dst, a.(*array.LargeString).Value(i)...) }
	case arrow.BINARY:
		return func(dst []byte, a arrow.Array, i int) []byte { return append(dst, a.(*array.Binary).Value(i)...) }
	case arrow.BOOL:
		return func(dst []byte, a arrow.Array, i int) []byte {
			return strconv.AppendBool(dst, a.(*array.Boolean).Value(i))
		}
	case arrow.INT8:
		return intOf(func(a arrow.Array, i int) int64 { return int64(a.(*array.Int8).Value(i)) })
	case arrow.INT16:
		return intOf(func(a arrow.Array, i int) int64 { return int64(a.(*array.Int16).Value(i)) })
	case arrow.INT32:
		return intOf(func(a arrow.Array, i int) int64 { return int64(a.(*array.Int32).Value(i)) })
	case arrow.INT64:
		return intOf(func(a arrow.Array, i int) int64 { return a.(*array.Int64).Value(i) })
	case arrow.UINT8:
		return intOf(func(a arrow.Array, i int) int64 { return int64(a.(*array.Uint8).Value(i)) })
	case arrow.UINT16:
		return intOf(func(a arrow.Array, i int) int64 { return int64(a.(*array.Uint16).Value(i)) })
	case arrow.UINT32:
		return intOf(func(a arrow.Array, i int) int64 { return int64(a.(*array.Uint32).Value(i)) })
	case arrow.DATE32:
		return func(dst []byte, a arrow.Array, i int) []byte {
			return appendDate(dst, int64(a.(*array.Date32).Value(i)))
		}
	}
	return nil
}

func intOf(get func(a arrow.Array, i int) int64) func([]byte, arrow.Array, int) []byte {
	return func(dst []byte, a arrow.Array, i int) []byte { return strconv.AppendInt(dst, get(a, i), 10) }
}

// bucketOf returns what appends a number below n that depends on the text of a value alone: its XXH3 hash of 64 bits,
// modulo n.
func bucketOf(n int, text func([]byte, arrow.Array, int) []byte) func([]byte, arrow.Array, int) []byte {
	return func(dst []byte, a arrow.Array, i int) []byte {
		start := len(dst)
		dst = text(dst, a, i)
		h := xxh3.Hash(dst[start:]) % uint64(n)
		return strconv.AppendUint(dst[:start], h, 10)
	}
}

// timeOf returns what appends the month of a timestamp, YYYY-MM, its date, YYYY-MM-DD, or its hour, 00 to 23, in UTC.
func timeOf(what string, t arrow.DataType) func([]byte, arrow.Array, int) []byte {
	ts, ok := t.(*arrow.TimestampType)
	if !ok {
		return nil
	}
	perSecond := perSecond(ts)
	return func(dst []byte, a arrow.Array, i int) []byte {
		seconds := floorDiv(int64(a.(*array.Timestamp).Value(i)), perSecond)
		days := floorDiv(seconds, 24*60*60)
		switch what {
		case "month":
			return time.Unix(seconds, 0).UTC().AppendFormat(dst, "2006-01")
		case "date":
			return appendDate(dst, days)
		}
		hour := (seconds - days*24*60*60) / (60 * 60)
		return append(dst, byte('0'+hour/10), byte('0'+hour%10))
	}
}

// perSecond returns how many units of a timestamp are a second.
func perSecond(t *arrow.TimestampType) int64 { return int64(time.Second / t.Unit.Multiplier()) }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func appendDate(dst []byte, days int64) []byte {
	return time.Unix(days*24*60*60, 0).UTC().AppendFormat(dst, time.DateOnly)
}

// escaped tells which bytes stand as %XX in the names of directories. All bytes from 0x80 on stay if they are UTF-8.
//
// Source: Apache Hive, org.apache.hadoop.hive.common.FileUtils.charToEscape
var escaped = func() (set [256]bool) {
	for c := range 0x20 {
		set[c] = true
	}
	for _, c := range []byte("\"#%'*/:=?\\\x7f{[]^") {
		set[c] = true
	}
	return set
}()

// maxValue bounds an escaped value: names of files have 255 bytes at most on most file systems.
const maxValue = 180

// appendEscaped appends a directory's value. What gets too long ends with its hash instead.
func appendEscaped(dst, value []byte) []byte {
	if len(value) == 0 {
		return append(dst, Null...)
	}
	start := len(dst)
	const digits = "0123456789ABCDEF"
	for i := 0; i < len(value); {
		c := value[i]
		size := 1
		if c >= 0x80 {
			var r rune
			r, size = utf8.DecodeRune(value[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(dst, '%', digits[c>>4], digits[c&15])
				i++
				continue
			}
		}
		if escaped[c] {
			dst = append(dst, '%', digits[c>>4], digits[c&15])
		} else {
			dst = append(dst, value[i:i+size]...)
		}
		i += size
	}
	if len(dst)-start <= maxValue {
		return dst
	}
	cut := start + maxValue - 17
	for cut > start && !utf8.RuneStart(dst[cut]) {
		cut--
	}
	sum := xxh3.Hash(value)
	var hash [8]byte
	for i := range hash {
		hash[i] = byte(sum >> (56 - 8*i))
	}
	return hex.AppendEncode(append(dst[:cut], '~'), hash[:])
}
