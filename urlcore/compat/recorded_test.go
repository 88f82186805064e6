package compat_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore/compat"
)

// ownURLs are those of testdata/urls.txt.
func ownURLs(t *testing.T) (urls []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/urls.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		url, err := strconv.Unquote(strings.TrimSuffix(line, "\n"))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		urls = append(urls, url)
	}
	return urls
}

// TestRecorded compares with what the programs have answered to URLs of our own: a line of testdata/*.tsv has the URL and
// the answers, the first one has the functions. URLMILL_COMPAT_RECORD=1 asks the programs anew.
func TestRecorded(t *testing.T) {
	for _, e := range engines(t) {
		t.Run(e.name, func(t *testing.T) {
			urls := ownURLs(t)
			path := filepath.Join("testdata", e.name+".tsv")
			if os.Getenv("URLMILL_COMPAT_RECORD") == "1" {
				e.record(t, urls, path)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if want := e.table(urls, func(i int, c column) string { return c.got(urls[i]).String() }); !bytes.Equal(data, want) {
				t.Error(firstDifference(string(data), string(want)))
			}
		})
	}
}

// record asks the engine.
func (e engine) record(t *testing.T, urls []string, path string) {
	answers := make([][]string, len(urls))
	e.ask(t, urls, func(i int, line string) { answers[i] = strings.Split(line, " ") })
	at := map[string]int{}
	for i, c := range e.columns {
		at[c.sql] = i
	}
	table := e.table(urls, func(i int, c column) string { return answer(answers[i][at[c.sql]]).String() })
	if err := os.WriteFile(path, table, 0o644); err != nil {
		t.Fatal(err)
	}
}

// table writes a table of answers.
func (e engine) table(urls []string, get func(i int, c column) string) []byte {
	var b bytes.Buffer
	b.WriteString("u")
	for _, c := range e.columns {
		b.WriteString("\t" + c.sql)
	}
	for i, url := range urls {
		b.WriteString("\n" + strconv.Quote(url))
		for _, c := range e.columns {
			b.WriteString("\t" + get(i, c))
		}
	}
	b.WriteString("\n")
	return b.Bytes()
}

func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		x, y := strings.Split(a[i], "\t"), strings.Split(b[i], "\t")
		for k := range min(len(x), len(y)) {
			if x[k] != y[k] {
				return strings.Split(a[0], "\t")[k] + " of " + x[0] + " is recorded as " + x[k] + ", and we say " + y[k]
			}
		}
	}
	return "the recorded table has another size: record it anew"
}

// fatalURLs end a query of Spark in any mode.
var fatalURLs = []string{"http://[::99999999999.1.1.1]/", "http://[1:2:3:4:5:6:1.2.3.2147483648]/?q=1", "http://u@[::4294967296.0.0.0]:80"}

// TestFatal asks Spark for the first of them.
func TestFatal(t *testing.T) {
	for _, url := range fatalURLs {
		_, err := compat.ParseSpark(url)
		var e *compat.SparkError
		if !errors.As(err, &e) || !e.Fatal {
			t.Errorf("%q: %v", url, err)
		}
	}
	e := engines(t)[0]
	python(t, e.module)
	e.columns = e.columns[:1]
	e.ask(t, fatalURLs[:1], func(_ int, line string) {
		if !strings.HasPrefix(line, "failed: ") || !strings.Contains(line, "NumberFormatException") {
			t.Errorf("Spark answers %s", line)
		}
	})
}
