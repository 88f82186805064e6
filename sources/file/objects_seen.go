package file

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/pipeline"
)

// objectMark is what a commit of a lane of objects says in the Of of its [pipeline.Mark]: the object that its last records are of,
// and those that were read to their end before.
type objectMark struct {
	Version int    `json:"v"`
	Key     string `json:"key"`
	ETag    string `json:"etag"`
	Size    int64  `json:"size"`
	// Base is the position of the first record of the object, and End the position behind it, 0 if that was not known yet.
	Base int64 `json:"base"`
	End  int64 `json:"end,omitempty"`
	// Done has the fingerprints of the objects that were read to their end since the commit before, and maybe of some that were
	// before that, eight bytes each, little-endian.
	Done []byte `json:"done,omitempty"`
	// Sum is made of all objects that were read to their end, in their order: two lanes that have read others, or in another order, say
	// something else even at the same position. It is 0 in what older versions have written.
	Sum uint64 `json:"sum,omitempty"`
}

const objectMarkVersion = 1

func (m *objectMark) object() objstore.Object {
	return objstore.Object{Key: m.Key, Size: m.Size, ETag: m.ETag}
}

// ended reports whether all of the object lies before a position.
func (m *objectMark) ended(next int64) bool { return m.End > 0 && next >= m.End }

// text returns m as a commit has it.
func (m *objectMark) text() string {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // there is nothing in it that cannot be encoded
	}
	return string(b)
}

// parseObjectMark returns what text has written.
func parseObjectMark(text string) (*objectMark, error) {
	m := new(objectMark)
	if err := json.Unmarshal([]byte(text), m); err != nil || m.Version != objectMarkVersion || len(m.Done)%8 != 0 || m.Base < 0 || m.End < 0 {
		return nil, fmt.Errorf("%.200q is not what this urlmill writes down about objects: use the version that has written it, or a newer one", text)
	}
	return m, nil
}

// summed returns the Sum of a lane after another object, which ended at the position end.
func summed(sum uint64, d doneObject) uint64 {
	var b [24]byte
	for i, v := range []uint64{sum, d.fingerprint, uint64(d.end)} {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	return xxh3.Hash(b[:])
}

// fingerprint identifies an object with its content. Of ten million objects, two have the same with a probability of 3 in a million.
func fingerprint(o objstore.Object) uint64 {
	b := make([]byte, 0, 256)
	b = append(append(append(b, o.Key...), 0), o.ETag...)
	return xxh3.Hash(strconv.AppendInt(append(b, 0), o.Size, 10))
}

// seen is a set of fingerprints. It takes eight bytes for each that was there at the start, and not much more for others.
type seen struct {
	old   []uint64 // sorted
	fresh map[uint64]struct{}
}

// leastFresh is how many new ones there are before they are sorted.
const leastFresh = 1 << 14

func (s *seen) has(f uint64) bool {
	if _, ok := s.fresh[f]; ok {
		return true
	}
	_, ok := slices.BinarySearch(s.old, f)
	return ok
}

func (s *seen) add(f uint64) {
	if s.fresh == nil {
		s.fresh = map[uint64]struct{}{}
	}
	if s.fresh[f] = struct{}{}; len(s.fresh) >= max(leastFresh, len(s.old)/8) {
		s.old = slices.Grow(s.old, len(s.fresh))
		for f := range s.fresh {
			s.old = append(s.old, f)
		}
		s.fresh = nil
		s.sort()
	}
}

// recall adds what a commit says was read, and returns its mark. Nothing is found before sort is called.
func (s *seen) recall(m pipeline.Mark) (*objectMark, error) {
	mark, err := parseObjectMark(m.Of)
	if err != nil {
		return nil, err
	}
	if s.load(mark.Done); mark.ended(m.Next) {
		s.old = append(s.old, fingerprint(mark.object()))
	}
	return mark, nil
}

// load adds fingerprints as a mark has them. Nothing is found before sort is called.
func (s *seen) load(done []byte) {
	for ; len(done) >= 8; done = done[8:] {
		s.old = append(s.old, binary.LittleEndian.Uint64(done))
	}
}

func (s *seen) sort() {
	slices.Sort(s.old)
	s.old = slices.Compact(s.old)
}
