package recordbatch

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// threeAt returns a batch of the offsets base to base+2.
func threeAt(tb testing.TB, base int64) []byte {
	return batchSpec{base: base, records: []kmsg.Record{
		recordAt(0, nil, []byte("a")), recordAt(1, nil, []byte("b")), recordAt(2, nil, []byte("c")),
	}}.encode(tb)
}

func TestBroken(t *testing.T) {
	flipped := func(at int) []byte {
		e := threeAt(t, 10)
		e[at] ^= 1
		return e
	}
	unreadable := threeAt(t, 10) // a sound checksum over records that are none
	unreadable[len(unreadable)-4] ^= 0x55
	sign(unreadable)
	unknownCodec := batchSpec{base: 10, codec: 6, records: []kmsg.Record{recordAt(0, nil, nil)}, lastDelta: 4}.encode(t)
	compacted := batchSpec{base: 10, lastDelta: 7, records: []kmsg.Record{recordAt(2, nil, nil)}}.encode(t)
	compacted[len(compacted)-1] ^= 1
	oldMessage := encodeMessage(1, 10, 0, 0, nil, []byte("v"))
	oldMessage[len(oldMessage)-1] ^= 1
	format := threeAt(t, 10)
	format[magicAt] = 3
	negative := threeAt(t, 10)
	binary.BigEndian.PutUint32(negative[lastDeltaAt:], 1<<31)
	length := threeAt(t, 10)
	binary.BigEndian.PutUint32(length[lengthAt:], 3)

	for name, test := range map[string]struct {
		entry []byte
		after []byte
		next  int64
	}{
		"a bit of the records, at the end of the set":     {flipped(70), nil, 13},
		"a bit of the records":                            {flipped(70), threeAt(t, 13), 13},
		"a bit of the records, a hole behind":             {flipped(70), threeAt(t, 20), 13},
		"the last offset":                                 {flipped(lastDeltaAt + 2), threeAt(t, 13), 13},
		"the last offset, at the end of the set":          {flipped(lastDeltaAt + 2), nil, -1},
		"the last offset, before another damage":          {flipped(lastDeltaAt + 2), flipped(70), -1},
		"compacted":                                       {compacted, threeAt(t, 18), 18},
		"compacted, at the end of the set":                {compacted, nil, -1},
		"unknown codec, at the end of the set":            {unknownCodec, nil, 15},
		"records that are none, in the middle of a batch": {unreadable, nil, 13},
		"old message":                                     {oldMessage, nil, 11},
		"unknown format":                                  {format, nil, -1},
		"a negative last offset":                          {negative, threeAt(t, 13), 13},
		"no length":                                       {length, nil, 13},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Reader{}
			r.Reset(slices.Concat(threeAt(t, 7), test.entry, test.after), 7)
			if _, next := r.Broken(); next != -1 {
				t.Errorf("before the error: %d", next)
			}
			got, err := readAll(r)
			if err == nil {
				t.Fatalf("read %v", got)
			}
			entry, next := r.Broken()
			if next != test.next {
				t.Errorf("goes on at %d, want %d (%v)", next, test.next, err)
			}
			if !bytes.HasPrefix(entry, test.entry) {
				t.Errorf("%d bytes of %d", len(entry), len(test.entry))
			}
		})
	}
}

func TestBehindOfWhatIsCutOff(t *testing.T) {
	e := threeAt(t, 10)
	for n := range len(e) {
		want := int64(-1)
		if n >= headerSize {
			want = 13
		}
		if got := Behind(e[:n], 10); got != want {
			t.Errorf("%d bytes: %d, want %d", n, got, want)
		}
	}
	if got := Behind(e, 13); got != -1 {
		t.Errorf("behind what has been read: %d", got)
	}
}
