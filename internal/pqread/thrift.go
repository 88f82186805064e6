package pqread

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The types of Thrift's compact protocol.
//
// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
const (
	typeTrue   = 1
	typeFalse  = 2
	typeByte   = 3
	typeI16    = 4
	typeI32    = 5
	typeI64    = 6
	typeDouble = 7
	typeBinary = 8
	typeList   = 9
	typeSet    = 10
	typeMap    = 11
	typeStruct = 12
	typeUUID   = 13
)

// maxNesting is how deep structs, lists and maps may nest. The format's own structures need ten levels; a decoder recurses
// through those that it does not know.
const maxNesting = 32

// errShort is the error of bytes that end within a structure, errMalformed that of bytes that are none.
var (
	errShort     = io.ErrUnexpectedEOF
	errMalformed = errors.New("it is malformed")
)

// CheckThrift goes over the struct of Thrift's compact protocol at the start of data, and returns its length: the lists and
// texts that it claims are there, and it does not nest deeply. The error is [io.ErrUnexpectedEOF] if data may be the start of
// a struct.
func CheckThrift(data []byte) (int, error) {
	w := walker{data: data}
	return w.walk()
}

// walker goes over a structure of Thrift's compact protocol without taking memory for it: a library that decodes the same
// bytes afterwards allocates what they claim, and every claim has been compared with the bytes that are there.
//
// A path is the field numbers from the outermost structure, one in each byte, the innermost in the lowest one. Lists add
// nothing to it. It is 0 within fields with numbers above 255, which the format does not have.
type walker struct {
	data []byte
	at   int
	// number is called for every integer, with the position of its first byte.
	number func(path uint64, value int64, at int) error
	// flag is called for every boolean field.
	flag func(path uint64, value bool)
	// list is called for every list before its elements, element after each of them.
	list    func(path uint64, n int) error
	element func(path uint64) error
}

// walk goes over the struct at the start of data, and returns its length. The error is errShort if data may be its start.
func (w *walker) walk() (int, error) {
	if err := w.structure(0, 0, true); err != nil {
		return w.at, err
	}
	return w.at, nil
}

func (w *walker) structure(path uint64, depth int, known bool) error {
	if depth > maxNesting {
		return fmt.Errorf("%w: it is nested more than %d deep", errMalformed, maxNesting)
	}
	id := int64(0)
	for {
		head, err := w.byte()
		if err != nil {
			return err
		}
		if head == 0 {
			return nil
		}
		typ := head & 0x0f
		if delta := int64(head >> 4); delta != 0 {
			id += delta
		} else if id, err = w.zigzag(); err != nil {
			return err
		}
		within, ok := uint64(0), known && id > 0 && id < 256
		if ok {
			within = path<<8 | uint64(id)
		}
		if typ == typeTrue || typ == typeFalse {
			if ok && w.flag != nil {
				w.flag(within, typ == typeTrue)
			}
			continue // the value is in the type
		}
		if err := w.value(typ, within, depth+1, ok); err != nil {
			return err
		}
	}
}

func (w *walker) value(typ byte, path uint64, depth int, known bool) error {
	switch typ {
	case typeTrue, typeFalse, typeByte:
		return w.skip(1)
	case typeI16, typeI32, typeI64:
		at := w.at
		v, err := w.zigzag()
		if err == nil && known && w.number != nil {
			err = w.number(path, v, at)
		}
		return err
	case typeDouble:
		return w.skip(8)
	case typeUUID:
		return w.skip(16)
	case typeBinary:
		n, err := w.uvarint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case typeList, typeSet:
		return w.elements(path, depth, known)
	case typeMap:
		return w.pairs(path, depth, known)
	case typeStruct:
		return w.structure(path, depth, known)
	}
	return fmt.Errorf("%w: there is no type %d", errMalformed, typ)
}

func (w *walker) elements(path uint64, depth int, known bool) error {
	head, err := w.byte()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = w.uvarint(); err != nil {
			return err
		}
	}
	if err := w.claim(n); err != nil {
		return err
	}
	if known && w.list != nil {
		if err := w.list(path, int(n)); err != nil {
			return err
		}
	}
	return w.each(int(n), []byte{head & 0x0f}, path, depth, known)
}

func (w *walker) pairs(path uint64, depth int, known bool) error {
	n, err := w.uvarint()
	if err != nil || n == 0 {
		return err
	}
	types, err := w.byte()
	if err != nil {
		return err
	}
	if err := w.claim(n); err != nil {
		return err
	}
	return w.each(int(n), []byte{types >> 4, types & 0x0f}, path, depth, known)
}

// each goes over n elements, each with a value of each of the types.
func (w *walker) each(n int, types []byte, path uint64, depth int, known bool) error {
	if depth > maxNesting {
		return fmt.Errorf("%w: it is nested more than %d deep", errMalformed, maxNesting)
	}
	for range n {
		for _, typ := range types {
			if err := w.value(typ, path, depth+1, known); err != nil {
				return err
			}
		}
		if known && w.element != nil {
			if err := w.element(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// claim compares a number of elements with the bytes that are left. Every element has at least one.
func (w *walker) claim(n uint64) error {
	if n > uint64(len(w.data)-w.at) {
		return fmt.Errorf("%w: a list of %d elements with %d bytes left", errShort, n, len(w.data)-w.at)
	}
	return nil
}

func (w *walker) skip(n uint64) error {
	if n > uint64(len(w.data)-w.at) {
		return fmt.Errorf("%w: a value of %d bytes with %d left", errShort, n, len(w.data)-w.at)
	}
	w.at += int(n)
	return nil
}

func (w *walker) byte() (byte, error) {
	if w.at == len(w.data) {
		return 0, errShort
	}
	w.at++
	return w.data[w.at-1], nil
}

func (w *walker) uvarint() (uint64, error) {
	v, n := binary.Uvarint(w.data[w.at:])
	switch {
	case n == 0:
		return 0, errShort
	case n < 0:
		return 0, fmt.Errorf("%w: a number of more than 64 bits", errMalformed)
	}
	w.at += n
	return v, nil
}

func (w *walker) zigzag() (int64, error) {
	v, err := w.uvarint()
	return int64(v>>1) ^ -int64(v&1), err
}
