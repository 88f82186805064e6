package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// hostileURLs are hosts, paths and queries that cost more than they should.
func hostileURLs() map[string]string {
	var distinct strings.Builder
	for i := range 1360 {
		distinct.WriteRune(rune(0x4e00 + i*7%20000))
	}
	return map[string]string{
		"cjk":           "https://" + distinct.String() + "/",
		"labels":        "https://" + strings.Repeat("é.", 1360) + "com/",
		"combining":     "https://a" + strings.Repeat("\u0301\u0323", 1000) + "/",
		"soft-hyphens":  "https://" + strings.Repeat("\u00ad", 2040) + "a/",
		"ligatures":     "https://" + strings.Repeat("\ufdfa", 1360) + "/",
		"xn":            "https://" + strings.Repeat("xn--xn--9ca-.", 300) + "é/",
		"joiners":       "https://" + strings.Repeat("क\u094d\u200d", 450) + "/",
		"encoded-host":  "https://" + strings.Repeat("%C3%A9", 80_000) + "/",
		"dots":          "https://h.example/" + strings.Repeat("a/../", 60_000),
		"encoded-dots":  "https://h.example/" + strings.Repeat("a/%2e%2E/", 60_000),
		"parameters":    "https://h.example/?" + strings.Repeat("a&", 300_000),
		"distinct":      "https://h.example/?" + distinctParameters(50_000),
		"ill-formed":    "https://h.example/?" + strings.Repeat("\xff", 1_000_000),
		"at-signs":      "https://" + strings.Repeat("a:b@", 100_000) + "h/",
		"port":          "https://h:" + strings.Repeat("0", 500_000) + "1/",
		"colons":        "https://[" + strings.Repeat("0:", 200_000) + "]/",
		"session":       "https://h.example/" + strings.Repeat(";jsessionid=", 40_000),
		"asp":           "https://h.example/" + strings.Repeat("/(s(abcdefghij0123456789abcd))/", 15_000) + "x.aspx",
		"backslashes":   "https://h.example/" + strings.Repeat("\\", 500_000),
		"control":       "https://h.example/\x1b]0;PWNED\x07\u202e\x00\x9b31m",
		"spaces-behind": "data:" + strings.Repeat(" ", 500_000) + "#",
	}
}

func distinctParameters(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d=%d&", i*7919%1000003, i)
	}
	return b.String()
}

// urlCases are URLs, through parse with all columns and canonical forms, and through the programs that answer one at a time.
func urlCases() []*testCase {
	var all []*testCase
	for name, u := range hostileURLs() {
		k := linesKind
		k.format = "urls"
		lines := []byte(u + "\n")
		c := parseOver(k, name, beside(func(*workplace) ([]byte, error) { return lines, nil }))
		c.steps[0].args = []string{"parse", "--quiet", "--to", "ndjson", "--canonical", "surt-cc", "bad.txt", "good.txt"}
		all = append(all, c, runOver(k, name, beside(func(*workplace) ([]byte, error) { return bytes.Repeat(lines, 1+(8<<20)/len(lines)/8), nil })))
		escaped := strings.NewReplacer(`\`, `\\`, "\x1b", `\u001b`, "\x07", `\u0007`, "\x00", `\u0000`, "\x9b", `\u009b`).Replace(u)
		all = append(all,
			answers("url", name, []byte(`{"input":"`+escaped+"\"}\n"), "url", "--ndjson"),
			inputCase("line protocol", "url-"+name, []int{0}, append([]byte(`m url="`+strings.ReplaceAll(u, `\`, `\\`)+"\" 1\n"), goodMetrics()...), "url", "--line-protocol", "url"))
	}
	return all
}

// textCases are records of texts, and names of files.
func textCases() []*testCase {
	is := func(s string) func(w io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	long := func(what string, n int64) func(w io.Writer) error {
		return func(w io.Writer) error { _, err := io.Copy(w, repeat(what, n)); return err }
	}
	commas := func(w io.Writer) error {
		if _, err := io.WriteString(w, "n,url,text\n"); err != nil {
			return err
		}
		return compress(w, "zst", repeat(",", 500<<20))
	}
	nested := `{"url":"https://bad.example/","tags":` + strings.Repeat(`[`, 40_000) + strings.Repeat(`]`, 40_000) + "}\n"
	objects := strings.Repeat(`{"a":`, 40_000) + "1" + strings.Repeat("}", 40_000) + "\n"
	var keys strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&keys, `"k%d":%d,`, i, i)
	}
	var all []*testCase
	add := func(k kind, name string, f func(w io.Writer) error) {
		bad := func(w *workplace, to string) error { return w.stream(to, f) }
		all = append(all, runOver(k, name, bad), parseOver(k, name, bad))
		if k.format == "ndjson" {
			all = append(all,
				commandOver("ndjson", name, ".ndjson", []int{0, 1}, bad, "convert", "BAD", "out.parquet"),
				commandOver("ndjson", name, ".ndjson", []int{0, 1}, bad, "parquet", "head", "--json", "BAD"))
		}
	}
	add(ndjsonKind, "nested", is(nested))
	add(ndjsonKind, "nested-open", long("[", 4<<20))
	add(ndjsonKind, "objects", is(objects))
	add(ndjsonKind, "keys", is("{"+keys.String()+`"url":"https://bad.example/"}`+"\n"))
	add(ndjsonKind, "digits", is(`{"url":"https://bad.example/","n":`+strings.Repeat("9", 2<<20)+"}\n"))
	add(ndjsonKind, "exponent", is(`{"url":"https://bad.example/","n":1e999999999}`+"\n"))
	add(ndjsonKind, "escapes", is(`{"url":"`+strings.Repeat(`\ud800`, 300_000)+`"}`+"\n"+`{"url":"`+strings.Repeat(`\u0000`, 300_000)+`"}`+"\n"))
	add(ndjsonKind, "one-line", long("a", 80<<20))
	add(ndjsonKind, "control-keys", is("{\"url\":\"https://bad.example/\",\"\\u001b[31m\\u202e\":1}\n"))
	add(ndjsonKind, "empty-lines", long("\n", 8<<20))
	add(csvKind, "commas", long(",", 64<<20))
	add(csvKind, "commas-zstd", func(w io.Writer) error { return compress(w, "zst", repeat(",", 500<<20)) })
	add(csvKind, "commas-behind", commas)
	add(csvKind, "quote", func(w io.Writer) error {
		if err := is("n,url,text\n1,\"")(w); err != nil {
			return err
		}
		return long("a\n", 4<<20)(w)
	})
	add(csvKind, "quotes", long(`"`, 20<<20))
	add(csvKind, "header", long("\x1b[31m,", 4<<20))
	add(logKind, "brackets", long("[", 20<<20))
	add(logKind, "quotes", long(`"\"`, 20<<20))
	add(logKind, "spaces", long(" ", 40<<20))
	for i := range 72 {
		k := []kind{ndjsonKind, csvKind, logKind}[i%3]
		bad, name := mutated("bad"+k.ext), fmt.Sprintf("mutated%02d", i)
		switch {
		case i/3%3 == 0:
			all = append(all, runOver(k, name, bad))
		case i/3%3 == 1 || k.format != "ndjson":
			all = append(all, parseOver(k, name, bad))
		default:
			all = append(all, commandOver("ndjson", name, ".ndjson", []int{0, 1}, bad, "convert", "BAD", "out.parquet"))
		}
	}
	for _, k := range []kind{ndjsonKind, csvKind, logKind} {
		all = append(all, many(k, []string{"bad" + k.ext}, []string{"run", "run.yaml"}))
	}
	return append(all, nameCases()...)
}

// nameCases are files whose names act on a terminal, lead elsewhere, or are patterns.
func nameCases() []*testCase {
	var all []*testCase
	for i, name := range []string{
		"bad\x1b]0;PWNED\x07.ndjson", "bad\n../x.ndjson", "bad\u202egp.ndjson", "bad\xff\xfe.ndjson", "b*[a?.ndjson", "{a,b}.ndjson",
		"%2e%2e%2fbad.ndjson", "${" + envSecret + "}.ndjson", "bad\\..\\x.ndjson", "-o.ndjson", strings.Repeat("n", 240) + ".ndjson", "bad\u0085\u009b31m.ndjson",
	} {
		k := ndjsonKind
		k.format = "names"
		all = append(all, runOver(k, fmt.Sprintf("name%02d", i), func(w *workplace, _ string) error { return w.write("in/"+name, records("bad")) }))
	}
	return all
}
