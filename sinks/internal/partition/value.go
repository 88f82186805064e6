package partition

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
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

// free reports whether values of a type can be of any length.
func free(t arrow.DataType) bool {
	return t.ID() == arrow.STRING || t.ID() == arrow.LARGE_STRING || t.ID() == arrow.BINARY
}

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

const (
	// maxValue bounds an escaped value, and maxName the name of a directory: names of files have 255 bytes at most on most file
	// systems.
	maxValue = 180
	maxName  = 255
	// minValue is the least bound of a text: a shortened one has its hash and some of its letters.
	minValue = 48
	// hashBytes is how much of a SHA-256 stands for a value that is too long. Nobody can make two values that have the same.
	hashBytes = 16
	// slack is more than what a shortened value may be shorter than its bound, as nothing is cut within a letter or an escape.
	slack = 8
)

// appendEscaped appends a directory's value of up to most bytes. What gets too long ends with its hash instead. Different values
// give different texts: those that are shortened are longer than all others. With fold, so they do on a file system that takes
// upper for lower case, or one form of a letter for another: then all letters that have several stand as %XX.
func appendEscaped(dst, value []byte, most int, fold bool) []byte {
	if len(value) == 0 {
		return append(dst, Null...)
	}
	start := len(dst)
	const digits = "0123456789ABCDEF"
	reserved := len(value) == len(Null) && strings.EqualFold(string(value), Null)
	for i := 0; i < len(value); {
		c := value[i]
		size, plain := 1, !escaped[c]
		switch {
		case c >= 0x80:
			var r rune
			r, size = utf8.DecodeRune(value[i:])
			if plain = !fold && (r != utf8.RuneError || size > 1); !plain {
				size = 1
			}
		case fold && 'A' <= c && c <= 'Z', reserved && i == 0:
			plain = false
		}
		if plain {
			dst = append(dst, value[i:i+size]...)
		} else {
			dst = append(dst, '%', digits[c>>4], digits[c&15])
		}
		i += size
	}
	if len(dst)-start <= most-slack {
		return dst
	}
	cut := start + most - 1 - 2*hashBytes
	for cut > start && !utf8.RuneStart(dst[cut]) {
		cut--
	}
	if at := bytes.LastIndexByte(dst[cut-2:cut], '%'); at >= 0 {
		cut += at - 2 // no half of an escape
	}
	sum := sha256.Sum256(value)
	return hex.AppendEncode(append(dst[:cut], '~'), sum[:hashBytes])
}
