package facts

import (
	"cmp"
	"strconv"
)

// Epoch is the time of the first record of a partition unless a topic has its own, in milliseconds since 1970: 2024-02-28 00:00:00 UTC.
const Epoch = 1709078400000

const day = 24 * 60 * 60 * 1000

// Header is a header of a record. A nil value is null.
type Header struct {
	Key   string
	Value []byte
}

// mix says which shapes records have, in turn.
var mix = func() (mix []uint8) {
	for s := range shapes {
		if s != page && s != repeat {
			mix = append(mix, plain, uint8(s))
		}
	}
	return mix
}()

// rows and valid say what the shapes give, and which of them are URLs.
var rows, valid = func() (rows []*Row, valid []bool) {
	for i := range shapes {
		row := newRow(&shapes[i])
		rows, valid = append(rows, row), append(valid, !row.NoURL)
	}
	return rows, valid
}()

// shape returns the index of the shape of a record.
func (t *Topic) shape(p int, i int64) int {
	if t.Pages {
		return page + int(i%2)
	}
	s := int(mix[(uint64(i)+5*uint64(p))%uint64(len(mix))])
	if t.Valid && !valid[s] || t.JSON && shapes[s].bytes {
		return plain
	}
	return s
}

// Row returns what the columns of a record's row hold that follow from its URL.
func (t *Topic) Row(p int, i int64) *Row { return rows[t.shape(p, i)] }

// AppendName appends the name that stands in the URL of a record: that of its page.
func (t *Topic) AppendName(dst []byte, p int, i int64) []byte {
	p, i = t.Page(p, i)
	return strconv.AppendInt(append(strconv.AppendInt(dst, int64(p), 10), '/'), i, 10)
}

// AppendValue appends the value of a record.
func (t *Topic) AppendValue(dst []byte, p int, i int64) []byte {
	var buf [40]byte
	name := string(t.AppendName(buf[:0], p, i))
	row := t.Row(p, i)
	if !t.JSON {
		return row.value.Append(dst, name)
	}
	dst = row.literal.Append(append(dst, `{"url":`...), name)
	dst = strconv.AppendInt(append(dst, `,"number":`...), i, 10)
	if HasNote(i) {
		dst = append(append(append(dst, `,"note":"of `...), name...), '"')
	}
	return append(dst, '}')
}

// HasNote reports whether a record has the field note, "of " and its name, with JSON.
func HasNote(i int64) bool { return i%5 != 0 }

// Note is what precedes the name in the field note.
const Note = "of "

// AppendKey appends the key of a record, and reports whether it has one.
func (t *Topic) AppendKey(dst []byte, p int, i int64) (key []byte, ok bool) {
	switch {
	case t.Keys > 0:
		return strconv.AppendUint(dst, scramble(uint64(p)<<48|uint64(i))%uint64(t.Keys), 10), true
	case i%3 == 0:
		return dst, false
	case i%32 == 1:
		return dst, true
	}
	return strconv.AppendInt(append(dst, "key-"...), i, 10), true
}

// headers are the kinds of headers that records have, in turn of their numbers.
var headers = [16][]Header{
	4: {{"trace", []byte("0a1b2c")}},
	9: {{"null", nil}, {"empty", []byte{}}, {"twice", []byte{0xff, 0}}, {"twice", []byte("é")}},
}

// Headers returns the headers of a record, which are not to be changed.
func (t *Topic) Headers(_ int, i int64) []Header { return headers[i%int64(len(headers))] }

// session is how far the times of topics of one name are apart. Later ones have earlier times: brokers refuse the future.
const session = 400 * day

func (t *Topic) epoch() int64 { return cmp.Or(t.From, Epoch) - int64(t.Session)*session }

// Holds reports whether the topic of a session has records of a time. Those of others have none.
func (t *Topic) Holds(at int64) bool { return at >= t.epoch()-session/2 && at < t.epoch()+session/2 }

// Time returns the time of a record in milliseconds since 1970.
func (t *Topic) Time(p int, i int64) int64 {
	at := t.epoch() + i*max(t.Step, 1)
	if t.Late > 0 && i%int64(t.Late) == int64(t.Late)-1 {
		at -= int64(1+scramble(uint64(p)<<48|uint64(i))%40) * day
	}
	return at
}

// scramble spreads numbers evenly (the finalizer of SplitMix64).
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
