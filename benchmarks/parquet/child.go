package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/urlmill/urlmill/benchmarks/parquet/pass"
)

// child is a system in a program of its own. It reads names of codecs, one a line, and answers each with a pass as JSON.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startChild(program string, args ...string) (*child, error) {
	c := &child{cmd: exec.Command(program, args...)}
	c.cmd.Stderr = os.Stderr
	in, err1 := c.cmd.StdinPipe()
	out, err2 := c.cmd.StdoutPipe()
	if err := errors.Join(err1, err2, c.cmd.Start()); err != nil {
		return nil, err
	}
	c.in, c.out = in, bufio.NewReader(out)
	return c, nil
}

// writeTable writes the table as an Arrow IPC stream.
func writeTable(t *table) (string, error) {
	f, err := os.CreateTemp("", "bench-parquet-*.arrows")
	if err != nil {
		return "", err
	}
	buf := bufio.NewWriterSize(f, 1<<20)
	w := ipc.NewWriter(buf, ipc.WithSchema(t.schema))
	for _, r := range t.records {
		if err := w.Write(r); err != nil {
			return "", errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}
	return f.Name(), errors.Join(w.Close(), buf.Flush(), f.Close())
}

func (c *child) pass(codec string) (r pass.Result, err error) {
	if _, err := fmt.Fprintln(c.in, codec); err != nil {
		return r, err
	}
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		return r, fmt.Errorf("%s: %w", c.cmd.Path, err)
	}
	return r, json.Unmarshal(line, &r)
}

func (c *child) close() error {
	return errors.Join(c.in.Close(), c.cmd.Wait())
}
