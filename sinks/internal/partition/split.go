package partition

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/internal/take"
)

// Part is the rows of a record that belong in one directory.
type Part struct {
	// Dir is the directory, with slashes: dt=2026-11-21/country=DE.
	Dir string
	// Rows are in the order that they had. Whoever has them releases them.
	Rows arrow.Record
}

// Splitter divides records of one schema. It is used by one goroutine at a time.
type Splitter struct {
	keys []bound
	fold bool

	late []bool // by row, within SplitLate; empty otherwise

	ids   map[string]int32 // by directory, of the record being split
	dirs  []string
	known map[string]string // directories of earlier records, so as not to make their names again
	row   []byte
	value []byte
	of    []int32 // directory of each row
	order []int32 // rows, by directory
	ends  []int32 // in order
	parts []Part
	taker take.Taker
}

// maxKnown bounds the names that are remembered.
const maxKnown = 1 << 14

// New returns a splitter for rows of a schema. The directories of a row have up to room bytes together. fold says that names
// which differ in case alone are the same where they go.
func New(keys []Key, s *arrow.Schema, room int, fold bool) (*Splitter, error) {
	p := &Splitter{ids: map[string]int32{}, known: map[string]string{}, fold: fold}
	texts := 0
	for _, k := range keys {
		b, err := bind(k, s)
		if err != nil {
			return nil, err
		}
		room -= len(k.Name) + len("=/")
		if b.free {
			texts++
		} else {
			room -= len(Null) // the longest of them
		}
		p.keys = append(p.keys, b)
	}
	for i := range p.keys {
		k := &p.keys[i]
		if k.most = maxValue; !k.free {
			continue
		}
		k.most = min(maxValue, room/texts, maxName-len(k.Name)-1)
		if k.most < minValue {
			return nil, fmt.Errorf("there is no room for the values of %s in the names of the files: together with the folder they may have 1,024 bytes on S3; "+
				"use a shorter path, or partition by fewer texts, or by bucket(N, %s)", k.Name, k.Column)
		}
	}
	if texts == 0 && room < 0 {
		return nil, errors.New("there is no room for the directories in the names of the files: together with the folder they may have 1,024 bytes on S3; use a shorter path")
	}
	return p, nil
}

// Split divides the rows of r. The slice belongs to the splitter, and the rows may lie in its memory or in that of r: all
// are valid until the next Split at most.
func (p *Splitter) Split(r arrow.Record) []Part {
	p.assign(r)
	p.parts = p.parts[:0]
	switch n := len(p.dirs); {
	case n == 1:
		r.Retain()
		p.parts = append(p.parts, Part{p.dirs[0], r})
	case p.runs() == n:
		start := 0
		for i := range p.of {
			if i+1 == len(p.of) || p.of[i+1] != p.of[i] {
				p.parts = append(p.parts, Part{p.dirs[p.of[i]], r.NewSlice(int64(start), int64(i+1))})
				start = i + 1
			}
		}
	default:
		p.sort()
		taken := p.taker.Take(r, p.order)
		defer taken.Release()
		start := int32(0)
		for i, end := range p.ends {
			p.parts = append(p.parts, Part{p.dirs[i], taken.NewSlice(int64(start), int64(end))})
			start = end
		}
	}
	return p.parts
}

// assign finds the directory of every row.
func (p *Splitter) assign(r arrow.Record) {
	clear(p.ids)
	p.dirs, p.of = p.dirs[:0], p.of[:0]
	if len(p.known) > maxKnown {
		clear(p.known)
	}
	for i := range int(r.NumRows()) {
		p.row = p.row[:0]
		keys := p.keys
		if len(p.late) > 0 && p.late[i] {
			p.row, keys = append(p.row, Late...), nil
		}
		for j, k := range keys {
			if j > 0 {
				p.row = append(p.row, '/')
			}
			p.row = append(append(p.row, k.Name...), '=')
			if a := r.Column(k.column); a.IsNull(i) {
				p.row = append(p.row, Null...)
			} else {
				p.value = k.value(p.value[:0], a, i)
				p.row = appendEscaped(p.row, p.value, k.most, p.fold)
			}
		}
		id, ok := p.ids[string(p.row)]
		if !ok {
			dir, ok := p.known[string(p.row)]
			if !ok {
				dir = string(p.row)
				p.known[dir] = dir
			}
			id = int32(len(p.dirs))
			p.ids[dir] = id
			p.dirs = append(p.dirs, dir)
		}
		p.of = append(p.of, id)
	}
}

// runs counts the runs of rows of one directory. If there are as many as directories, no row has to move.
func (p *Splitter) runs() int {
	n := 0
	for i, id := range p.of {
		if i == 0 || id != p.of[i-1] {
			n++
		}
	}
	return n
}

// sort puts the rows in the order of their directories.
func (p *Splitter) sort() {
	p.ends = append(p.ends[:0], make([]int32, len(p.dirs))...)
	for _, id := range p.of {
		p.ends[id]++
	}
	sum := int32(0)
	for i, n := range p.ends {
		p.ends[i] = sum // where the directory begins, for now
		sum += n
	}
	if cap(p.order) < len(p.of) {
		p.order = make([]int32, len(p.of))
	}
	p.order = p.order[:len(p.of)]
	for row, id := range p.of {
		p.order[p.ends[id]] = int32(row)
		p.ends[id]++
	}
}
