package compat_test

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/testproc"
	"github.com/urlmill/urlmill/urlcore/compat"
)

// column is a function of an engine, and ours.
type column struct {
	sql string // u is the URL
	got func(url string) answer
}

// answer is what a function gives, as testdata/spark.py writes it.
type answer string

func text(s string) answer { return answer("." + strings.ToUpper(hex.EncodeToString([]byte(s)))) }

func nullable(s string, ok bool) answer {
	if !ok {
		return "-"
	}
	return text(s)
}

func list(items []string) answer {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = string(text(item))
	}
	return answer("[" + strings.Join(texts, ","))
}

// String is for people.
func (a answer) String() string {
	if a == "-" {
		return "NULL"
	}
	var b strings.Builder
	for i, item := range strings.Split(strings.TrimPrefix(string(a), "["), ",") {
		if i > 0 {
			b.WriteByte(' ')
		}
		raw, err := hex.DecodeString(strings.TrimPrefix(item, "."))
		if err != nil {
			return "no answer: " + string(a)
		}
		if item != "" {
			b.WriteString(strconv.Quote(string(raw)))
		}
	}
	if a[0] == '[' {
		return "[" + b.String() + "]"
	}
	return b.String()
}

// names are parameters that are asked for: Spark's keys, of which some are regular expressions.
var names = []string{"a", "q", "", "a.b", `a\.b`, "é"}

func sparkColumns(t *testing.T) []column {
	var columns []column
	for _, part := range []string{"HOST", "PATH", "QUERY", "REF", "PROTOCOL", "FILE", "AUTHORITY", "USERINFO"} {
		columns = append(columns, column{fmt.Sprintf("parse_url(u, '%s')", part), func(url string) answer {
			u, _ := compat.ParseSpark(url)
			return nullable(u.Part(part))
		}})
	}
	for _, name := range names {
		key, err := compat.ParseSparkKey(name)
		if err != nil {
			t.Fatal(err)
		}
		columns = append(columns, column{fmt.Sprintf("parse_url(u, 'QUERY', cast(X'%x' AS string))", name), func(url string) answer {
			u, _ := compat.ParseSpark(url)
			return nullable(u.Param(key))
		}})
	}
	return append(columns, column{"parse_url(u, 'host')", func(url string) answer {
		u, _ := compat.ParseSpark(url)
		return nullable(u.Part("host"))
	}})
}

func clickHouseColumns(*testing.T) []column {
	var columns []column
	texts := func(name string, f func(compat.ClickHouse) string) {
		columns = append(columns, column{name + "(u)", func(url string) answer { return text(f(compat.ClickHouse(url))) }})
	}
	lists := func(name string, f func(compat.ClickHouse) []string) {
		columns = append(columns, column{"[" + name + "(u)", func(url string) answer { return list(f(compat.ClickHouse(url))) }})
	}
	texts("protocol", compat.ClickHouse.Protocol)
	texts("domain", compat.ClickHouse.Domain)
	texts("domainWithoutWWW", compat.ClickHouse.DomainWithoutWWW)
	texts("topLevelDomain", compat.ClickHouse.TopLevelDomain)
	texts("firstSignificantSubdomain", compat.ClickHouse.FirstSignificantSubdomain)
	texts("cutToFirstSignificantSubdomain", compat.ClickHouse.CutToFirstSignificantSubdomain)
	texts("cutToFirstSignificantSubdomainWithWWW", compat.ClickHouse.CutToFirstSignificantSubdomainWithWWW)
	texts("path", compat.ClickHouse.Path)
	texts("pathFull", compat.ClickHouse.PathFull)
	texts("queryString", compat.ClickHouse.QueryString)
	texts("fragment", compat.ClickHouse.Fragment)
	texts("queryStringAndFragment", compat.ClickHouse.QueryStringAndFragment)
	texts("netloc", compat.ClickHouse.Netloc)
	texts("cutWWW", compat.ClickHouse.CutWWW)
	texts("cutQueryString", compat.ClickHouse.CutQueryString)
	texts("cutFragment", compat.ClickHouse.CutFragment)
	texts("cutQueryStringAndFragment", compat.ClickHouse.CutQueryStringAndFragment)
	texts("basename", compat.ClickHouse.Basename)
	texts("decodeURLComponent", compat.ClickHouse.DecodeURLComponent)
	texts("decodeURLFormComponent", compat.ClickHouse.DecodeURLFormComponent)
	texts("encodeURLComponent", compat.ClickHouse.EncodeURLComponent)
	texts("encodeURLFormComponent", compat.ClickHouse.EncodeURLFormComponent)
	lists("extractURLParameters", compat.ClickHouse.ExtractURLParameters)
	lists("extractURLParameterNames", compat.ClickHouse.ExtractURLParameterNames)
	lists("URLHierarchy", compat.ClickHouse.URLHierarchy)
	lists("URLPathHierarchy", compat.ClickHouse.URLPathHierarchy)
	for _, fallback := range []uint16{0, 1, 80, 65535} {
		columns = append(columns, column{fmt.Sprintf("toString(port(u, toUInt16(%d)))", fallback), func(url string) answer {
			return text(strconv.Itoa(int(compat.ClickHouse(url).Port(fallback))))
		}})
	}
	for _, name := range names {
		columns = append(
			columns,
			column{fmt.Sprintf("extractURLParameter(u, unhex('%x'))", name), func(url string) answer {
				return text(compat.ClickHouse(url).ExtractURLParameter(name))
			}},
			column{fmt.Sprintf("cutURLParameter(u, unhex('%x'))", name), func(url string) answer {
				return text(compat.ClickHouse(url).CutURLParameter(name))
			}},
		)
	}
	return append(columns, column{"cutURLParameter(u, ['q', 'a', 'utm_source', 'q'])", func(url string) answer {
		return text(compat.ClickHouse(url).CutURLParameter("q", "a", "utm_source", "q"))
	}})
}

// engine is a program that has the functions.
type engine struct {
	name    string
	module  string // of Python
	columns []column
	// takes reports whether the program goes on after the URL.
	takes func(url string) bool
}

func engines(t *testing.T) []engine {
	return []engine{
		{"spark", "pyspark", sparkColumns(t), func(url string) bool { return !fatal(url) }},
		{"clickhouse", "chdb", clickHouseColumns(t), func(string) bool { return true }},
	}
}

// fatal reports whether url ends a query of Spark.
func fatal(url string) bool {
	_, err := compat.ParseSpark(url)
	var e *compat.SparkError
	return errors.As(err, &e) && e.Fatal
}

// ask has the engine answer for the URLs, and calls see with every line of its answers.
func (e engine) ask(t *testing.T, urls []string, see func(i int, line string)) {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "urls"), filepath.Join(dir, "answers")
	writeLines(t, in, urls)
	args := []string{filepath.Join("testdata", e.name+".py"), in, out}
	for _, c := range e.columns {
		args = append(args, c.sql)
	}
	cmd := exec.CommandContext(t.Context(), python(t, e.module), args...)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<26)
	n := 0
	for ; lines.Scan(); n++ {
		see(n, lines.Text())
	}
	if lines.Err() != nil || n != len(urls) {
		t.Fatalf("%d answers to %d URLs: %v", n, len(urls), lines.Err())
	}
}

func writeLines(t *testing.T, path string, urls []string) {
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for _, url := range urls {
		fmt.Fprintf(w, "x%x\n", url)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// python returns an interpreter with the module: that of URLMILL_COMPAT_PYTHON, which "make compat" sets.
func python(t *testing.T, module string) string {
	t.Helper()
	program := os.Getenv("URLMILL_COMPAT_PYTHON")
	if program == "" {
		testproc.Missing(t, "URLMILL_REQUIRE_COMPAT", "no "+module+" to compare with: \"make compat\" gets it")
	}
	return program
}

// compare compares an engine's answers to the URLs with ours.
func (e engine) compare(t *testing.T, urls []string) {
	t.Helper()
	differences := 0
	e.ask(t, urls, func(i int, line string) {
		answers := strings.Split(line, " ")
		if len(answers) != len(e.columns) {
			t.Fatalf("%q has %d answers, not %d: %s", urls[i], len(answers), len(e.columns), line)
		}
		for k, c := range e.columns {
			if got := c.got(urls[i]); string(got) != answers[k] {
				if differences++; differences <= 30 {
					t.Errorf("%q: %s is %v, and we say %v", urls[i], c.sql, answer(answers[k]), got)
				}
			}
		}
	})
	t.Logf("%s: %d URLs, %d functions of each: %d differences", e.name, len(urls), len(e.columns), differences)
}

// TestEngines compares with the programs themselves.
func TestEngines(t *testing.T) {
	n := 20_000
	if s := os.Getenv("URLMILL_COMPAT_URLS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range engines(t) {
		t.Run(e.name, func(t *testing.T) {
			python(t, e.module)
			e.compare(t, makeURLs(t, n, e.takes))
		})
	}
}
