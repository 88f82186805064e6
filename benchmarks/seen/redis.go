package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/zeebo/xxh3"
)

const (
	redisServer   = "redis-server"
	clientCommand = "redis-client"
	hashes        = 7    // bits of a filter that a page sets, the best for ten bits a page
	pipelined     = 1000 // commands that are under way
)

// redis is a server of Redis without persistence, behind a Unix socket, and a client in Go that has many commands under way. Both are
// started for each round.
type redis struct {
	dir string
	how string // set, or the bits of a filter
}

func (r *redis) find(l *list, folder string) (t took, err error) {
	socket := filepath.Join(r.dir, "redis.sock")
	server := exec.Command(redisServer, "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", r.dir)
	p, err := start(server)
	if err != nil {
		return took{}, err
	}
	if err = answers(socket, p); err == nil {
		t, err = r.client(l, folder, socket)
	}
	_ = server.Process.Signal(syscall.SIGTERM) // it may have ended
	served, ending := p.wait()
	t.cpu, t.memory = t.cpu+served.cpu, t.memory+served.memory
	return t, errors.Join(err, ending)
}

// client runs the client, which reads the list, and writes pages that are new.
func (r *redis) client(l *list, folder, socket string) (t took, err error) {
	input, err := os.Open(l.path)
	if err != nil {
		return took{}, err
	}
	defer input.Close()
	if err := os.Mkdir(folder, 0o777); err != nil {
		return took{}, err
	}
	out, err := os.Create(filepath.Join(folder, "pages"))
	if err != nil {
		return took{}, err
	}
	defer out.Close()
	self, err := os.Executable()
	if err != nil {
		return took{}, err
	}
	cmd := exec.Command(self, clientCommand, socket, r.how)
	cmd.Stdin, cmd.Stdout = input, out
	return measure(cmd)
}

// answers waits until a server listens.
func answers(socket string, p *program) error {
	for range 1000 {
		if c, err := net.Dial("unix", socket); err == nil {
			return c.Close()
		}
		select {
		case <-p.done:
			return errors.New("redis-server has ended")
		case <-time.After(10 * time.Millisecond):
		}
	}
	return errors.New("redis-server does not listen")
}

func (r *redis) pages(folder string, each func([]byte) error) error {
	f, err := os.Open(filepath.Join(folder, "pages"))
	if err != nil {
		return err
	}
	defer f.Close()
	lines := scan(f)
	for lines.Scan() {
		if err := each(lines.Bytes()); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (r *redis) close() error { return nil }

// scan returns the lines of a list, some of whose URLs are long.
func scan(r io.Reader) *bufio.Scanner {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 1<<16), 16<<20)
	return lines
}

// client sends a command for each line of standard input, and writes the lines that are new to standard output.
func client(socket, how string) error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	command := addToSet
	if how != "set" {
		bits, err := strconv.ParseUint(how, 10, 64)
		if err != nil {
			return err
		}
		command = setBits(bits)
	}
	sent := make(chan []byte, pipelined)
	failed := make(chan error, 1)
	go func() {
		defer close(sent)
		failed <- send(conn, command, sent)
	}()
	replies, out := bufio.NewReaderSize(conn, 1<<16), bufio.NewWriterSize(os.Stdout, 1<<20)
	for url := range sent {
		isNew, err := isNew(replies)
		if err != nil {
			return err
		}
		if isNew {
			if _, err := out.Write(append(url, '\n')); err != nil {
				return err
			}
		}
	}
	return errors.Join(<-failed, out.Flush())
}

// send sends the commands, and hands on the lines that they are of.
func send(conn io.Writer, command func(dst, url []byte) []byte, sent chan<- []byte) error {
	w := bufio.NewWriterSize(conn, 1<<16)
	lines := scan(os.Stdin)
	var text []byte
	for n := 1; lines.Scan(); n++ {
		text = command(text[:0], lines.Bytes())
		if _, err := w.Write(text); err != nil {
			return err
		}
		if n%(pipelined/4) == 0 {
			if err := w.Flush(); err != nil {
				return err
			}
		}
		if len(sent) == cap(sent) { // the reader waits for what has to be sent first
			if err := w.Flush(); err != nil {
				return err
			}
		}
		sent <- bytes.Clone(lines.Bytes())
	}
	return errors.Join(lines.Err(), w.Flush())
}

// addToSet appends a command that adds the hash of a URL to a set.
func addToSet(dst, url []byte) []byte {
	h := xxh3.Hash128(url).Bytes()
	return arguments(dst, "SADD", "seen", string(h[:]))
}

// setBits returns what appends a command that sets the bits of a URL in a filter, and returns what they were.
func setBits(bits uint64) func(dst, url []byte) []byte {
	var args []string
	return func(dst, url []byte) []byte {
		h := xxh3.Hash128(url).Bytes()
		a, b := binary.BigEndian.Uint64(h[:]), binary.BigEndian.Uint64(h[8:])|1
		args = append(args[:0], "BITFIELD", "seen")
		for i := range uint64(hashes) {
			args = append(args, "SET", "u1", strconv.FormatUint((a+i*b)%bits, 10), "1")
		}
		return arguments(dst, args...)
	}
}

// arguments appends a command.
func arguments(dst []byte, args ...string) []byte {
	dst = append(strconv.AppendInt(append(dst, '*'), int64(len(args)), 10), "\r\n"...)
	for _, a := range args {
		dst = append(strconv.AppendInt(append(dst, '$'), int64(len(a)), 10), "\r\n"...)
		dst = append(append(dst, a...), "\r\n"...)
	}
	return dst
}

// isNew reads a reply: 1 of a set that has not had the member, or the bits that were set before.
func isNew(r *bufio.Reader) (bool, error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return false, err
	}
	text := strings.TrimSpace(string(line))
	switch text[0] {
	case ':':
		return text == ":1", nil
	case '*':
		n, err := strconv.Atoi(text[1:])
		if err != nil {
			return false, err
		}
		fresh := false
		for range n {
			bit, err := r.ReadSlice('\n')
			if err != nil {
				return false, err
			}
			fresh = fresh || bytes.HasPrefix(bit, []byte(":0"))
		}
		return fresh, nil
	}
	return false, fmt.Errorf("redis: %s", text)
}
