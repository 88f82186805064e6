// Package check reads an output back and holds every column of every row against what was produced.
//
// It reads by the Parquet reader of the Arrow library; the files are written by urlmill's own encoder. What a row has to hold
// comes from package facts, by the partition and the offset that stand in the row, which have to be ones that the broker has
// acknowledged.
package check

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
)

// Options says what an output is to be like.
type Options struct {
	// Columns are those that files have to have, and no others.
	Columns []string
	// Dates has files be in directories date=YYYY-MM-DD of their rows' timestamps, below the folders that it gives. A folder
	// for late rows takes those of any date.
	Dates []string
	// SortBy is a column of texts by which the rows of each row group are sorted, nulls last.
	SortBy string
}

// Checker notes which records of a topic are in an output, and compares their rows.
type Checker struct {
	topics []*facts.Topic
	opts   Options

	mu   sync.Mutex
	seen [][][]uint64 // by topic and partition, a bit for every record

	// Rows are all that were read. Twice are those whose record, or page, was there before. Wrong are those that hold what
	// they are not to hold, or that nobody has produced.
	Rows, Twice, Wrong int64
	Files              int
	// Said tells of the first ones that are wrong.
	Said []string
}

// New returns a checker for an output of a topic, to which nothing is produced any more, and of those that had its name before
// and are told apart by the times of their records.
func New(opts Options, topics ...*facts.Topic) *Checker {
	c := &Checker{topics: topics, opts: opts}
	for _, t := range topics {
		var seen [][]uint64
		for p := range t.Partitions {
			seen = append(seen, make([]uint64, (t.Count(p)+63)/64))
		}
		c.seen = append(c.seen, seen)
	}
	return c
}

// Read reads every visible Parquet file below a directory.
func (c *Checker) Read(dir string) error {
	names, err := visible(dir)
	if err != nil {
		return err
	}
	return c.ReadFiles(names)
}

// visible returns the files that a reader's glob finds.
func visible(dir string) (names []string, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != dir && strings.ContainsAny(d.Name()[:1], "_."):
			return filepath.SkipDir
		case strings.HasSuffix(name, ".parquet"):
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// ReadFiles reads these files.
func (c *Checker) ReadFiles(names []string) (err error) {
	c.Files += len(names)
	var workers sync.WaitGroup
	work := make(chan string)
	errs := make(chan error, len(names))
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			b := newBatch(c)
			for name := range work {
				if err := b.file(name); err != nil {
					errs <- fmt.Errorf("%s: %w", name, err)
				}
			}
		})
	}
	for _, name := range names {
		work <- name
	}
	close(work)
	workers.Wait()
	close(errs)
	for e := range errs {
		err = errors.Join(err, e)
	}
	return err
}

// note notes the records of a batch, and what is wrong with its rows.
func (c *Checker) note(b *batch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Rows += int64(len(b.rows))
	for i := range b.rows {
		r := &b.rows[i]
		if r.wrong {
			c.Wrong++
		}
		if r.row == nil {
			continue
		}
		p, n := c.topics[r.topic].Page(int(r.partition), r.number)
		word, bit := &c.seen[r.topic][p][n/64], uint64(1)<<(n%64)
		if *word&bit != 0 {
			c.Twice++
		}
		*word |= bit
	}
	if room := 20 - len(c.Said); room > 0 {
		c.Said = append(c.Said, b.said[:min(room, len(b.said))]...)
	}
}

// Missing returns how many records are not there, and calls each with them. Records that repeat another's page need not be.
func (c *Checker) Missing(each func(t *facts.Topic, p int, n int64)) (count int64) {
	for at, t := range c.topics {
		for p, words := range c.seen[at] {
			for i, word := range words {
				if word == ^uint64(0) {
					continue
				}
				for n := int64(i) * 64; n < min(int64(i+1)*64, t.Count(p)); n++ {
					if word&(1<<(n%64)) == 0 && t.IsPage(n) {
						count++
						each(t, p, n)
					}
				}
			}
		}
	}
	return count
}
