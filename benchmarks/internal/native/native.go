// Package native runs the program of the native peers (benchmarks/native), which goes over a list of texts when it is asked.
package native

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Program is the running program.
type Program struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	folder string
}

// Start starts the program with lines of text, and with variables of the environment beside those of this process.
func Start(program string, lines []byte, env ...string) (*Program, error) {
	folder, err := os.MkdirTemp("", "bench-native")
	if err != nil {
		return nil, err
	}
	n := &Program{folder: folder}
	file := filepath.Join(folder, "lines.txt")
	if err := os.WriteFile(file, lines, 0o600); err != nil {
		return nil, err
	}
	n.cmd = exec.Command(program, file)
	n.cmd.Env = append(os.Environ(), env...)
	n.cmd.Stderr = os.Stderr
	if n.in, err = n.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	n.out = bufio.NewReader(out)
	if err := n.cmd.Start(); err != nil {
		return nil, err
	}
	if line, err := n.out.ReadString('\n'); err != nil {
		return nil, fmt.Errorf("%s: %q: %w", program, line, err)
	}
	return n, nil
}

// Pass asks for one pass of a peer. The program measures it, so that the conversation does not count.
func (n *Program) Pass(name string) func() time.Duration {
	return func() time.Duration {
		if _, err := fmt.Fprintf(n.in, "%s 1\n", name); err != nil {
			panic(err)
		}
		line, err := n.out.ReadString('\n')
		if err != nil {
			panic(err)
		}
		var ns int64
		if _, err := fmt.Sscan(line, &ns); err != nil {
			panic(fmt.Sprintf("%s: %q: %v", name, line, err))
		}
		return time.Duration(ns)
	}
}

// Stop ends the program.
func (n *Program) Stop() {
	_ = n.in.Close()
	_ = n.cmd.Wait()
	_ = os.RemoveAll(n.folder)
}
