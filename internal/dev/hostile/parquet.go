package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Types of Thrift's compact protocol.
const (
	thriftI32    = 5
	thriftI64    = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

// thrift makes a struct, field by field.
type thrift struct {
	b    []byte
	last byte
}

func (t *thrift) head(id, typ byte) *thrift {
	t.b = append(t.b, (id-t.last)<<4|typ)
	t.last = id
	return t
}

func (t *thrift) i32(id byte, v int64) *thrift {
	t.head(id, thriftI32).b = binary.AppendVarint(t.b, v)
	return t
}

func (t *thrift) i64(id byte, v int64) *thrift {
	t.head(id, thriftI64).b = binary.AppendVarint(t.b, v)
	return t
}

func (t *thrift) text(id byte, s string) *thrift {
	t.head(id, thriftBinary).b = append(binary.AppendUvarint(t.b, uint64(len(s))), s...)
	return t
}

func (t *thrift) sub(id byte, s *thrift) *thrift {
	t.head(id, thriftStruct).b = append(t.b, s.end()...)
	return t
}

// list claims n elements, whatever there are.
func (t *thrift) list(id, typ byte, n uint64, elements ...[]byte) *thrift {
	t.head(id, thriftList)
	t.b = binary.AppendUvarint(append(t.b, 0xf0|typ), n)
	t.b = append(t.b, bytes.Join(elements, nil)...)
	return t
}

func (t *thrift) end() []byte { return append(bytes.Clone(t.b), 0) }

func fields() *thrift { return new(thrift) }

// pqGroup is an element of a schema that has children, pqLeaf one that has texts.
func pqGroup(name string, children int64) []byte {
	return fields().text(4, name).i32(5, children).end()
}

func pqLeaf(name string) []byte { return fields().i32(1, 6).i32(3, 0).text(4, name).i32(6, 0).end() }

func pqWrap(body, footer []byte) []byte {
	out := append(append([]byte("PAR1"), body...), footer...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(footer))), "PAR1"...)
}

// pqFile has a column of one row group with these pages.
func pqFile(name string, codec, rows int64, dictionary bool, pages ...[]byte) []byte {
	body := bytes.Join(pages, nil)
	size, first := int64(len(body)), int64(4)
	if dictionary {
		first += int64(len(pages[0]))
	}
	meta := fields().i32(1, 6).list(2, thriftI32, 1, []byte{0}).list(3, thriftBinary, 1, append(binary.AppendUvarint(nil, uint64(len(name))), name...)).
		i32(4, codec).i64(5, rows).i64(6, size).i64(7, size).i64(9, first)
	if dictionary {
		meta.i64(11, 4)
	}
	group := fields().list(1, thriftStruct, 1, fields().i64(2, first).sub(3, meta).end()).i64(2, size).i64(3, rows)
	return pqWrap(body, fields().i32(1, 1).list(2, thriftStruct, 2, pqGroup("root", 1), pqLeaf(name)).i64(3, rows).list(4, thriftStruct, 1, group.end()).
		text(6, "x").end())
}

// pqPage is a page of values, which claims its sizes.
func pqPage(values, encoding, unc, comp int64, body []byte) []byte {
	h := fields().i32(1, 0).i32(2, unc).i32(3, comp).sub(5, fields().i32(1, values).i32(2, encoding).i32(3, 3).i32(4, 3))
	return append(h.end(), body...)
}

func pqText(s string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(s))), s...)
}

// pqDictionary is a dictionary of one text.
func pqDictionary() []byte {
	body := pqText("https://a.example/")
	return append(fields().i32(1, 2).i32(2, int64(len(body))).i32(3, int64(len(body))).sub(7, fields().i32(1, 1).i32(2, 0)).end(), body...)
}

// runLength is a page that is one run of n values of the dictionary, in six bytes or so.
func runLength(n int64) []byte {
	run := append(binary.AppendUvarint([]byte{1}, uint64(n)<<1), 0)
	return pqFile("url", 0, n, true, pqDictionary(), pqPage(n, 8, int64(len(run)), int64(len(run)), run))
}

// zeros is a page that zstd makes of so many zeros.
func zeros(n int64) ([]byte, error) {
	var z bytes.Buffer
	w, err := zstd.NewWriter(&z, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	if _, err := io.CopyN(w, nothing{}, n); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return pqFile("url", 6, 1, false, pqPage(1, 0, n, int64(z.Len()), z.Bytes())), nil
}

// nothing is zeros without end.
type nothing struct{}

func (nothing) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// pqNested is a schema so deep.
func pqNested(depth int) []byte {
	group := fields().i32(3, 1).text(4, "g").i32(5, 1).end()
	return pqWrap(nil, fields().i32(1, 1).list(2, thriftStruct, uint64(depth+2), pqGroup("r", 1), bytes.Repeat(group, depth), pqLeaf("url")).
		i64(3, 0).list(4, thriftStruct, 0).end())
}

// pqHostile are files that claim, or become, more than there is.
func pqHostile() map[string]func() ([]byte, error) {
	is := func(b []byte) func() ([]byte, error) { return func() ([]byte, error) { return b, nil } }
	huge := bytes.Clone(fields().i32(1, 1).list(2, thriftStruct, 2, pqGroup("root", 1), pqLeaf("url")).i64(3, 0).list(4, thriftStruct, 0).b)
	escape := "url\x1b]0;PWNED\x07\x1b[31mRED\u202e"
	return map[string]func() ([]byte, error){
		"schema-claim":  is(pqWrap(nil, fields().i32(1, 1).list(2, thriftStruct, 1<<31-1).i64(3, 0).end())),
		"group-claim":   is(pqWrap(nil, fields().i32(1, 1).list(2, thriftStruct, 2, pqGroup("root", 1), pqLeaf("url")).i64(3, 0).list(4, thriftStruct, 1<<31-1).end())),
		"text-claim":    is(pqWrap(nil, binary.AppendUvarint(append(huge, 2<<4|thriftBinary), 1<<31-1))),
		"children":      is(pqWrap(nil, fields().i32(1, 1).list(2, thriftStruct, 2, pqGroup("root", 1<<31-1), pqLeaf("url")).i64(3, 0).list(4, thriftStruct, 0).end())),
		"minus":         is(pqWrap(nil, fields().i32(1, 1).list(2, thriftStruct, 2, pqGroup("root", -1), pqLeaf("url")).i64(3, -1).list(4, thriftStruct, 0).end())),
		"nested-5000":   is(pqNested(5000)),
		"nested-100000": func() ([]byte, error) { return pqNested(100_000), nil },
		"run-1g":        is(runLength(1_000_000_000)),
		"run-200m":      is(runLength(200_000_000)),
		"zstd-2g":       func() ([]byte, error) { return zeros(2_000_000_000) },
		"zstd-300m":     func() ([]byte, error) { return zeros(300_000_000) },
		"page-claim":    is(pqFile("url", 0, 1, false, pqPage(1, 0, 1<<31-1, 1<<31-1, []byte{1, 2, 0}))),
		"page-minus":    is(pqFile("url", 0, 1, false, pqPage(1, 0, -1, -1, []byte{1, 2, 0}))),
		"footer-length": is([]byte("PAR1\x00\xff\xff\xff\x7fPAR1")),
		"escapes":       is(pqFile(escape, 0, 1, false, pqPage(1, 0, 22, 22, pqText("https://a.example/")))),
		"nothing":       is(nil),
		"magic":         is([]byte("PAR1")),
	}
}

// parquetCases are the files above, through everything that reads Parquet, and mutated ones.
func parquetCases() []*testCase {
	var all []*testCase
	for name, data := range pqHostile() {
		bad := beside(func(*workplace) ([]byte, error) { return data() })
		all = append(all, runOver(parquetKind, name, bad), parseOver(parquetKind, name, bad))
		all = append(all, parquetCommands(name, bad)...)
	}
	for i := range 72 {
		base := []string{"bad-none.parquet", "bad-snappy.parquet", "bad-gzip.parquet", "bad-zstd.parquet"}[i/6%4]
		bad, name := mutated(base), fmt.Sprintf("mutated%02d", i)
		switch i % 6 {
		case 0:
			all = append(all, runOver(parquetKind, name, bad))
		case 1:
			all = append(all, parseOver(parquetKind, name, bad))
		default:
			all = append(all, parquetCommands(name, bad)[i%6-2])
		}
	}
	bases := []string{"bad-none.parquet", "bad-snappy.parquet", "bad-gzip.parquet", "bad-zstd.parquet"}
	return append(all, many(parquetKind, bases, []string{"run", "run.yaml"}),
		many(parquetKind, bases, append([]string{"parse", "--quiet", "--parallel", "1", "--to", "ndjson", "--columns", "url,host", "in"}, parquetKind.flags...)))
}

func parquetCommands(name string, bad func(w *workplace, to string) error) []*testCase {
	return []*testCase{
		commandOver("parquet", name, ".parquet", []int{0, 1, 5}, bad, "parquet", "check", "BAD"),
		commandOver("parquet", name, ".parquet", []int{0, 1}, bad, "parquet", "info", "BAD"),
		commandOver("parquet", name, ".parquet", []int{0, 1}, bad, "parquet", "head", "BAD"),
		commandOver("parquet", name, ".parquet", []int{0, 1}, bad, "convert", "BAD", "out.ndjson"),
	}
}
