package udf_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/udf"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// query has ClickHouse, in the form of the Python package chdb, answer queries with the functions of a folder. Its standard
// input has them one a line; an answer is TSV, or "failed", and a line "--" follows it.
const query = `
import sys, chdb
for q in sys.stdin:
    try:
        answer = str(chdb.query(q, "TSV", udf_path=sys.argv[1]))
    except Exception as e:
        answer = "failed\n"
        sys.stderr.write(f"{q}{e}\n")
    sys.stdout.write(answer + "--\n")
`

// patient are settings for a machine that is busier than those that answer in ClickHouse's ten seconds.
const patient = "<command_read_timeout>600000</command_read_timeout><command_write_timeout>600000</command_write_timeout>" +
	"<max_command_execution_time>600</max_command_execution_time>"

// python returns an interpreter with chdb: URLMILL_CHDB_PYTHON, or python3.
func python(t *testing.T) string {
	t.Helper()
	program := os.Getenv("URLMILL_CHDB_PYTHON")
	if program == "" {
		program = "python3"
	}
	if out, err := exec.CommandContext(t.Context(), program, "-c", "import chdb").CombinedOutput(); err != nil {
		testproc.Missing(t, "URLMILL_REQUIRE_CHDB", "no ClickHouse: pip install 'chdb<4', and set URLMILL_CHDB_PYTHON to the python that has it: "+string(out))
	}
	return program
}

// TestClickHouse calls the functions from ClickHouse itself, by the definitions that the command prints.
func TestClickHouse(t *testing.T) {
	program := python(t)
	dir := t.TempDir()
	bin := testproc.Urlmill(t)
	columns := []string{"host", "port", "has_username", "params", "url_error"}
	var definitions bytes.Buffer
	for name, o := range map[string]udf.Options{
		"rows": {Format: udf.RowBinary}, "rows_header": {Format: udf.RowBinary, ChunkHeader: true},
		"rows_base": {Format: udf.RowBinary, ChunkHeader: true, Nullable: true, Base: true},
		"stream":    {Format: udf.ArrowStream}, "stream_header": {Format: udf.ArrowStream, ChunkHeader: true},
		"stream_base": {Format: udf.ArrowStream, Base: true, Nullable: true}, "whole_file": {Format: udf.Arrow},
		"native": {Format: udf.Native}, "native_header": {Format: udf.Native, ChunkHeader: true}, "native_base": {Format: udf.Native, Base: true, Nullable: true},
		"one": {Format: udf.RowBinary, Columns: []string{"path"}},
	} {
		if o.Columns == nil {
			o.Columns = columns
		}
		f, err := udf.New(o)
		if err != nil {
			t.Fatal(err)
		}
		d := f.Define(name, bin)
		text, err := d.XML()
		if err != nil {
			t.Fatal(err)
		}
		definitions.Write(text)
	}
	// A file has one element at its top.
	text := strings.NewReplacer("<functions>", "", "</functions>", "", "</function>", patient+"</function>").Replace(definitions.String())
	if err := os.WriteFile(filepath.Join(dir, "udf_config.xml"), []byte("<functions>"+text+"</functions>"), 0o600); err != nil {
		t.Fatal(err)
	}
	var queries strings.Builder
	var want [][]string // what each may be answered with
	add := func(q string, answers ...string) {
		queries.WriteString(q + "\n")
		want = append(want, answers)
	}
	for _, name := range []string{"rows", "rows_header", "native", "native_header", "stream", "stream_header", "whole_file"} {
		// Two blocks at a time, a process after each other of the pool.
		add("SELECT "+name+"(if(number = 1, 'nope', concat('http://u@h', toString(number), '.com:81/?a=1&b=+'))) FROM numbers(3) SETTINGS max_block_size = 2, max_threads = 1",
			"('h0.com',81,true,[('a','1'),('b',' ')],NULL)\n(NULL,NULL,NULL,[],'missing-scheme-non-relative-URL')\n('h2.com',81,true,[('a','1'),('b',' ')],NULL)\n")
		add("SELECT count(), sum(x.port), countIf(x.host = concat('h', toString(n % 1000), '.com')) FROM (SELECT number AS n, "+name+
			"(concat('http://h', toString(number % 1000), '.com:8081/?a=1')) AS x FROM numbers(200000))", "200000\t1616200000\t200000\n")
	}
	for _, name := range []string{"rows_base", "native_base", "stream_base"} {
		add("SELECT "+name+"(if(number = 1, NULL, '../x?a=b'), if(number = 2, NULL, 'http://h/a/b')).host FROM numbers(4) SETTINGS max_block_size = 3",
			"h\n\\N\n\\N\nh\n")
	}
	add("SELECT one('http://h/a/../b')", "/b\n")
	// Types that the definition does not have: an answer or an error, and never the answer to something else.
	two := " FROM values('x Nullable(String)', 'http://a/', 'http://b/')"
	add("SELECT rows_header(x).host"+two, "a\nb\n", "failed\n") // of ClickHouse 26 and 25
	add("SELECT rows_header(toString(assumeNotNull(x))).host"+two, "a\nb\n")
	add("SELECT stream(x).host"+two, "a\nb\n")
	add("SELECT native(x).host"+two, "a\nb\n")
	add("SELECT native(if(x = 'http://b/', NULL, x)).host"+two, "failed\n")
	add("SELECT native(toFixedString(assumeNotNull(x), 9)).host"+two, "a\nb\n", "failed\n") // of ClickHouse 26 and 25
	add("SELECT native(toString(toFixedString(assumeNotNull(x), 9))).host"+two, "a\nb\n")
	add("SELECT native('http://h/').host, native(materialize(toLowCardinality('http://h/'))).host", "h\th\n")
	add("SELECT stream(toLowCardinality(x)).host"+two, "a\nb\n")
	add("SELECT rows_base(toNullable('x'), toNullable('http://h/a')).host", "h\n")
	cmd := exec.CommandContext(t.Context(), program, "-c", query, dir)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(queries.String())
	var problems bytes.Buffer
	cmd.Stderr = &problems
	got, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, problems.String())
	}
	answers := strings.SplitAfter(string(got), "--\n")
	if len(answers) != len(want)+1 {
		t.Fatalf("%d answers to %d queries\n%s", len(answers)-1, len(want), problems.String())
	}
	for i, q := range strings.Split(strings.TrimSuffix(queries.String(), "\n"), "\n") {
		if got := strings.TrimSuffix(answers[i], "--\n"); !slices.Contains(want[i], got) {
			t.Errorf("%s\ngot\n%s\nwant\n%s\n%s", q, got, strings.Join(want[i], "or\n"), problems.String())
		}
	}
}
