package framing

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestElements(t *testing.T) {
	for text, want := range map[string]string{
		`{"records":[{"a":1},{"a":"}],{\"[\\"}]}`:                                           `{"a":1}` + "\n" + `{"a":"}],{\"[\\"}` + "\n",
		"\ufeff{ \"records\" : [\r\n  {\r\n    \"a\": [1, {}]\n  } ,\n  7, \"x,]\"\n]\n}\n": `{      "a": [1, {}]   }` + "\n7\n" + `"x,]"` + "\n",
		`{"records":[]}`: "",
		`{"records":[{}]}` + "\n" + `{"records":[{"b":[]}]}` + "\n": "{}\n" + `{"b":[]}` + "\n",
		`{"records":[{}]}{"records":[1]}`:                           "{}\n1\n",
		`{"records":[{"a":1},{"a":`:                                 `{"a":1}` + "\n" + `{"a":`,
		`{"records":[{}]} {"x":1}` + "\n{}\n":                       "{}\n" + `{"x":1}` + "\n{}\n",
		`{"records":[{}],"n":1}`:                                    "{}\n" + `],"n":1}`,
		`{"rec`:                                                     `{"rec`,
		"{ \"time\": 1}\n{\"records\":[1,2]}\n":                     "{ \"time\": 1}\n{\"records\":[1,2]}\n",
		`{"records":{}}`:                                            `{"records":{}}`,
		`{"records":` + strings.Repeat(" ", maxHeld):                `{"records":` + strings.Repeat(" ", maxHeld),
		"":      "",
		"a\r\n": "a\r\n",
	} {
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(text), "byte by byte": iotest.OneByteReader(strings.NewReader(text)),
			"error with data": iotest.DataErrReader(strings.NewReader(text)),
		} {
			got, err := io.ReadAll(iotest.OneByteReader(NewElements(r, "records")))
			if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
				t.Errorf("%.80q, %s: %v %s", text, name, err, diff)
			}
		}
	}
	broken := errors.New("broken")
	got, err := io.ReadAll(NewElements(io.MultiReader(strings.NewReader(`{"records":[1,2`), iotest.ErrReader(broken)), "records"))
	if string(got) != "1\n2" || !errors.Is(err, broken) {
		t.Errorf("%q, %v", got, err)
	}
}

// FuzzElements: of a document that is one, the lines are the elements as encoding/json has them, and nothing else is lost.
func FuzzElements(f *testing.F) {
	f.Add(`{"records":[{"a":"}]\""},[],"\\",null, 7 ]}`, 3)
	f.Add("{\n\"records\": [\n{\"a\":\n1},{}\n]\n}\n", 1)
	f.Fuzz(func(t *testing.T, text string, size int) {
		if len(text) > 4096 {
			return
		}
		read := func(size int) []byte {
			e := NewElements(strings.NewReader(text), "records")
			e.buf = make([]byte, max(1, min(size, 4096)))
			got, err := io.ReadAll(e)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		got := read(size)
		if other := read(4096); !bytes.Equal(got, other) {
			t.Fatalf("%q, and with other reads %q", got, other)
		}
		var members map[string]json.RawMessage
		var records []json.RawMessage
		if json.Unmarshal([]byte(text), &members) != nil || len(members) != 1 || json.Unmarshal(members["records"], &records) != nil ||
			strings.Contains(text, `\u`) || strings.Count(text, `"records"`) != 1 || len(text) > maxHeld {
			return
		}
		if members["records"][0] != '[' {
			return
		}
		lines := strings.Split(strings.TrimSuffix(string(got), "\n"), "\n")
		if len(records) == 0 {
			lines = nil
			if len(got) > 0 {
				t.Fatalf("%q", got)
			}
		}
		if len(lines) != len(records) {
			t.Fatalf("%d lines of %d records: %q", len(lines), len(records), got)
		}
		for i, line := range lines {
			var a, b bytes.Buffer
			if json.Compact(&a, []byte(line)) != nil || json.Compact(&b, records[i]) != nil || a.String() != b.String() {
				t.Fatalf("line %q of record %q", line, records[i])
			}
		}
	})
}
