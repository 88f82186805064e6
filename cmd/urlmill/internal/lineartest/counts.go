package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"runtime/coverage"
)

// counts is what an operation has done.
type counts struct {
	steps uint64 // blocks of statements that were run, those of loops each time
	mem   uint64 // bytes allocated, which is also a bound of those that are copied into new memory
	n     uint64 // allocations
}

// count runs f.
func count(f func()) (counts, error) {
	var before, after runtime.MemStats
	if err := coverage.ClearCounters(); err != nil {
		return counts{}, err
	}
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	var text bytes.Buffer
	if err := coverage.WriteCounters(&text); err != nil {
		return counts{}, err
	}
	steps, err := sum(text.Bytes())
	return counts{steps, after.TotalAlloc - before.TotalAlloc, after.Mallocs - before.Mallocs}, err
}

// sum adds the counters of a file of counters, of one segment: Go has no function that does.
//
// Source: internal/coverage/defs.go and internal/coverage/encodecounter of Go
func sum(file []byte) (total uint64, err error) {
	const header, segment, raw, uleb128 = 32, 16, 1, 2
	if len(file) < header+segment || !bytes.Equal(file[:4], []byte("\x00cwm")) {
		return 0, errors.New("no file of counters")
	}
	flavor, rest := file[24], file[header:]
	functions := binary.LittleEndian.Uint64(rest)
	rest = rest[segment+binary.LittleEndian.Uint32(rest[8:])+binary.LittleEndian.Uint32(rest[12:]):]
	next := func() (v uint64) {
		n := 0
		switch flavor {
		case raw:
			v, n = uint64(binary.LittleEndian.Uint32(rest)), 4
		case uleb128:
			v, n = binary.Uvarint(rest)
		}
		if n <= 0 {
			err = errors.New("a file of counters of an unknown form")
			n = len(rest)
		}
		rest = rest[n:]
		return v
	}
	for range functions {
		counters := next()
		_, _ = next(), next() // package and function
		for range counters {
			total += next()
		}
		if err != nil {
			return 0, err
		}
	}
	return total, nil
}
