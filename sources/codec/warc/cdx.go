package warc

import (
	"bytes"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// NewCDX returns the codec of the lines of an index, CDX or CDXJ.
//
// The first line of CDX may say what its fields are; without it, 9, 10 and 11 fields are those of the usual three kinds. A line of
// CDXJ has a key, a time and a JSON object. The line is kept in Batch.Records. A header, and a line of CDXJ that begins with an
// exclamation mark, is no row. A line that is neither has [pipeline.FaultMalformed].
func NewCDX() codec.Factory { return &cdxFactory{codec.NewShape(cdxFields, false, true)} }

var cdxFields = []pipeline.Field{
	{Name: "cdx_key"}, fetchTime, fetchStatus, redirect, digest, mimeType, mimeFound, charset, languages, truncated, filename, offset, length,
}

type cdxFactory struct{ codec.Shape }

// New implements [codec.Factory].
func (f *cdxFactory) New() codec.Codec { return &index{cdxFactory: f, json: cdxPlaces.NewReader()} }

// cdxPlaces are the members of the object in a line of CDXJ: the URL, and then the fields from the status on.
var cdxPlaces = codec.NewPlaces([]string{
	"/url", "/status", "/redirect", "/digest", "/mime", "/mime-detected", "/charset", "/languages", "/truncated", "/filename", "/offset", "/length", "/encoding",
})

const (
	placeCharset  = 6
	placeEncoding = 12 // what CDXJ of before called the charset
	numCaptures   = 12 // the URL and the fields from the status on
)

// legends are the letters of fields in files without a header line, by their number.
var legends = map[int]string{9: "NbamskrVg", 10: "NbamskrMVg", 11: "NbamskrMSVg"}

// cdxLetters are the letters of the key, the time, the URL and the fields from the status on; 0 for what CDX does not have.
const cdxLetters = "Nbasrkm\x00\x00\x00\x00gVS"

// index implements [codec.Codec].
type index struct {
	*cdxFactory
	letters string // of the header line, "" without one
	json    *codec.PlaceReader
	row     appender
	scratch unescaped
	values  [64][]byte // of a line of CDX
}

// Observe implements [codec.Observer].
func (x *index) Observe(line []byte) { x.isHeader(codec.TrimReturn(line)) }

// isHeader reports whether a line is none of the index, and takes the letters of a header.
func (x *index) isHeader(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte(" CDX "))
	if ok && len(rest) <= 2*len(x.values) {
		x.letters = string(bytes.ReplaceAll(rest, []byte(" "), nil))
	}
	return ok || len(line) > 0 && line[0] == '!'
}

// Decode implements [codec.Codec].
func (x *index) Decode(b *pipeline.Batch, record []byte) bool {
	line := codec.TrimReturn(record)
	if x.isHeader(line) {
		return false
	}
	b.Records.Append(record)
	x.row.reset(b)
	key, rest, _ := bytes.Cut(line, []byte(" "))
	time, object, _ := bytes.Cut(rest, []byte(" "))
	if len(object) > 0 && object[0] == '{' {
		return x.decodeJSON(b, key, time, object, len(line)-len(object))
	}
	return x.decodeFields(b, line)
}

// decodeJSON decodes the object of a line of CDXJ, which begins at the byte start.
func (x *index) decodeJSON(b *pipeline.Batch, key, time, object []byte, start int) bool {
	if at, ok := x.json.Scan(object); !ok {
		return x.Nulls(b, pipeline.FaultMalformed, start+at)
	}
	if p := x.json.At(0); !p.Text() {
		code := pipeline.FaultFieldMissing
		if p.There() {
			code = pipeline.FaultFieldType
		}
		x.row.fault.Note(code, -1)
		b.URLs.AppendNull()
	} else {
		b.URLs.Append(x.scratch.text(object, p))
	}
	x.row.add(key)
	x.row.add(time)
	for i := 1; i < numCaptures; i++ {
		p := x.json.At(i)
		if i == placeCharset && !p.There() {
			p = x.json.At(placeEncoding)
		}
		if !p.Scalar() {
			x.row.add(nil)
			continue
		}
		value := noDash(x.scratch.text(object, p))
		if i == 3 { // the digest
			value = plainDigest(value)
		}
		x.row.add(value)
	}
	x.row.fault.AddTo(b)
	return true
}

// decodeFields decodes a line of CDX.
func (x *index) decodeFields(b *pipeline.Batch, line []byte) bool {
	n := 0
	for rest, more := line, true; more && n < len(x.values); n++ {
		x.values[n], rest, more = bytes.Cut(rest, []byte(" "))
	}
	letters := x.letters
	if letters == "" {
		letters = legends[n]
	}
	if n != len(letters) {
		return x.Nulls(b, pipeline.FaultMalformed, 0)
	}
	if url := x.field(letters, 'a'); url != nil {
		b.URLs.Append(url)
	} else {
		x.row.fault.Note(pipeline.FaultFieldMissing, -1)
		b.URLs.AppendNull()
	}
	for i := range len(cdxLetters) {
		if letter := cdxLetters[i]; letter != 'a' {
			x.row.add(x.field(letters, letter))
		}
	}
	x.row.fault.AddTo(b)
	return true
}

// field returns the value of a letter, nil for none.
func (x *index) field(letters string, letter byte) []byte {
	for i := range len(letters) {
		if letters[i] == letter {
			return noDash(x.values[i])
		}
	}
	return nil
}
