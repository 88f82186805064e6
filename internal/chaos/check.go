package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
)

// checker notes which records are in an output. A record is a bit.
type checker struct {
	mu     sync.Mutex
	seen   [][]uint64 // by partition
	counts []int64    // records that were produced, by partition
	rows   int64
	twice  int64
	// anywhere allows for rows of a partition in another.
	anywhere bool
	phantom  []string // rows that nobody has produced
	files    int
}

func newChecker(counts []int64) *checker {
	c := &checker{counts: counts, seen: make([][]uint64, len(counts))}
	for p, n := range counts {
		c.seen[p] = make([]uint64, (n+63)/64)
	}
	return c
}

// readAll reads every visible Parquet file below a directory.
func (c *checker) readAll(dir string) error {
	var names []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
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
	if err != nil {
		return err
	}
	c.files = len(names)
	var workers sync.WaitGroup
	work := make(chan string)
	errs := make(chan error, len(names))
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for name := range work {
				if err := c.read(name); err != nil {
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

// read reads one file.
func (c *checker) read(name string) (err error) {
	f, err := file.OpenParquetFile(name, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	at := f.MetaData().Schema.ColumnIndexByName("path")
	partition := f.MetaData().Schema.ColumnIndexByName("partition")
	if at < 0 || partition < 0 {
		return errors.New("it has no column path, or none partition")
	}
	for g := range f.NumRowGroups() {
		group := f.RowGroup(g)
		paths, err := group.Column(at)
		if err != nil {
			return err
		}
		partitions, err := group.Column(partition)
		if err != nil {
			return err
		}
		texts, ok := paths.(*file.ByteArrayColumnChunkReader)
		numbers, ok2 := partitions.(*file.Int32ColumnChunkReader)
		if !ok || !ok2 {
			return fmt.Errorf("its columns are a %T and a %T", paths, partitions)
		}
		if err := c.group(texts, numbers, group.NumRows()); err != nil {
			return err
		}
	}
	return nil
}

// group reads a row group. A row without a path counts as one that nobody has produced.
func (c *checker) group(paths *file.ByteArrayColumnChunkReader, partitions *file.Int32ColumnChunkReader, rows int64) error {
	const most = 8192
	values, defined := make([]parquet.ByteArray, most), make([]int16, most)
	numbers, levels := make([]int32, most), make([]int16, most)
	for left := rows; left > 0; {
		n, there, err := paths.ReadBatch(min(left, most), values, defined, nil)
		if err != nil {
			return err
		}
		m, _, err := partitions.ReadBatch(n, numbers, levels, nil)
		if err != nil {
			return err
		}
		if n == 0 || m != n {
			return fmt.Errorf("%d rows are missing", left)
		}
		left -= n
		c.note(values[:there], numbers[:n], int(n)-there)
	}
	return nil
}

// note notes rows, and so many that have no path.
func (c *checker) note(paths []parquet.ByteArray, partitions []int32, without int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows += int64(len(paths) + without)
	if without > 0 {
		c.phantom = append(c.phantom, fmt.Sprintf("%d rows without a path", without))
		return
	}
	for i, path := range paths {
		p, n, ok := parsePath(path)
		if !ok || p >= len(c.counts) || n >= c.counts[p] || p != int(partitions[i]) && !c.anywhere {
			if len(c.phantom) < 20 {
				c.phantom = append(c.phantom, fmt.Sprintf("%s in partition %d", path, partitions[i]))
			}
			continue
		}
		word, bit := &c.seen[p][n/64], uint64(1)<<(n%64)
		if *word&bit != 0 {
			c.twice++
		}
		*word |= bit
	}
}

// parsePath takes /p/n apart.
func parsePath(path []byte) (p int, n int64, ok bool) {
	first, second, ok := bytes.Cut(bytes.TrimPrefix(path, []byte("/")), []byte("/"))
	if !ok || len(second) == 0 || len(second) > 18 {
		return 0, 0, false
	}
	p, err := strconv.Atoi(string(first))
	if err != nil || p < 0 {
		return 0, 0, false
	}
	for _, c := range second {
		if c < '0' || c > '9' {
			return 0, 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return p, n, true
}

// has tells whether a record is there.
func (c *checker) has(p int, n int64) bool { return c.seen[p][n/64]&(1<<(n%64)) != 0 }

// missing returns how many records are not there, and calls each with them.
func (c *checker) missing(each func(p int, n int64)) (count int64) {
	for p, words := range c.seen {
		for i, word := range words {
			if word == ^uint64(0) {
				continue
			}
			for n := int64(i) * 64; n < min(int64(i+1)*64, c.counts[p]); n++ {
				if !c.has(p, n) {
					count++
					each(p, n)
				}
			}
		}
	}
	return count
}
