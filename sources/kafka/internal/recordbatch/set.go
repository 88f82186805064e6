package recordbatch

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Places within an entry that all formats share.
const (
	lengthAt = 8
	crcAtOld = 12
	magicAt  = 16
	entryMin = magicAt + 1
)

// ErrCorrupt is the kind of error of everything in a record set that cannot be what a producer wrote.
var ErrCorrupt = errors.New("corrupt records")

func corrupt(offset int64, format string, args ...any) error {
	return fmt.Errorf("offset %d: %w: %w", offset, ErrCorrupt, fmt.Errorf(format, args...))
}

// entry returns the first entry of set whole, nil if it was cut off, and the offset it begins with.
func entry(set []byte) (e []byte, offset int64, err error) {
	if len(set) < entryMin {
		return nil, 0, nil
	}
	offset = int64(binary.BigEndian.Uint64(set))
	length := int32(binary.BigEndian.Uint32(set[lengthAt:]))
	if length < entryMin-lengthAt-4 {
		return nil, offset, corrupt(offset, "an entry of %d bytes", length)
	}
	end := lengthAt + 4 + int(length)
	if len(set) < end {
		return nil, offset, nil
	}
	return set[:end:end], offset, nil
}

// Whole returns the part of set that holds whole entries and the offset after the last of them, without
// looking into them; next is 0 if there is none. An error is about what comes after that part.
func Whole(set []byte) (whole []byte, next int64, err error) {
	rest := set
	for {
		e, offset, err := entry(rest)
		if err != nil || e == nil {
			return set[:len(set)-len(rest)], next, err
		}
		last, err := lastOffset(e, offset)
		if err != nil {
			return set[:len(set)-len(rest)], next, err
		}
		next, rest = last+1, rest[len(e):]
	}
}

// lastOffset returns the offset that the entry e ends with, from what it begins with.
func lastOffset(e []byte, offset int64) (int64, error) {
	switch magic := e[magicAt]; {
	case magic < 2:
		return offset, nil
	case magic > 2:
		return 0, corrupt(offset, "message format v%d is unknown", magic)
	case len(e) < headerSize:
		return 0, corrupt(offset, "a batch of %d bytes", len(e))
	}
	delta := int32(binary.BigEndian.Uint32(e[lastDeltaAt:]))
	if offset < 0 || delta < 0 {
		return 0, corrupt(offset, "last offset delta %d", delta)
	}
	return offset + int64(delta), nil
}
