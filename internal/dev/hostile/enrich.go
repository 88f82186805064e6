package main

import (
	"bytes"
	"fmt"
	"strings"
)

// word is a text of MaxMind's format, of fewer than 29 bytes.
func word(s string) string { return string([]byte{byte(0x40 | len(s))}) + s }

// database is a file of MaxMind's format for IPv4: a tree of one node, whose two sides lead to next, and these records, which begin at 17.
// It claims so many nodes.
func database(next byte, nodes, records string) []byte {
	b := bytes.NewBuffer([]byte{0, 0, next, 0, 0, next})
	b.Write(make([]byte, 16))
	b.WriteString(records + "\xab\xcd\xefMaxMind.com\xe7")
	for _, pair := range [][2]string{
		{"binary_format_major_version", "\xa1\x02"},
		{"binary_format_minor_version", "\xa0"},
		{"build_epoch", "\x01\x02\x01"},
		{"database_type", word("Test")},
		{"ip_version", "\xa1\x04"},
		{"node_count", nodes},
		{"record_size", "\xa1\x18"},
	} {
		b.WriteString(word(pair[0]) + pair[1])
	}
	return b.Bytes()
}

// enrichCases are files that say where addresses are and which ones bots have, and texts that redaction looks at.
func enrichCases() []*testCase {
	const record = 17
	country := "\xe1" + word("country") + "\xe1" + word("iso_code") + word("DE")
	fanOut := "\x40" // each array has the one before it twice
	at, last := 1, 0
	for range 30 {
		pointer := string([]byte{byte(0x20 | last>>8), byte(last)})
		last = at
		fanOut += "\x02\x04" + pointer + pointer
		at += 6
	}
	files := map[string]func(w *workplace) []byte{}
	for name, data := range map[string][]byte{
		"good": database(record, "\xc1\x01", country), "cycle": database(0, "\xc1\x01", country), "outside": database(255, "\xc1\x01", country),
		"nodes-claim": database(record, "\xc4\xff\xff\xff\xff", country), "map-claim": database(record, "\xc1\x01", "\xff\xff\xff\xff"),
		"text-claim": database(record, "\xc1\x01", "\x5f\xff\xff\xff"), "array-claim": database(record, "\xc1\x01", "\x1f\x04\xff\xff\xff"),
		"deep": database(record, "\xc1\x01", strings.Repeat("\xe1\x41a", 300_000)), "pointer": database(record, "\xc1\x01", "\x20\x00"),
		"fan-out": database(byte(record+last), "\xc1\x01", fanOut), "empty": nil, "zeros": make([]byte, 1<<20),
	} {
		files[name] = func(*workplace) []byte { return data }
	}
	for i := range 12 {
		files[fmt.Sprintf("mutated%02d", i)] = func(w *workplace) []byte { return mutate(w.random, database(record, "\xc1\x01", country)) }
	}
	var all []*testCase
	for name, data := range files {
		c := parseOver(logKind, name, beside(func(w *workplace) ([]byte, error) { return data(w), nil }))
		c.name, c.format = "mmdb/"+name, "mmdb"
		c.steps[0].args = []string{"parse", "--quiet", "--to", "ndjson", "--codec", "combined", "--base-url", "https://www.example.com", "--geo", "bad.log", "good.log"}
		c.steps[0].codes = []int{0, 2} // a file that cannot be opened is refused
		if name != "good" && name != "cycle" && name != "pointer" {
			c.steps[0].good = nil
		}
		all = append(all, c)
	}
	device := inputCase("mmdb", "device", []int{2}, nil, "parse", "--quiet", "--to", "ndjson", "--geo", "/dev/zero", "input")
	all = append(all, device)
	for name, text := range map[string]string{
		"nested": strings.Repeat("[", 4<<20), "objects": "[" + strings.Repeat("{},", 4<<20/3-1) + `"1::"]`, "numbers": "[" + strings.Repeat("0,", 2<<20-8) + `"1::"]`,
		"names": "{" + strings.Repeat(`"":0,`, 4<<20/5-2) + `"":"1::"}`, "ranges": strings.Repeat("1::\n", 1<<20), "one-line": strings.Repeat("1", 4<<20),
		"large": strings.Repeat("1::\n", 5<<18), "control": `{"prefix": "\u001b]0;PWNED\u0007"}`,
	} {
		c := commandOver("bot ranges", name, ".json", []int{0, 2}, beside(func(w *workplace) ([]byte, error) {
			config := strings.Replace(configuration(logKind.codec), "columns: {include: [url, host, path, url_error]}",
				"enrich: {user_agent: {bot_ranges: [{bots: [Googlebot], files: [bad.json]}]}}", 1)
			return []byte(text), w.write("run.yaml", []byte(config))
		}), "lint", "run.yaml")
		c.steps[0].strict = true
		all = append(all, c)
	}
	for name, u := range map[string]string{
		"digits": "https://h.example/?a=" + strings.Repeat("4111 ", 200_000), "signs": "https://h.example/?a=" + strings.Repeat("@", 1_000_000),
		"mails": "https://h.example/?a=" + strings.Repeat("a@b.", 250_000), "escapes": "https://h.example/?a=" + strings.Repeat("%25", 300_000) + "40",
		"tokens": "https://h.example/?" + strings.Repeat("token=eyJ.&", 100_000), "dots": "https://h.example/" + strings.Repeat("1.2.3.", 200_000),
		"objects": "https://h.example/?a=" + strings.Repeat(`{"token":`, 100_000), "numbers": "https://h.example/" + strings.Repeat("(212)555-0123", 80_000),
	} {
		c := parseOver(linesKind, name, beside(func(*workplace) ([]byte, error) { return []byte(u + "\n"), nil }))
		c.name, c.format = "redaction/"+name, "redaction"
		c.steps[0].args = []string{"parse", "--quiet", "--to", "ndjson", "--redact", "all", "bad.txt", "good.txt"}
		all = append(all, c)
	}
	return all
}
