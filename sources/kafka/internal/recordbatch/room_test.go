package recordbatch

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

var compressing = []uint16{codecGzip, codecSnappy, codecSnappyFramed, codecLZ4, codecZstd}

// growing returns a set of two batches, each with a record of size bytes that are alike.
func growing(t *testing.T, codec uint16, size int) (set, value []byte) {
	value = bytes.Repeat([]byte("a"), size)
	for base := range int64(2) {
		set = append(set, batchSpec{base: base, codec: codec, records: []kmsg.Record{recordAt(0, nil, value)}}.encode(t)...)
	}
	return set, value
}

// TestRoom: nothing is decompressed before there is room for it, and where there is none, reading goes on when there is.
func TestRoom(t *testing.T) {
	const size = 300_000
	for _, codec := range compressing {
		t.Run(fmt.Sprint("codec ", codec), func(t *testing.T) {
			set, value := growing(t, codec, size)
			r := newReader(t, 1<<20)
			allowed, held := int64(0), int64(0)
			r.Room = func(n int64) bool {
				if n > allowed {
					held = 0
					return false
				}
				held = n
				return true
			}
			r.Reset(set, 0)
			var rec Record
			refused := 0
			for offset := int64(0); offset < 2; {
				found, err := r.Next(&rec)
				if int64(cap(r.buf)) > held {
					t.Fatalf("%d bytes are held, and %d allowed", cap(r.buf), held)
				}
				switch {
				case errors.Is(err, ErrNoRoom):
					refused++
					if r.Position() != offset || !errors.Is(r.Open(), ErrNoRoom) {
						t.Fatalf("position %d, want %d", r.Position(), offset)
					}
					allowed = r.Wants()
					if err := r.Open(); err != nil && allowed >= 2*size {
						t.Fatal(err)
					}
				case err != nil || !found || rec.Offset != offset || !bytes.Equal(rec.Value, value):
					t.Fatalf("record %d of %d bytes, %v", rec.Offset, len(rec.Value), err)
				default:
					offset, allowed = offset+1, 0
				}
			}
			if refused < 2 {
				t.Errorf("room was refused %d times", refused)
			}
			r.Reset(nil, 2)
			if r.Free(); held != 0 {
				t.Errorf("%d bytes were not given back", held)
			}
		})
	}
}

// TestTooLarge: a batch that decompresses to more than the limit is an error of its own kind, and takes no more than the limit.
func TestTooLarge(t *testing.T) {
	const limit = 100_000
	for _, codec := range compressing {
		t.Run(fmt.Sprint("codec ", codec), func(t *testing.T) {
			set, _ := growing(t, codec, 3*limit)
			r := newReader(t, limit)
			r.Room = func(n int64) bool {
				if n > limit {
					t.Errorf("%d bytes are wanted", n)
				}
				return true
			}
			r.Reset(set, 0)
			_, err := r.Next(new(Record))
			if !errors.Is(err, ErrCorrupt) || !errors.Is(err, ErrTooLarge) {
				t.Fatal(err)
			}
			if entry, next := r.Broken(); next != 1 || len(entry) != len(set)/2 {
				t.Errorf("%d bytes of %d, up to offset %d", len(entry), len(set), next)
			}
		})
	}
}
