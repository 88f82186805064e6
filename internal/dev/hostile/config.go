package main

import (
	"bytes"
	"fmt"
	"strings"
)

// configurationBase is mutated. Its password is a variable, which no message may show.
const configurationBase = `source:
  kafka:
    brokers: ["127.0.0.1:1", "127.0.0.1:2"]
    topics: [clicks]
    group: g
    sasl: {mechanism: plain, username: u, password: "${` + envSecret + `}"}
  codec:
    ndjson:
      url: /url
      carry: [{name: user, pointer: /user/id, type: int64}, {name: at, pointer: /at, type: timestamp}]
columns: &c
  include: [host, path, user]
  rename: {host: h}
pipeline: {workers: 2, batch_bytes: 1MiB}
sink:
  clickhouse: {url: "http://u:${` + envSecret + `}@127.0.0.1:1/db", table: t}
memory_limit: ` + limitText + `
admin: {listen: "127.0.0.1:0"}
`

// merges is a mapping in which each level has the one below it many times.
func merges(wide, deep int) string {
	b := bytes.NewBufferString("x0: &a0 {k: v}\n")
	for i := 1; i <= deep; i++ {
		fmt.Fprintf(b, "x%d: &a%d\n  <<: [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), wide-1), i-1)
	}
	fmt.Fprintf(b, "source:\n  <<: *a%d\n", deep)
	return b.String()
}

// configCases are configurations and schemas that are linted.
func configCases() []*testCase {
	var all []*testCase
	is := func(s string) func(w *workplace, to string) error {
		return func(w *workplace, to string) error { return w.write(to, []byte(s)) }
	}
	add := func(name string, bad func(w *workplace, to string) error) {
		c := commandOver("config", name, ".yaml", []int{0, 2}, bad, "lint", "BAD")
		c.steps[0].strict = true
		all = append(all, c)
	}
	aliases := bytes.NewBufferString("a0: &a0 [x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(aliases, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	add("merges-8", is(merges(8, 8)))
	add("merges-20", is(merges(20, 12)))
	add("merges-deep", is(merges(2, 400)))
	add("aliases", is(aliases.String()))
	add("self", is("a: &a\n  <<: *a\n  b: *a\nsource: *a\n"))
	add("brackets", is("source: "+strings.Repeat("[", 100_000)))
	add("braces", is("source: "+strings.Repeat("{a: ", 100_000)))
	add("dashes", is(strings.Repeat("- ", 200_000)))
	add("indented", is(indented(900)))
	add("keys", is("source:\n"+strings.Repeat("  ? a\n", 100_000)))
	add("long-key", is(strings.Repeat("k", 900_000)+": 1\n"))
	add("control", is("\"sou\\e[31mrce\\u202e\": {\"\\x9b31m\": 1}\n\"\\0\": 2\n"))
	add("variables", is("source: "+strings.Repeat("${"+envSecret+"}", 10_000)+"\n"))
	add("nested-variables", is("source: "+strings.Repeat("${A:-", 50_000)+"\n"))
	add("large", is(strings.Repeat("# nothing\n", 400_000)))
	add("itself", is("source: ${file:bad.yaml}\n"))
	add("device", is("source: ${file:/dev/zero}\nsink: ${file:/dev/urandom}\n"))
	add("documents", is(strings.Repeat("---\na: 1\n", 50_000)))
	add("tags", is("source: !!binary "+strings.Repeat("A", 500_000)+"\nsink: !!python/object:os.system [x]\n"))
	for i := range 48 {
		add(fmt.Sprintf("mutated%02d", i), func(w *workplace, to string) error {
			return w.write(to, mutateText(w.random, []byte(configurationBase)))
		})
	}
	return append(all, schemaCases()...)
}

func indented(deep int) string {
	var b strings.Builder
	for i := range deep {
		fmt.Fprintf(&b, "%sa:\n", strings.Repeat(" ", i))
	}
	return b.String()
}

const (
	avroSchema = `{"type":"record","name":"Click","fields":[{"name":"url","type":"string"},{"name":"user","type":["null",{"type":"record",
"name":"User","fields":[{"name":"id","type":"long"},{"name":"more","type":{"type":"map","values":"string"}}]}]},
{"name":"tags","type":{"type":"array","items":{"type":"enum","name":"Tag","symbols":["A","B"]}}},{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}}]}`
	protoSchema = `syntax = "proto3";
package a.b;
import "google/protobuf/timestamp.proto";
message Click {
  string url = 1;
  repeated Tag tags = 2;
  map<string, int64> more = 3;
  oneof x { int32 a = 4; google.protobuf.Timestamp at = 5; }
  message Tag { string name = 1 [deprecated = true]; Tag inner = 2; }
  enum E { Z = 0; Y = -1; }
  reserved 100 to max;
}
`
)

// schemaCases are schemas of Avro and Protobuf, which a configuration names.
func schemaCases() []*testCase {
	var all []*testCase
	add := func(format, name, codec, file string, schema func(w *workplace) []byte) {
		c := &testCase{
			name: format + " schema/" + name, format: format + " schema",
			files: func(w *workplace) error {
				config := "source:\n  kafka: {brokers: [\"127.0.0.1:1\"], topics: [t], group: g}\n  codec: {" + codec + "}\nsink: {ndjson: {path: out}}\nmemory_limit: " + limitText + "\n"
				if err := w.write("bad.yaml", []byte(config)); err != nil {
					return err
				}
				return w.write(file, schema(w))
			},
			steps: []step{{args: []string{"lint", "bad.yaml"}, codes: []int{0, 2}, strict: true}},
		}
		all = append(all, c)
	}
	avro := func(name string, schema func(w *workplace) []byte) {
		add("avro", name, "avro: {schema: bad.avsc, url: /url, carry: [{name: tags, pointer: /tags, type: json}]}", "bad.avsc", schema)
	}
	proto := func(name string, schema func(w *workplace) []byte) {
		add("protobuf", name, "protobuf: {schema: bad.proto, message: a.b.Click, url: /url, carry: [{name: tags, pointer: /tags, type: json}]}", "bad.proto", schema)
	}
	is := func(s string) func(w *workplace) []byte { return func(*workplace) []byte { return []byte(s) } }
	for _, deep := range []int{400, 200_000} {
		avro(fmt.Sprintf("arrays-%d", deep), is(strings.Repeat(`{"type":"array","items":`, deep)+`"int"`+strings.Repeat("}", deep)))
		avro(fmt.Sprintf("brackets-%d", deep), is(strings.Repeat("[", deep)))
		proto(fmt.Sprintf("messages-%d", deep), is("syntax = \"proto3\";\n"+strings.Repeat("message A {", deep)+strings.Repeat("}", deep)))
		proto(fmt.Sprintf("options-%d", deep), is("syntax = \"proto3\";\noption (x) = "+strings.Repeat("{a: ", deep)+strings.Repeat("}", deep)+";\n"))
	}
	avro("itself", is(`{"type":"record","name":"R","fields":[{"name":"url","type":"R"}]}`))
	avro("doubling", is(doubling(24)))
	avro("fixed", is(`{"type":"record","name":"R","fields":[{"name":"url","type":"string"},{"name":"tags","type":{"type":"fixed","name":"F","size":9223372036854775807}}]}`))
	avro("default", is(`{"type":"record","name":"R","fields":[{"name":"url","type":"string","default":`+strings.Repeat("[", 400)+strings.Repeat("]", 400)+`}]}`))
	avro("symbols", is(`{"type":"enum","name":"E","symbols":["A`+strings.Repeat(`","A`, 200_000)+`"]}`))
	proto("import-itself", is("syntax = \"proto3\";\nimport \"bad.proto\";\n"+protoSchema))
	proto("import-device", is("syntax = \"proto3\";\nimport \"/dev/zero\";\nimport \"../../../../../../dev/zero\";\n"))
	proto("comment", is("/*"+strings.Repeat("/*", 400_000)))
	proto("fields", is("syntax = \"proto3\";\npackage a.b;\nmessage Click { string url = 1;\n"+strings.Repeat("int32 a = 2;\n", 60_000)+"}\n"))
	for i := range 15 {
		name := fmt.Sprintf("mutated%02d", i)
		avro(name, func(w *workplace) []byte { return mutateText(w.random, []byte(avroSchema)) })
		proto(name, func(w *workplace) []byte { return mutateText(w.random, []byte(protoSchema)) })
	}
	return all
}

// doubling is a schema whose each record has the one before it twice.
func doubling(n int) string {
	b := bytes.NewBufferString(`{"type":"record","name":"Top","fields":[{"name":"url","type":"string"},{"name":"r0","type":{"type":"record","name":"R0","fields":[{"name":"a","type":"int"}]}}`)
	for i := 1; i < n; i++ {
		fmt.Fprintf(b, `,{"name":"r%d","type":{"type":"record","name":"R%d","fields":[{"name":"a","type":"R%d"},{"name":"b","type":"R%d"}]}}`, i, i, i-1, i-1)
	}
	fmt.Fprintf(b, `,{"name":"tags","type":"R%d"}]}`, n-1)
	return b.String()
}
