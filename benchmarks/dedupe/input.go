package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/apache/arrow/go/v15/parquet/file"
	"golang.org/x/sys/unix"

	"github.com/urlmill/urlmill/sources/generate"
)

const (
	pipeBytes   = 1 << 20 // that are written at a time, and that a pipe holds
	setPipeSize = 1031    // F_SETPIPE_SZ, which Linux alone has
)

// crawl is the input: files of URLs, or with options.stream named pipes of them.
type crawl struct {
	options
	dir string
	all sync.WaitGroup

	mu             sync.Mutex
	written        int64 // rows
	planted, bytes int64 // planted are rows that repeat the page of an earlier one
	err            error
}

// writeCrawl begins to write blocks of URLs, each into a file of its own or into the pipe that has room for it. When ctx ends, no
// more are begun; what was written are the first rows in any case.
func writeCrawl(ctx context.Context, dir string, o options) (*crawl, error) {
	c := &crawl{options: o, dir: dir}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	blocks := make(chan int64)
	for i := range o.cores {
		write := c.files
		if o.stream {
			name := filepath.Join(dir, fmt.Sprint(i))
			if err := unix.Mkfifo(name, 0o600); err != nil {
				return nil, err
			}
			write = func(blocks <-chan int64) error { return c.pipe(name, blocks) }
		}
		c.all.Go(func() {
			err := write(blocks)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.err = errors.Join(c.err, err)
		})
	}
	go func() {
		defer close(blocks)
		for n := int64(0); n < o.rows && ctx.Err() == nil; n += o.perFile {
			blocks <- n
		}
	}()
	return c, nil
}

// wait waits until all is written.
func (c *crawl) wait() error {
	c.all.Wait()
	return c.err
}

func (c *crawl) files(blocks <-chan int64) (err error) {
	for begin := range blocks {
		f, failed := os.Create(filepath.Join(c.dir, fmt.Sprintf("%012d.txt", begin)))
		if failed == nil {
			failed = errors.Join(c.block(f, begin), f.Close())
		}
		err = errors.Join(err, failed)
	}
	return err
}

func (c *crawl) pipe(name string, blocks <-chan int64) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0) // waits for the reader
	if err != nil {
		return err
	}
	if runtime.GOOS == "linux" {
		_, err = unix.FcntlInt(f.Fd(), setPipeSize, pipeBytes)
	}
	for begin := range blocks {
		if err == nil {
			err = c.block(f, begin)
		}
	}
	return errors.Join(err, f.Close())
}

// block writes the rows of a block.
func (c *crawl) block(f *os.File, begin int64) error {
	g, err := generate.NewGenerator(generate.Options{
		Seed: 1, Profile: generate.Crawl, Format: generate.Lines, Mix: generate.Distinct(), Repeats: c.share, RepeatsWithin: 1 << 32,
	})
	if err != nil {
		return err
	}
	g.SetPosition(begin)
	w := bufio.NewWriterSize(f, pipeBytes)
	var line []byte
	var planted, bytes int64
	rows := min(c.perFile, c.rows-begin)
	for range rows {
		line = append(g.Append(line[:0]), '\n')
		bytes += int64(len(line))
		if g.Truth().Repeat != generate.NoRepeat {
			planted++
		}
		if _, err := w.Write(line); err != nil {
			break // Flush has it as well
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written, c.planted, c.bytes = c.written+rows, c.planted+planted, c.bytes+bytes
	return w.Flush()
}

// pages is what came out.
type pages struct {
	rows, duplicates, bytes int64
}

// count adds the files of a folder, and removes them: a file has its name only when it is committed.
func (p *pages) count(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil {
		return err
	}
	for _, name := range names {
		rows, duplicates, err := countFile(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		p.rows, p.duplicates, p.bytes = p.rows+rows, p.duplicates+duplicates, p.bytes+info.Size()
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

func countFile(name string) (rows, duplicates int64, err error) {
	f, err := file.OpenParquetFile(name, false)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	at := f.MetaData().Schema.ColumnIndexByName("is_duplicate")
	if at < 0 {
		return 0, 0, errors.New("there is no column is_duplicate")
	}
	marks, levels := make([]bool, 1<<16), make([]int16, 1<<16)
	for g := range f.NumRowGroups() {
		column, err := f.RowGroup(g).Column(at)
		if err != nil {
			return 0, 0, err
		}
		flags, ok := column.(*file.BooleanColumnChunkReader)
		if !ok {
			return 0, 0, fmt.Errorf("is_duplicate is a %T", column)
		}
		for flags.HasNext() {
			n, there, err := flags.ReadBatch(int64(len(marks)), marks, levels, nil)
			if err != nil {
				return 0, 0, err
			}
			rows += n
			for _, is := range marks[:there] {
				if is {
					duplicates++
				}
			}
		}
	}
	return rows, duplicates, nil
}
