package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/internal/wire"
)

// hostile is a name with what a terminal could act on or does not show: controls of both sets, a change of the writing direction,
// and a space without a width.
const hostile = "n\x1b[31m\x07\x7f\u009b2J\u0085\u202e\u2066\u200b"

// raw returns the first character of a text that a terminal could act on or that does not show.
func raw(text string) (r rune, found bool) {
	for _, r := range text {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)) {
			return r, true
		}
	}
	return 0, false
}

// TestNothingRawOnTerminal runs every command with names of files, directories, columns and keys that come from an attacker. What a
// command says is all of its standard error, and standard output where that is no data.
func TestNothingRawOnTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) string {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	run := func(args ...string) (stdout, stderr string, code int) {
		var out, err bytes.Buffer
		code = execute(args, &app{in: strings.NewReader("https://h/" + hostile + "\n{}"), out: &out, err: &err, components: wire.Standard()})
		return out.String(), err.String(), code
	}
	dir := hostile + "dir"
	lines := write(filepath.Join(dir, hostile+".txt"), "https://a.example/\n"+hostile+"\n")
	table := write(filepath.Join(dir, hostile+".ndjson"), fmt.Sprintf("{%q:1,\"url\":\"https://h/\"}\n", "KEY"))
	key := strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(hostile, "\x1b", `\u001b`), "\x07", `\u0007`), "\x7f", `\u007f`)
	write(table, `{"`+key+`":{"`+key+`":"`+key+`"},"url":"https://h/"}`+"\n")
	clash := write(filepath.Join(dir, hostile+"2.ndjson"), `{"`+key+`":1}`+"\n"+`{"`+key+`":"x"}`+"\n")
	config := write(filepath.Join(dir, hostile+".yaml"), "\""+strings.ReplaceAll(key, "\x7f", "")+"\": 1\nsource: {file: {paths: [\""+key+"\"]}}\n")
	fine := write(filepath.Join(dir, hostile+"3.yaml"), "source: {file: {paths: [\""+strings.ReplaceAll(strings.TrimSuffix(key, ""), `\`, `\`)+"dir/*.txt\"]}}\nsink: {parquet: {path: \"out"+key+"\"}}\n")
	columns, missing := filepath.Join(dir, hostile+".parquet"), filepath.Join(dir, hostile+"none")
	data := filepath.Join(dir, hostile+"out")
	says := func(stdout bool, args ...string) {
		t.Helper()
		out, err, code := run(args...)
		if r, found := raw(err); found {
			t.Errorf("%q, code %d: %U on standard error: %q", args, code, r, err)
		}
		if r, found := raw(out); stdout && found {
			t.Errorf("%q, code %d: %U on standard output: %q", args, code, r, out)
		}
	}
	const isData = false
	for _, format := range []string{"text", "json"} {
		_ = os.RemoveAll(data)
		_ = os.Remove(columns)
		_ = os.RemoveAll("out" + hostile)
		cases := map[string][][]string{
			"run":     {{config}, {missing}, {fine}, {fine, "--summary", "json"}, {fine, "--summary", hostile}, {fine, "--until", hostile, "--replace-partitions"}},
			"dry-run": {{config}, {missing}, {fine}},
			"parse": {
				{lines, "--to", "parquet", "-o", data},
				{missing},
				{lines, "--include", hostile},
				{lines, "--to", "parquet", "-o", lines},
				{lines, "--to", hostile},
				{table, "--url-field", "/" + hostile, "-o", data + "2", "--to", "parquet"},
				{lines, "--geo", missing},
				{table, "--url-field", "/url", "--carry", "ip=/ip", "--geo", lines},
				{table, "--url-field", "/url", "--address", hostile, "--geo", lines},
				{lines, "--user-agent", hostile},
				{lines, "--redact", hostile, "-o", data + "3", "--to", "parquet"},
				{lines, "--nginx", hostile},
			},
			"url":     {{hostile}, {"https://h/" + hostile}, {"--base", hostile, "x"}, {"https://" + hostile + "/"}, {"--diff", "net/url", lines}, {"--diff", "net/url", missing}},
			"explain": {{hostile}, {"https://h/" + hostile, "https://h/"}, {"--form", hostile, "x"}, {"--with", hostile, "x"}, {"--config", missing, "x"}, {"--config", config, "https://h/?" + hostile}},
			"lint":    {{config}, {missing}, {fine}},
			"verify":  {{dir}, {missing}, {data}, {fine}, {config}},
			"sql": {
				{"--for", "duckdb", config},
				{"--for", "duckdb", missing},
				{"--for", "trino", fine},
				{"--for", hostile, fine},
				{"--for", "spark", fine, "--table", hostile},
				{"--for", "polars", fine, "--view", hostile},
			},
			"compact": {{dir}, {missing}, {data}, {fine}, {config}},
			"files":   {{dir}, {missing}, {data}, {fine}},
			"compare": {{"--with", "spark", lines}, {"--with", "spark", missing}, {"--with", hostile, lines}, {config}},
			"demo":    {{"--use", hostile}, {"--records", hostile}, {hostile}},
			"produce": {{lines, "--brokers", hostile, "--topic", hostile}, {missing, "--brokers", "127.0.0.1:1", "--topic", "t"}, {config}},
			"convert": {{table, columns}, {clash, columns + "2"}, {missing, columns}, {table, columns}, {lines, hostile}, {table, data + ".parquet", "--columns", hostile}, {columns, "-", "--to", hostile}},
			"udf":     {{hostile}, {"clickhouse", "--columns", hostile}, {"clickhouse", hostile}},
			"config":  {{hostile}},
			"version": {{hostile}},
			"top":     {{hostile}, {"--once", "http://" + hostile}, {"--once", "127.0.0.1:1/" + hostile}, {"--token-file", missing}, {"--ca-file", lines}, {"--every", hostile}},
			"man":     {{lines + "/x"}}, "parquet": {},
			"exit-codes":   {{hostile}},
			"completion":   {{hostile}},
			"help":         {{hostile}},
			hostile:        {{}},
			"--" + hostile: {{}},
		}
		var all func(cmd *cobra.Command, path []string)
		all = func(cmd *cobra.Command, path []string) {
			given, own := cases[strings.Join(path, " ")]
			if !own {
				given = [][]string{{hostile}, {missing}, {lines}, {table}, {columns}, {config}, {fine}, {dir}, {columns, "--columns", hostile}, {columns, columns}, {"--" + hostile}}
			}
			if len(path) == 1 && !own {
				t.Errorf("the command %s has no case", path[0])
			}
			for _, g := range given {
				says(true, append(append(slices.Clone(path), g...), "--log-format", format)...)
			}
			for _, sub := range cmd.Commands() {
				all(sub, append(slices.Clone(path), sub.Name()))
			}
		}
		root := newRoot(&app{components: wire.Standard()})
		for _, name := range []string{"convert", "parse"} { // make what others read
			for _, g := range cases[name] {
				says(true, append(append([]string{name}, g...), "--log-format", format)...)
			}
		}
		if _, err := os.Stat(columns); err != nil {
			t.Fatal(err)
		}
		for _, cmd := range root.Commands() {
			if cmd.Name() != "convert" && cmd.Name() != "parse" {
				all(cmd, []string{cmd.Name()})
			}
		}
		for _, no := range []string{hostile, "--" + hostile} {
			says(true, no, "--log-format", format)
		}
		says(isData, "convert", columns, "-", "--to", "ndjson", "--log-format", format)
		says(isData, "parse", lines, "--log-format", format)
	}
}
