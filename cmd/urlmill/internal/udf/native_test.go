package udf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// nativeBlock is a block in Native, as ClickHouse writes it: columns are a name, a type and the bytes of the values.
func nativeBlock(rows int, columns ...string) string {
	b := binary.AppendUvarint(nil, uint64(len(columns)/3))
	b = binary.AppendUvarint(b, uint64(rows))
	for i := 0; i < len(columns); i += 3 {
		b = appendText(appendText(b, columns[i]), columns[i+1])
		b = append(b, columns[i+2]...)
	}
	return string(b)
}

// values are texts of String.
func values(of ...string) string {
	var b []byte
	for _, s := range of {
		b = appendText(b, s)
	}
	return string(b)
}

const hostType = "Nullable(String)"

// TestNative answers each block by one, in pieces of every size.
func TestNative(t *testing.T) {
	one, two := nativeBlock(2, "url", "String", values("http://a.b/x", "nope")), nativeBlock(1, "x", "Nullable(String)", "\x00"+values("http://c/"))
	for name, test := range map[string]struct {
		o        Options
		in, want string
	}{
		"one column": {
			Options{Columns: []string{"host"}},
			one + two + nativeBlock(0, "url", "String", ""),
			nativeBlock(2, "result", hostType, "\x00\x01"+values("a.b", "")) + nativeBlock(1, "result", hostType, "\x00"+values("c")) + nativeBlock(0, "result", hostType, ""),
		},
		"chunk headers": {Options{Columns: []string{"host"}, ChunkHeader: true}, "1\n" + two, nativeBlock(1, "result", hostType, "\x00"+values("c"))},
		"bases": {
			Options{Columns: []string{"host"}, Base: true},
			nativeBlock(4, "a", "Nullable(String)", "\x00\x01\x00\x00"+values("../x", "", "y", "//z"), "b", "Nullable(String)", "\x00\x00\x01\x00"+values("http://h/a/", "http://h/", "", "http://h/")),
			nativeBlock(4, "result", hostType, "\x00\x01\x01\x00"+values("h", "", "", "z")),
		},
		"all types": {
			Options{Columns: []string{"host", "port", "has_username", "params"}},
			nativeBlock(3, "url", "String", values("http://u@a.b:81/?x=1&y", "nope", "http://c/?z=2")),
			nativeBlock(3, "result", "Tuple(host Nullable(String), port Nullable(Int32), has_username Nullable(Bool), params Array(Tuple(key String, value String)))",
				"\x00\x01\x00"+values("a.b", "", "c")+"\x00\x01\x01"+"\x51\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"+"\x00\x01\x00"+"\x01\x00\x00"+
					"\x02\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00"+values("x", "y", "z")+values("1", "", "2")),
		},
	} {
		test.o.Format = Native
		for how, r := range map[string]io.Reader{"at once": strings.NewReader(test.in), "byte by byte": iotest.OneByteReader(strings.NewReader(test.in)), "in halves": iotest.HalfReader(strings.NewReader(test.in))} {
			if got := string(serve(t, test.o, r)); got != test.want {
				t.Errorf("%s, %s: %q, want %q", name, how, got, test.want)
			}
		}
	}
}

// TestNativeLarge has a block whose rows are parsed in several steps, with lists that go on, and texts longer than what is read at once.
func TestNativeLarge(t *testing.T) {
	const rows = 3*stepRows + 17
	var urls, bases, hosts, keys, texts, ends []byte
	for i := range rows {
		url, text := fmt.Sprintf("http://h%d.com/?k=%d", i, i), fmt.Sprint(i)
		if i%5000 == 70 {
			text = strings.Repeat("a", 2*readSize+i)
			url = "http://h" + fmt.Sprint(i) + ".com/?k=" + text
		}
		urls, bases = appendText(urls, url), appendText(bases, "http://b/")
		hosts, keys, texts = appendText(hosts, fmt.Sprintf("h%d.com", i)), appendText(keys, "k"), appendText(texts, text)
		ends = binary.LittleEndian.AppendUint64(ends, uint64(i+1))
	}
	want := nativeBlock(rows, "result", "Tuple(host Nullable(String), params Array(Tuple(key String, value String)))",
		string(bytes.Join([][]byte{make([]byte, rows), hosts, ends, keys, texts}, nil)))
	o := Options{Format: Native, Columns: []string{"host", "params"}}
	if got := string(serve(t, o, strings.NewReader(nativeBlock(rows, "url", "String", string(urls))))); got != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
	o.Base = true
	if got := string(serve(t, o, strings.NewReader(nativeBlock(rows, "url", "String", string(urls), "base", "String", string(bases))))); got != want {
		t.Errorf("with bases: %d bytes, want %d", len(got), len(want))
	}
}

// What is no block of the function is an error, and nothing of it is answered.
func TestNativeErrors(t *testing.T) {
	whole := nativeBlock(2, "url", "String", values("http://a/", "http://b/"))
	for name, test := range map[string]struct {
		in, want string
		base     bool
	}{
		"another type":     {nativeBlock(1, "url", "LowCardinality(String)", ""), "type LowCardinality(String), not String or Nullable(String): call the function with toString(…)", false},
		"too many columns": {nativeBlock(1, "a", "String", "\x00", "b", "String", "\x00"), "2 columns, want 1", false},
		"no base":          {whole, "1 columns, want 2", true},
		"too many rows":    {nativeBlock(maxRows+1, "a", "String", ""), "the most is 16777216", false},
		"another format":   {"\x01\x01" + string(binary.AppendUvarint(nil, 1<<30)), "is the function's format Native?", false},
		"a long text":      {nativeBlock(1, "a", "String", string(binary.AppendUvarint(nil, MaxText+1))), "the most is 67108864", false},
		"cut in a text":    {whole[:len(whole)-1], "unexpected EOF", false},
		"cut in a type":    {whole[:9], "unexpected EOF", false},
		"cut in nulls":     {nativeBlock(9, "url", "Nullable(String)", "\x00"), "unexpected EOF", false},
	} {
		var out bytes.Buffer
		err := function(t, Options{Format: Native, Columns: []string{"host"}, Base: test.base}).Serve(strings.NewReader(test.in), &out)
		if err == nil || !strings.Contains(err.Error(), test.want) || out.Len() > 0 {
			t.Errorf("%s: %v, want %q; %q was answered", name, err, test.want, out.String())
		}
	}
}

// TestCopyText copies texts of all lengths, with and without room behind them.
func TestCopyText(t *testing.T) {
	for n := range 5 * few {
		for room := range 2 * few {
			from, to := make([]byte, n+room), make([]byte, n+2*few)
			for i := range from {
				from[i] = byte(i + 1)
			}
			for _, behind := range []int{room, 2 * few} {
				copyText(to[:n+behind:n+behind], from, n)
				if string(to[:n]) != string(from[:n]) {
					t.Fatalf("%d bytes with %d behind them and room for %d are not copied", n, room, behind)
				}
				for i, b := range to[n+behind:] {
					if b != 0 {
						t.Fatalf("%d bytes with room for %d: byte %d behind it is written", n, behind, i)
					}
				}
				clear(to)
			}
		}
	}
}
