package udf

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

func recorded(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func function(t *testing.T, o Options) *Function {
	t.Helper()
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func serve(t *testing.T, o Options, in io.Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := function(t, o).Serve(in, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// nullable is a Nullable(String) in RowBinary.
func nullable(s string) string {
	if s == "" {
		return "\x01"
	}
	return "\x00" + string(appendText(nil, s))
}

// hosts are the rows of the recorded queries with the column host.
func hosts(names ...string) (out string) {
	for _, name := range names {
		out += nullable(name)
	}
	return out
}

// TestRowBinary answers what ClickHouse wrote, in pieces of every size.
func TestRowBinary(t *testing.T) {
	all := hosts("h0.com", "h1.com", "h2.com", "h3.com", "h4.com")
	for _, test := range []struct {
		file string
		o    Options
		want string
	}{
		{"rowbinary.bin", Options{}, all},
		{"rowbinary-header.bin", Options{ChunkHeader: true}, all},
		{"rowbinary-nullable-base-header.bin", Options{ChunkHeader: true, Nullable: true, Base: true}, hosts("h", "", "", "h")},
	} {
		test.o.Format, test.o.Columns = RowBinary, []string{"host"}
		in := recorded(t, test.file)
		for name, r := range map[string]io.Reader{"at once": bytes.NewReader(in), "byte by byte": iotest.OneByteReader(bytes.NewReader(in)), "in halves": iotest.HalfReader(bytes.NewReader(in))} {
			if got := string(serve(t, test.o, r)); got != test.want {
				t.Errorf("%s %s: %q, want %q", test.file, name, got, test.want)
			}
		}
	}
}

// What ClickHouse 25.8 writes for columns that are not of the type in the definition can be read as rows, but as other ones. None
// of them may become an answer.
func TestOtherTypesThanTheDefinition(t *testing.T) {
	for name, test := range map[string]struct {
		o  Options
		in string
	}{
		"Nullable(String) of four":           {Options{}, "4\n\x00\x09http://a/\x00\x09http://b/\x00\x09http://d/\x00\x09http://c/"},
		"Nullable(String) of one":            {Options{}, "1\n\x00\x09http://a/"},
		"the rest begins like a header":      {Options{}, "1\n\x000http://a/" + strings.Repeat("x", 39)},
		"Nullable(String), the second block": {Options{}, "1\n\x09http://a/1\n\x00\x09http://a/"},
		"UInt32":                             {Options{}, "2\n\x01\x00\x00\x00\x02\x00\x00\x00"},
		"Array(String)":                      {Options{}, "1\n\x01\x09http://a/"},
		"UInt32, and --nullable":             {Options{Nullable: true}, "2\n\x01\x00\x00\x00\x02\x00\x00\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			test.o.Format, test.o.Columns, test.o.ChunkHeader = RowBinary, []string{"host"}, true
			var out bytes.Buffer
			err := function(t, test.o).Serve(strings.NewReader(test.in), &out)
			if err == nil || !strings.Contains(err.Error(), "the block does not end with its rows") {
				t.Errorf("%v", err)
			}
			if want := hosts("a"); out.Len() > 0 && out.String() != want {
				t.Errorf("%q was answered", out.String())
			}
		})
	}
}

// TestTuple checks the bytes of every type.
func TestTuple(t *testing.T) {
	o := Options{Format: RowBinary, Columns: []string{"host", "port", "has_username", "params", "url_error_pos"}}
	in := appendText(nil, "http://u@a.b:81/?x=1&y")
	in = append(appendText(in, "nope"), appendText(nil, "mailto:x")...)
	want := nullable("a.b") + "\x00\x51\x00\x00\x00" + "\x00\x01" + "\x02\x01x\x011\x01y\x00" + "\x01" +
		"\x01\x01\x01\x00\x00\x00\x00\x00\x00" +
		"\x01\x01\x00\x00\x00\x01"
	if got := string(serve(t, o, bytes.NewReader(in))); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	const kind = "Tuple(host Nullable(String), port Nullable(Int32), has_username Nullable(Bool), params Array(Tuple(key String, value String)), url_error_pos Nullable(Int32))"
	if got := function(t, o).ReturnType(); got != kind {
		t.Error(got)
	}
}

// rowsOf returns the rows of streams that follow each other without ends, as JSON.
func rowsOf(t *testing.T, data []byte) (rows []string, blocks int) {
	t.Helper()
	in := bytes.NewReader(data)
	for in.Len() > 0 {
		r, err := ipc.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Next() {
			t.Fatalf("block %d has no rows: %v", blocks, r.Err())
		}
		column := r.Record().Column(0)
		for i := range column.Len() {
			rows = append(rows, column.ValueStr(i))
		}
		if name := r.Schema().Field(0).Name; name != ResultName {
			t.Errorf("column %q", name)
		}
		r.Release()
		blocks++
	}
	return rows, blocks
}

// TestArrowStream answers what ClickHouse wrote. There is no end of a stream between the answers, and none behind the last.
func TestArrowStream(t *testing.T) {
	for _, test := range []struct {
		file string
		o    Options
		want []string
	}{
		{"arrowstream-base.bin", Options{Columns: []string{"host"}, Base: true}, []string{"h0.com", "base", "h2.com", "h3.com", "h4.com"}},
		{"arrowstream-header.bin", Options{Columns: []string{"host"}, ChunkHeader: true}, []string{"h0.com", "h1.com", "h2.com", "h3.com", "h4.com"}},
		{
			"arrowstream-header.bin",
			Options{Columns: []string{"host", "query"}, ChunkHeader: true},
			[]string{`{"host":"h0.com","query":"a=1"}`, `{"host":"h1.com","query":"a=1"}`, `{"host":"h2.com","query":"a=1"}`, `{"host":"h3.com","query":"a=1"}`, `{"host":"h4.com","query":"a=1"}`},
		},
	} {
		test.o.Format = ArrowStream
		in := recorded(t, test.file)
		for _, r := range []io.Reader{bytes.NewReader(in), iotest.OneByteReader(bytes.NewReader(in))} {
			rows, blocks := rowsOf(t, serve(t, test.o, r))
			if diff := cmp.Diff(test.want, rows); diff != "" || blocks != 3 {
				t.Errorf("%s: %d blocks\n%s", test.file, blocks, diff)
			}
		}
	}
}

// TestArrowFile answers a file by a file, and reads no further than it goes.
func TestArrowFile(t *testing.T) {
	o := Options{Format: Arrow, Columns: []string{"host", "path"}}
	in := recorded(t, "arrow.bin")
	one := serve(t, o, iotest.OneByteReader(bytes.NewReader(in)))
	r, err := ipc.NewFileReader(bytes.NewReader(one))
	if err != nil {
		t.Fatal(err)
	}
	rec, err := r.Record(0)
	if err != nil || r.NumRecords() != 1 || rec.NumRows() != 2 || rec.Column(0).ValueStr(1) != `{"host":"h1.com","path":"/"}` {
		t.Errorf("%v, %v", rec, err)
	}
	if two := serve(t, o, bytes.NewReader(append(bytes.Clone(in), in...))); !bytes.Equal(two, append(bytes.Clone(one), one...)) {
		t.Error("two files are not answered like one and one")
	}
}

// TestPool has every block answered before the next one is written, as a process in a pool must.
func TestPool(t *testing.T) {
	stream := recorded(t, "arrowstream-base.bin")
	block := bytes.Split(stream, []byte("\xff\xff\xff\xff\x00\x00\x00\x00"))[0]
	rows := appendText(nil, "http://h0.com/")
	rows = append(rows, rows...)
	for name, test := range map[string]struct {
		o       Options
		in, out []byte
	}{
		"RowBinary":               {Options{Format: RowBinary}, rows, []byte(hosts("h0.com", "h0.com"))},
		"RowBinary, with headers": {Options{Format: RowBinary, ChunkHeader: true}, append([]byte("2\n"), rows...), []byte(hosts("h0.com", "h0.com"))},
		"Native":                  {Options{Format: Native}, []byte(nativeBlock(1, "url", "String", values("http://h0.com/"))), nil},
		"ArrowStream":             {Options{Format: ArrowStream, Base: true}, append(bytes.Clone(block), "\xff\xff\xff\xff\x00\x00\x00\x00"...), nil},
		"Arrow":                   {Options{Format: Arrow}, recorded(t, "arrow.bin"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			test.o.Columns = []string{"host"}
			want := test.out
			if want == nil {
				want = serve(t, test.o, bytes.NewReader(test.in))
			}
			inRead, inWrite := io.Pipe()
			outRead, outWrite := io.Pipe()
			done := make(chan error, 1)
			go func() { done <- function(t, test.o).Serve(inRead, outWrite) }()
			for range 20 {
				go func() { _, _ = inWrite.Write(test.in) }()
				got := make([]byte, len(want))
				if _, err := io.ReadFull(outRead, got); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%v: %q, want %q", err, got, want)
				}
			}
			_ = inWrite.Close()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestLarge has blocks that are parsed in several batches, and texts longer than what is read at once.
func TestLarge(t *testing.T) {
	long := "http://long.com/" + strings.Repeat("a", 2*readSize)
	in, want := []byte(fmt.Sprintf("%d\n", batchRows+1001)), []byte{}
	for i := range batchRows + 1001 {
		url := fmt.Sprintf("http://h%d.com/", i)
		if i == 70 {
			url = long
		}
		in = appendText(in, url)
		want = append(want, nullable(strings.Split(url, "/")[2])...)
	}
	for _, header := range []bool{true, false} {
		if !header {
			in = in[bytes.IndexByte(in, '\n')+1:]
		}
		got := serve(t, Options{Format: RowBinary, Columns: []string{"host"}, ChunkHeader: header}, bytes.NewReader(in))
		if !bytes.Equal(got, want) {
			t.Errorf("header %t: %d bytes, want %d", header, len(got), len(want))
		}
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestErrors(t *testing.T) {
	url := appendText(nil, "http://h/")
	for _, test := range []struct {
		name, in, want string
		o              Options
	}{
		{"cut", string(url[:4]), "unexpected EOF", Options{Format: RowBinary}},
		{"cut after the length", string(binary.AppendUvarint(nil, 1<<20)) + "h", "unexpected EOF", Options{Format: RowBinary}},
		{"a base is missing", string(url), "unexpected EOF", Options{Format: RowBinary, Base: true}},
		{"a row is missing", "2\n" + string(url), "unexpected EOF", Options{Format: RowBinary, ChunkHeader: true}},
		{"no header", string(url) + "\n", "no chunk header: set send_chunk_header", Options{Format: RowBinary, ChunkHeader: true}},
		{"no header at all", "1", "unexpected EOF", Options{Format: RowBinary, ChunkHeader: true}},
		{"not nullable", string(url), "leave --nullable out", Options{Format: RowBinary, Nullable: true}},
		{"another format", "\xff\xff\xff\xff\x7f", "are not what the function's definition says", Options{Format: RowBinary}},
		{"no Arrow", "hello, world, hello, world", "ArrowStream", Options{Format: ArrowStream}},
		{"no file", "hello, world", "is not the start of an Arrow file", Options{Format: Arrow}},
		{"a cut file", string(recorded(t, "arrow.bin")[:400]), "", Options{Format: Arrow}},
		{"a cut footer", strings.TrimSuffix(string(recorded(t, "arrow.bin")), "1"), "unexpected EOF", Options{Format: Arrow}},
		{"arguments", string(recorded(t, "arrowstream-base.bin")), "2 arguments, want 1", Options{Format: ArrowStream}},
	} {
		test.o.Columns = []string{"host"}
		err := function(t, test.o).Serve(strings.NewReader(test.in), io.Discard)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	broken := errors.New("broken")
	for file, o := range map[string]Options{"rowbinary.bin": {Format: RowBinary}, "arrowstream-base.bin": {Format: ArrowStream, Base: true}, "arrow.bin": {Format: Arrow}} {
		o.Columns = []string{"host"}
		if err := function(t, o).Serve(bytes.NewReader(recorded(t, file)), failingWriter{broken}); !errors.Is(err, broken) {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, columns := range [][]string{nil, {"nonsense"}} {
		if _, err := New(Options{Format: RowBinary, Columns: columns}); err == nil {
			t.Errorf("columns %v: no error", columns)
		}
	}
}

// TestDefinition reads both forms of a definition back.
func TestDefinition(t *testing.T) {
	d := function(t, Options{Format: RowBinary, Columns: []string{"host", "params"}, Base: true, Nullable: true, ChunkHeader: true}).Define("f", "/opt/urlmill")
	text, err := d.XML()
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Functions []Definition `xml:"function"`
	}
	if err := xml.Unmarshal(text, &file); err != nil || len(file.Functions) != 1 {
		t.Fatalf("%v\n%s", err, text)
	}
	d.XMLName.Local = "function"
	if diff := cmp.Diff(d, file.Functions[0]); diff != "" {
		t.Error(diff)
	}
	var fromYAML struct{ Function map[string]any }
	if err := yaml.Unmarshal(d.YAML(), &fromYAML); err != nil {
		t.Fatalf("%v\n%s", err, d.YAML())
	}
	want := map[string]any{
		"type": "executable_pool", "name": "f", "format": "RowBinary", "send_chunk_header": 1, "execute_direct": 0,
		"return_type": "Tuple(host Nullable(String), params Array(Tuple(key String, value String)))", "return_name": "result",
		"argument": []any{map[string]any{"type": "Nullable(String)", "name": "url"}, map[string]any{"type": "Nullable(String)", "name": "base"}},
		"command":  "exec /opt/urlmill udf clickhouse --format RowBinary --columns host,params --nullable --base --chunk-header",
	}
	if diff := cmp.Diff(want, fromYAML.Function); diff != "" {
		t.Error(diff)
	}
	d = function(t, Options{Format: RowBinary, Columns: []string{"host"}}).Define("f", "/opt/my programs/it's")
	if want := `exec '/opt/my programs/it'\''s' udf clickhouse --format RowBinary --columns host`; d.Command != want {
		t.Errorf("%s, want %s", d.Command, want)
	}
	for name, ok := range map[string]bool{"urlHost": true, "_x1": true, "1x": false, "a b": false, "a: b": false, "": false} {
		if err := CheckName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
	if d := function(t, Options{Format: Arrow, Columns: []string{"host"}}).Define("f", "urlmill"); d.Type != "executable" {
		t.Errorf("files in a pool: %+v", d)
	}
}
