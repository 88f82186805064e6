package shard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/dedupe/runs"
)

// formatVersion is the version of the format of lists. Fields may be added without a new one.
const formatVersion = 1

// maxList bounds the line of a list. One with sixty runs has 10 KiB.
const maxList = 1 << 20

// Listed is a run that counts.
type Listed struct {
	// Name is that of the file, in the place of the lane. The run begins at Offset and goes up to the end.
	Name     string `json:"name"`
	Offset   int64  `json:"offset,omitempty"`
	Bytes    int64  `json:"bytes"` // of the file
	Keys     int64  `json:"keys"`
	Checksum string `json:"checksum"` // of the file, in the words of the output
}

// list is the line that a file of a commit begins with. Behind it is the run of the keys that the commit has added.
type list struct {
	Version int `json:"version"`
	// Identity names what the keys are made of.
	Identity string `json:"identity"`
	// Keys is how many the run behind the line has, and Runs are the others that count, the largest first.
	Keys int64    `json:"keys"`
	Runs []Listed `json:"runs"`
}

// encode returns the line, and the run of keys, which are in order, behind it. Where a key is from is said by no value, which would take up to
// four bytes of each in a merged run: an output that is put back has the lists of that time.
func (l list) encode(keys []runs.Key) ([]byte, error) {
	if l.Runs == nil {
		l.Runs = []Listed{} // [] in JSON, not null
	}
	line, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.Write(append(line, '\n'))
	w := runs.NewWriter(&out)
	if err := w.Add(keys, 0); err != nil {
		return nil, err
	}
	_, err = w.Finish()
	return out.Bytes(), err
}

var errDamaged = errors.New("the list of keys is damaged")

// readList reads the line of a file, and returns its length as well.
func readList(in io.ReaderAt, size int64) (l list, length int64, err error) {
	for n := int64(16 << 10); ; n *= 8 {
		head := make([]byte, min(n, size, maxList))
		if _, err := in.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
			return l, 0, err
		}
		if end := bytes.IndexByte(head, '\n'); end >= 0 {
			if err := json.Unmarshal(head[:end], &l); err != nil {
				return l, 0, fmt.Errorf("%w: %w", errDamaged, err)
			}
			return l, int64(end) + 1, l.check()
		}
		if n >= min(size, maxList) {
			return l, 0, fmt.Errorf("%w: it has no line", errDamaged)
		}
	}
}

func (l list) check() error {
	if l.Version > formatVersion {
		return fmt.Errorf("the list of keys has version %d of the format, and this urlmill knows %d: use a newer one", l.Version, formatVersion)
	}
	if l.Version != formatVersion || l.Keys < 0 {
		return fmt.Errorf("%w: it has version %d and %d keys", errDamaged, l.Version, l.Keys)
	}
	for _, r := range l.Runs {
		if !fs.ValidPath(r.Name) || r.Offset < 0 || r.Bytes < r.Offset || r.Keys < 0 {
			return fmt.Errorf("%w: %q of %d bytes is no run", errDamaged, r.Name, r.Bytes)
		}
	}
	return nil
}

// Files returns the files that count, of the list that a commit names: first the one that has the list.
func Files(in io.ReaderAt, at pipeline.Kept) ([]pipeline.Kept, error) {
	l, _, err := readList(in, at.Bytes)
	if err != nil {
		return nil, err
	}
	all := []pipeline.Kept{at}
	for _, r := range l.Runs {
		all = append(all, pipeline.Kept{Name: r.Name, Bytes: r.Bytes, Checksum: r.Checksum})
	}
	return all, nil
}
