package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
)

// inputCase gives bytes to a command on standard input.
func inputCase(format, name string, codes []int, input []byte, args ...string) *testCase {
	return &testCase{
		name: format + "/" + name, format: format,
		files: func(w *workplace) error { return w.write("input", input) },
		steps: []step{{args: args, codes: codes, input: func(w io.Writer) error { _, err := w.Write(input); return err }}},
	}
}

// answers asks for a bad URL and for a good one behind it, which is to be answered.
func answers(format, name string, input []byte, args ...string) *testCase {
	c := inputCase(format, name, []int{0}, append(bytes.Clone(input), `{"input":"https://good.example/answered"}`+"\n"...), args...)
	c.steps[0].good = printed("https://good.example/answered")
	return c
}

// printed looks for a text in standard output.
func printed(text string) func(w *workplace) error {
	return func(w *workplace) error {
		found, err := contains(w.stdout, text)
		if err == nil && !found {
			err = fmt.Errorf("%q is not in standard output", text)
		}
		return err
	}
}

func goodMetrics() []byte { return []byte("m,host=a url=\"https://good.example/metric\" 1\n") }

// stdinCases are programs that others keep beside them.
func stdinCases() []*testCase {
	var all []*testCase
	metric := func(name, line string) {
		c := inputCase("line protocol", name, []int{0}, append([]byte(line), goodMetrics()...), "url", "--line-protocol", "url")
		c.steps[0].good = printed("url_path=\"/metric\"")
		all = append(all, c)
	}
	metric("fields", "m "+strings.Repeat("a=1,", 300_000)+"url=\"https://bad.example/\" 1\n")
	metric("tags", "m"+strings.Repeat(",a=b", 300_000)+" url=\"https://bad.example/\" 1\n")
	metric("spaces", "m "+strings.Repeat(" ", 400_000)+"\n")
	metric("escapes", "m"+strings.Repeat(`\ `, 400_000)+" url=\"https://bad.example/\" 1\n")
	metric("quotes", "m "+strings.Repeat(`url="`, 200_000)+"\n")
	metric("backslashes", "m url=\""+strings.Repeat(`\`, 400_000)+"\" 1\n")
	metric("same-field", "m "+strings.Repeat(`url="https://bad.example/",`, 20_000)+"a=1 1\n")
	metric("long-line", strings.Repeat("m", 80<<10)+"\n")
	udf := func(name string, input []byte, args ...string) {
		all = append(all, inputCase("udf", name, []int{0, 1}, input, append([]string{"udf", "clickhouse", "--columns", "host,params"}, args...)...))
	}
	udf("length-claim", binary.AppendUvarint(nil, 1<<40))
	udf("length-all", bytes.Repeat([]byte{0xff}, 100))
	udf("rows-claim", []byte("999999999999999\n\x01a"), "--chunk-header")
	udf("rows-digits", bytes.Repeat([]byte("9"), 8<<20), "--chunk-header")
	udf("rows-minus", []byte("-5\n\x01a"), "--chunk-header")
	udf("empty-rows", make([]byte, 8<<20))
	udf("nullable", bytes.Repeat([]byte{1}, 1<<20), "--nullable")
	for _, format := range []string{"uint32", "netstring"} {
		for name, input := range map[string]string{"claim": "\xff\xff\xff\xff", "digits": strings.Repeat("9", 1<<20), "minus": "-1:{},", "nothing": "\x00\x00\x00\x000:,"} {
			all = append(all, inputCase("coprocess", format+"-"+name, []int{0, 1}, []byte(input), "url", "--ndjson", "--framing", format))
		}
	}
	long := answers("coprocess", "long", nil, "url", "--ndjson")
	long.steps[0].input = func(w io.Writer) error {
		_, err := io.Copy(w, io.MultiReader(repeat("a", 70<<20), strings.NewReader("\n"+`{"input":"https://good.example/answered"}`+"\n")))
		return err
	}
	all = append(all, long, answers("coprocess", "nested", []byte(strings.Repeat(`{"input":`, 300_000)+"\n"), "url", "--ndjson"))
	return append(all, mutatedInputs()...)
}

// mutatedInputs are those whose bytes depend on the seed.
func mutatedInputs() []*testCase {
	var metrics, requests, blocks bytes.Buffer
	for i := range 200 {
		fmt.Fprintf(&metrics, "m,host=a\\ b%d url=\"https://bad.example/%d?q=\\\"\",n=%di %d\n", i, i, i, i)
		fmt.Fprintf(&requests, "{\"input\":\"/%d?q=1\",\"base\":\"https://bad.example/\"}\n", i)
		u := fmt.Sprintf("https://bad.example/%d?a=%d", i, i)
		blocks.Write(append(binary.AppendUvarint(nil, uint64(len(u))), u...))
	}
	var all []*testCase
	add := func(format string, i int, codes []int, make func(w *workplace) ([]byte, error), good func(w *workplace) error, args ...string) {
		c := &testCase{
			name: fmt.Sprintf("%s/mutated%02d", format, i), format: format,
			files: func(w *workplace) error { return beside(make)(w, "input") },
		}
		s := step{args: args, codes: codes, good: good}
		c.steps = []step{s}
		all = append(all, fromFile(c))
	}
	change := func(f func(*rand.Rand, []byte) []byte, data, behind []byte) func(w *workplace) ([]byte, error) {
		return func(w *workplace) ([]byte, error) { return append(f(w.random, data), behind...), nil }
	}
	request := []byte("\n" + `{"input":"https://good.example/answered"}` + "\n")
	for i := range 12 {
		add("line protocol", i, []int{0}, change(mutateText, metrics.Bytes(), append([]byte("\n"), goodMetrics()...)), nil, "url", "--line-protocol", "url")
		add("coprocess", i, []int{0}, change(mutateText, requests.Bytes(), request), printed("https://good.example/answered"), "url", "--ndjson")
		add("udf", i, []int{0, 1}, change(mutate, blocks.Bytes(), nil), nil, "udf", "clickhouse", "--columns", "host,params")
		add("udf arrow", i, []int{0, 1}, func(w *workplace) ([]byte, error) {
			data, err := w.base("bad-none.arrows")
			return mutate(w.random, data), err
		}, nil, "udf", "clickhouse", "--format", "ArrowStream", "--columns", "host,path")
	}
	return all
}

// fromFile gives a case the file "input" as standard input.
func fromFile(c *testCase) *testCase {
	write := c.files
	var at string
	c.files = func(w *workplace) error {
		at = w.path("input")
		return write(w)
	}
	c.steps[0].input = func(w io.Writer) error {
		f, err := os.Open(at)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(w, f)
		return err
	}
	return c
}
