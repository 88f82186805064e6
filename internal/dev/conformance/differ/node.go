// Package differ compares package urlcore with another implementation of the URL Standard, the URL class of
// Node.js, on generated URLs.
//
// Node's URL class is as old as the Ada library in it, so it may follow an older state of the standard. A
// [Rule] names a change of the standard, or a defect of Ada, and says exactly what it does to a result. A probe asks
// Node whether the rule applies to it. A difference counts as explained only when the rules that apply turn
// Node's result into ours, or predict its failure; a difference that merely looks like one is not explained.
package differ

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

const (
	// EnvRequire, set to "1", makes a test fail and not skip when Node.js is missing.
	EnvRequire = "URLMILL_REQUIRE_NODE"
	// EnvNode names the program to run instead of the node that PATH has.
	EnvNode = "URLMILL_NODE"
	// EnvModule names a JavaScript module, by its path, whose URL class is to be compared instead of Node's own.
	EnvModule = "URLMILL_NODE_URL_MODULE"
)

//go:embed url.mjs
var script []byte

// Attributes are the names of the attributes that a [Result] has, in its order.
var Attributes = [...]string{
	"href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash",
	"searchParams",
}

// Result holds the attributes of a URL in the order of [Attributes], or is nil for a failure.
type Result []string

// Get returns the attribute of that name.
func (r Result) Get(name string) string {
	for i, n := range Attributes {
		if n == name {
			return r[i]
		}
	}
	panic("differ: no attribute " + name)
}

// Assignment sets an attribute of the URL class.
type Assignment struct{ Name, Value string }

// Question is what a [Node] is asked: what becomes of Input, against Base if there is one, and after an
// assignment if there is one.
type Question struct {
	Input string
	Base  *string
	Set   *Assignment
}

// String describes the question for a test's message.
func (q Question) String() string {
	s := fmt.Sprintf("%q", q.Input)
	if q.Base != nil {
		s += fmt.Sprintf(" against %q", *q.Base)
	}
	if q.Set != nil {
		s += fmt.Sprintf(", %s = %q", q.Set.Name, q.Set.Value)
	}
	return s
}

// Node is a running Node.js process that answers questions about URLs.
type Node struct {
	Version, Ada string // what the process says it is; Ada is "" for another URL class

	in  io.WriteCloser
	out *bufio.Scanner

	spoil func(Result) Result // puts a defect into our answers, for tests
}

// Start starts Node.js for the time of the test. It skips the test where Node.js is missing, or fails it when
// URLMILL_REQUIRE_NODE=1.
func Start(tb testing.TB) *Node {
	tb.Helper()
	program := os.Getenv(EnvNode)
	if program == "" {
		program = "node"
	}
	path, err := exec.LookPath(program)
	if err != nil {
		testproc.Missing(tb, EnvRequire, fmt.Sprintf("Node.js is not installed (%v): install it, or name it by %s, to have URLs compared with its URL class", err, EnvNode))
	}
	n, stop, err := start(path, tb.TempDir(), os.Getenv(EnvModule))
	if err != nil {
		tb.Fatalf("differ: %v", err)
	}
	tb.Cleanup(func() {
		if err := stop(); err != nil {
			tb.Errorf("differ: %v", err)
		}
	})
	return n
}

// start runs the script, which it writes into dir.
func start(node, dir, module string) (*Node, func() error, error) {
	file := filepath.Join(dir, "url.mjs")
	if err := os.WriteFile(file, script, 0o600); err != nil {
		return nil, nil, err
	}
	args := []string{file}
	if module != "" {
		args = append(args, module)
	}
	cmd := exec.Command(node, args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	n := &Node{in: in, out: bufio.NewScanner(out)}
	n.out.Buffer(make([]byte, 1<<16), 1<<26)
	stop := func() error { return errors.Join(in.Close(), cmd.Wait()) }
	if n.Version, err = n.evaluateString("process.version"); err == nil && module == "" {
		n.Ada, err = n.evaluateString("process.versions.ada || ''")
	}
	if err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return n, stop, nil
}

// Ask sends count questions and hands each with its result to each, in order. The result is nil when the input is no
// URL. It stops at the first error that each returns.
func (n *Node) Ask(count int, question func(i int) Question, each func(q Question, r Result) error) error {
	const open = 1024 // questions that may be without an answer; the writer's buffer is emptied more often
	asked := make(chan Question, open)
	sent := make(chan error, 1)
	go func() {
		w := bufio.NewWriter(n.in)
		defer close(asked)
		for i := range count {
			q := question(i)
			err := writeQuestion(w, q)
			if err == nil && (i%(open/4) == 0 || i == count-1) {
				err = w.Flush()
			}
			if err != nil {
				sent <- err
				return
			}
			asked <- q
		}
		sent <- nil
	}()
	var failed error
	for q := range asked {
		result, err := n.result()
		if failed == nil {
			failed = err
		}
		if failed == nil {
			failed = each(q, result)
		}
	}
	return errors.Join(failed, <-sent)
}

// askOne asks a single question.
func (n *Node) askOne(q Question) (result Result, err error) {
	err = n.Ask(1, func(int) Question { return q }, func(_ Question, r Result) error {
		result = r
		return nil
	})
	return result, err
}

// result reads an answer.
func (n *Node) result() (r Result, err error) {
	line, err := n.line()
	if err != nil {
		return nil, err
	}
	return r, json.Unmarshal(line, &r)
}

// Evaluate returns the value of a JavaScript expression as JSON; the value of one that throws is null.
func (n *Node) Evaluate(expression string) ([]byte, error) {
	line, err := json.Marshal(map[string]string{"eval": expression})
	if err != nil {
		return nil, err
	}
	if _, err := n.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	answer, err := n.line()
	return append([]byte(nil), answer...), err
}

func (n *Node) evaluateString(expression string) (s string, err error) {
	answer, err := n.Evaluate(expression)
	if err != nil {
		return "", err
	}
	return s, json.Unmarshal(answer, &s)
}

// line reads a line of the process, which is valid until the next one is read.
func (n *Node) line() ([]byte, error) {
	if n.out.Scan() {
		return n.out.Bytes(), nil
	}
	if err := n.out.Err(); err != nil {
		return nil, err
	}
	return nil, errors.New("node has ended before it had answered")
}

// writeQuestion writes q as the script reads it.
func writeQuestion(w *bufio.Writer, q Question) error {
	object := map[string]any{"in": latin1(q.Input)}
	if q.Base != nil {
		object["base"] = latin1(*q.Base)
	}
	if q.Set != nil {
		object["set"] = [2]string{q.Set.Name, latin1(q.Set.Value)}
	}
	line, err := json.Marshal(object)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// latin1 returns text with a character for each byte of s, which need not be UTF-8.
func latin1(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}
