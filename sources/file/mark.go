package file

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/zeebo/xxh3"
)

// mark is what a lane's [pipeline.Mark] says of the file that it was read from, in its Of: with which bytes the file, as it
// is stored, began, and what it looked like then. Its text is
//
//	xxh3:<32 hexadecimal digits>/<bytes read> <size>@<time of change> <flags> "<path>"
type mark struct {
	sum  xxh3.Uint128 // of the first n bytes
	n    int64
	size int64  // of the file when it was opened
	time int64  // of its last change, in nanoseconds since 1970
	path string // absolute, without symbolic links
	flags
}

// racy is how coarse times of change may be, on file systems of any kind.
const racy = 2 * time.Second

// newMark returns the mark of a file that has just been opened and is known by path, with nothing read yet.
func newMark(info fs.FileInfo, path string) mark {
	m := mark{size: info.Size(), time: info.ModTime().UnixNano(), path: path}
	m.recent = time.Since(info.ModTime()) < racy
	return m
}

type flags struct {
	// ended: there was no record behind the position of the mark.
	ended bool
	// open: the last of the records had no line end.
	open bool
	// whole: the file means what it does only as a whole, a table.
	whole bool
	// recent: the file had changed so shortly before that it may have changed once more with the same time.
	recent bool
}

const flagLetters = "eowr"

func (f *flags) each() [len(flagLetters)]*bool {
	return [...]*bool{&f.ended, &f.open, &f.whole, &f.recent}
}

// append adds the text of m to b.
func (m *mark) append(b []byte) []byte {
	b = fmt.Appendf(b, "xxh3:%016x%016x/%d %d@%d ", m.sum.Hi, m.sum.Lo, m.n, m.size, m.time)
	for i, set := range m.each() {
		if *set {
			b = append(b, flagLetters[i])
		} else {
			b = append(b, '-')
		}
	}
	return strconv.AppendQuote(append(b, ' '), m.path)
}

// parseMark returns what append has written.
func parseMark(text string) (*mark, error) {
	m := new(mark)
	var set, path string
	_, err := fmt.Sscanf(text, "xxh3:%016x%016x/%d %d@%d %s %q", &m.sum.Hi, &m.sum.Lo, &m.n, &m.size, &m.time, &set, &path)
	if err != nil || len(set) < len(flagLetters) {
		return nil, fmt.Errorf("%q is not what this urlmill writes down about a file: use the version that has written it, or a newer one", text)
	}
	for i, f := range m.each() {
		*f = set[i] != '-'
	}
	m.path = path
	return m, nil
}

const (
	// mostPrint is how much of the beginning of a file its lane is called by.
	mostPrint = 4 << 10
	numPrints = 13 // of 1, 2, 4 ... mostPrint bytes
)

// prints are the hashes of the beginnings of a file of 1, 2, 4 ... bytes, as many as it has. A file that grows gets more of
// them, and keeps those it has.
type prints struct {
	sums [numPrints]uint64
	n    int
}

func readPrints(r io.ReaderAt) (p prints, err error) {
	var head [mostPrint]byte
	n, err := r.ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return p, err
	}
	for ; p.n < numPrints && 1<<p.n <= n; p.n++ {
		p.sums[p.n] = xxh3.Hash(head[:1<<p.n])
	}
	return p, nil
}

// noPrint is the name of the beginning of an empty file.
const noPrint = "z"

// name returns the name of the beginning of 2^k bytes: letters and digits, a v not among them.
func (p *prints) name(k int) string {
	if k < 0 {
		return noPrint
	}
	return fmt.Sprintf("%c%016x", 'a'+k, p.sums[k])
}

// all returns the names that the beginning of the file has had, the longest first.
func (p *prints) all() (names []string) {
	for k := p.n - 1; k >= -1; k-- {
		names = append(names, p.name(k))
	}
	return names
}

// printOf returns the name of the beginning that a session has, "" for one that has none.
func printOf(session string) string {
	name, _, _ := strings.Cut(session, "v")
	if name == noPrint || len(name) == 17 && name[0] >= 'a' && name[0] < 'a'+numPrints {
		return name
	}
	return ""
}

// hashBuffer is how much is hashed between two looks at the context.
const hashBuffer = 1 << 20

// hash returns the checksum of the first n bytes of r.
func hash(ctx context.Context, r io.ReaderAt, n int64) (sum xxh3.Uint128, err error) {
	h := xxh3.New()
	buf := make([]byte, min(n, hashBuffer))
	section := io.NewSectionReader(r, 0, n)
	for at := int64(0); at < n; {
		if ctx.Err() != nil {
			return sum, context.Cause(ctx)
		}
		got, err := io.ReadFull(section, buf[:min(int64(len(buf)), n-at)])
		if err != nil {
			return sum, noEOF(err)
		}
		_, _ = h.Write(buf[:got])
		at += int64(got)
	}
	return h.Sum128(), nil
}
