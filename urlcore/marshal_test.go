package urlcore_test

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/percent"
)

var (
	_ encoding.TextMarshaler     = urlcore.URL{}
	_ encoding.TextAppender      = urlcore.URL{}
	_ encoding.TextUnmarshaler   = (*urlcore.URL)(nil)
	_ encoding.BinaryMarshaler   = urlcore.URL{}
	_ encoding.BinaryUnmarshaler = (*urlcore.URL)(nil)
	_ fmt.Stringer               = urlcore.URL{}
	_ sql.Scanner                = (*urlcore.URL)(nil)
	_ driver.Valuer              = urlcore.URL{}
	_ slog.LogValuer             = urlcore.URL{}
	_ flag.Value                 = (*urlcore.URL)(nil)
)

// document has URLs in all places where one may stand.
type document struct {
	Value   urlcore.URL
	Pointer *urlcore.URL
	Slice   []urlcore.URL
	Attr    urlcore.URL `xml:"attr,attr"`
}

// equal reports whether two documents have the same URLs.
func (d document) equal(e document) bool {
	same := d.Value.Equal(&e.Value) && d.Pointer.Equal(e.Pointer) && d.Attr.Equal(&e.Attr) && len(d.Slice) == len(e.Slice)
	for i := 0; same && i < len(d.Slice); i++ {
		same = urlcore.SameRecord(&d.Slice[i], &e.Slice[i])
	}
	return same
}

// codecs hold for each encoding the way there and back of a document that is given by value.
var codecs = map[string]func(d document, back *document) (there []byte, err error){
	"json": func(d document, back *document) ([]byte, error) {
		there, err := json.Marshal(d)
		return there, errors.Join(err, json.Unmarshal(there, back))
	},
	"xml": func(d document, back *document) ([]byte, error) {
		there, err := xml.Marshal(d)
		return there, errors.Join(err, xml.Unmarshal(there, back))
	},
	"gob": func(d document, back *document) ([]byte, error) {
		var there bytes.Buffer
		err := gob.NewEncoder(&there).Encode(d)
		return there.Bytes(), errors.Join(err, gob.NewDecoder(bytes.NewReader(there.Bytes())).Decode(back))
	},
}

func TestMarshalByValue(t *testing.T) {
	u := *urlcore.MustParse("https://u:p@h:81/p?q=1#f")
	for name, codec := range codecs {
		for _, d := range []document{
			{Value: u, Pointer: &u, Slice: []urlcore.URL{u, {}, u}, Attr: u},
			{Pointer: new(urlcore.URL), Slice: []urlcore.URL{{}}},
		} {
			var back document
			if there, err := codec(d, &back); err != nil || !back.equal(d) {
				t.Errorf("%s: %q comes back as %+v, %v", name, there, back, err)
			}
		}
	}
	for _, c := range []struct {
		value any
		want  string
	}{
		{struct{ U urlcore.URL }{u}, `{"U":"https://u:p@h:81/p?q=1#f"}`},
		{map[string]urlcore.URL{"a": u}, `{"a":"https://u:p@h:81/p?q=1#f"}`},
		{[]urlcore.URL{u, {}}, `["https://u:p@h:81/p?q=1#f",""]`},
		{struct{ U *urlcore.URL }{}, `{"U":null}`},
		{struct {
			U urlcore.URL `json:",omitzero"`
		}{}, `{}`},
	} {
		if out, err := json.Marshal(c.value); err != nil || string(out) != c.want {
			t.Errorf("%s, %v, and not %s", out, err, c.want)
		}
	}
	for _, value := range []any{u, &u, []urlcore.URL{u}, map[string]urlcore.URL{"a": u}} {
		if got := fmt.Sprintf("%v %+v", value, value); strings.Count(got, u.Href()) != 2 || strings.Contains(got, "{") {
			t.Errorf("fmt prints %s", got)
		}
	}
}

// TestMarshalFileURLs is about the two kinds of URL that are others when they come back.
func TestMarshalFileURLs(t *testing.T) {
	for input, want := range map[string][2]string{
		"http://localhost/x": {"file://localhost/x", "file:///x"},
		"http://h/C|/x":      {"file://h/C|/x", "file://h/C:/x"},
	} {
		u := urlcore.MustParse(input)
		u.SetProtocol("file")
		text, _ := u.MarshalText()
		if err := u.UnmarshalText(text); err != nil || string(text) != want[0] || u.Href() != want[1] {
			t.Errorf("%s: %s comes back as %s, %v", input, text, u, err)
		}
	}
}

func TestUnmarshal(t *testing.T) {
	into := map[string]func(u *urlcore.URL, text string) error{
		"text":   func(u *urlcore.URL, text string) error { return u.UnmarshalText([]byte(text)) },
		"binary": func(u *urlcore.URL, text string) error { return u.UnmarshalBinary([]byte(text)) },
		"flag":   (*urlcore.URL).Set,
		"string": func(u *urlcore.URL, text string) error { return u.Scan(text) },
		"bytes":  func(u *urlcore.URL, text string) error { return u.Scan([]byte(text)) },
	}
	for name, read := range into {
		u := urlcore.MustParse("https://h/?a=1")
		params := u.SearchParams()
		if err := read(u, "HTTP://I/?b=\u00e9"); err != nil || u.Href() != "http://i/?b=%C3%A9" || params.String() != "b=%C3%A9" {
			t.Errorf("%s: %s with %s, %v", name, u, params, err)
		}
		var e *urlcore.Error
		if err := read(u, "/x"); !errors.As(err, &e) || e.Input != "/x" || u.Href() != "http://i/?b=%C3%A9" {
			t.Errorf("%s: %s, %v", name, u, err)
		}
		if err := read(u, ""); err != nil || !u.IsEmpty() || params.Len() != 0 || !urlcore.SameRecord(u, new(urlcore.URL)) {
			t.Errorf("%s: %q with %s, %v", name, u, params, err)
		}
	}
}

func TestDatabaseColumns(t *testing.T) {
	u := *urlcore.MustParse("https://h/")
	if v, err := u.Value(); err != nil || v != "https://h/" || !driver.IsValue(v) {
		t.Errorf("%v, %v", v, err)
	}
	if v, err := new(urlcore.URL).Value(); err != nil || v != nil {
		t.Errorf("the empty URL: %v, %v", v, err)
	}
	if err := u.Scan(int64(1)); err == nil || !strings.Contains(err.Error(), "int64") || u.Href() != "https://h/" {
		t.Errorf("%s, %v", &u, err)
	}
	if err := u.Scan(nil); err != nil || !u.IsEmpty() {
		t.Errorf("NULL: %s, %v", &u, err)
	}
	var null sql.Null[urlcore.URL]
	if err := null.Scan("https://i/"); err != nil || !null.Valid || null.V.Href() != "https://i/" {
		t.Errorf("%v, %v", null, err)
	}
}

func TestFlags(t *testing.T) {
	var base urlcore.URL
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	var usage strings.Builder
	set.SetOutput(&usage)
	set.Var(&base, "base", "what `URL` references are relative to")
	set.PrintDefaults()
	if strings.Contains(usage.String(), "default") {
		t.Errorf("the empty URL has a default: %s", &usage)
	}
	if err := set.Parse([]string{"-base", "https://h/a/.."}); err != nil || base.Href() != "https://h/" {
		t.Errorf("%s, %v", &base, err)
	}
	if err := set.Parse([]string{"-base", "h"}); err == nil || base.Href() != "https://h/" {
		t.Errorf("%s, %v", &base, err)
	}
}

func TestCredentialsAreHidden(t *testing.T) {
	for input, want := range map[string][2]string{ // Redacted and in a log
		"https://user:pass@h:81/p?q#f": {"https://user:xxxxx@h:81/p?q#f", "https://xxxxx:xxxxx@h:81/p?q#f"},
		"https://token@h/":             {"https://token@h/", "https://xxxxx@h/"},
		"https://:pass@h/":             {"https://:xxxxx@h/", "https://:xxxxx@h/"},
		"foo://u:p@h":                  {"foo://u:xxxxx@h", "foo://xxxxx:xxxxx@h"},
		"https://h/u:p@h":              {"https://h/u:p@h", "https://h/u:p@h"},
		"mailto:me@example.com":        {"mailto:me@example.com", "mailto:me@example.com"},
		"file:///x":                    {"file:///x", "file:///x"},
		"foo:/.//p":                    {"foo:/.//p", "foo:/.//p"},
	} {
		u := urlcore.MustParse(input)
		if got := u.Redacted(); got != want[0] || u.Href() != input {
			t.Errorf("%s: %s", u, got)
		}
		for _, value := range []any{u, *u} {
			var line struct{ URL string }
			var out bytes.Buffer
			slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "url", value)
			if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.URL != want[1] {
				t.Errorf("%s is logged as %s, %v", input, line.URL, err)
			}
		}
	}
	var empty urlcore.URL
	if empty.Redacted() != "" || empty.LogValue().String() != "" {
		t.Error("the empty URL")
	}
}

func TestDecodedParts(t *testing.T) {
	u := urlcore.MustParse("https://J%c3%bcrgen:a%3Ab%zz%ff@h/#%e4%bd%a0 %41#")
	if name, pass, frag := u.DecodedUsername(), u.DecodedPassword(), u.DecodedFragment(); name != "J\u00fcrgen" || pass != "a:b%zz\xff" || frag != "\u4f60 A#" {
		t.Errorf("%q %q %q", name, pass, frag)
	}
	for _, input := range []string{"https://h/", "mailto:x", "https://u@h/#"} {
		u := urlcore.MustParse(input)
		if u.DecodedPassword()+u.DecodedFragment() != "" {
			t.Errorf("%s: %q %q", u, u.DecodedPassword(), u.DecodedFragment())
		}
	}
}

func TestDecodedUsernameBack(t *testing.T) {
	u := urlcore.MustParse("https://h/")
	for _, name := range []string{"me", "a%41", "a:b@c/", "j\u00fcrgen", "%"} {
		u.SetUsername(percent.Encode(name, &percent.Component))
		if got := u.DecodedUsername(); got != name {
			t.Errorf("%q comes back as %q from %s", name, got, u)
		}
	}
}

func TestNilURLs(t *testing.T) {
	u := urlcore.MustParse("https://h/")
	var none *urlcore.URL
	for name, equal := range map[string]func(u, v *urlcore.URL) bool{
		"Equal": (*urlcore.URL).Equal, "EqualExcludingFragments": (*urlcore.URL).EqualExcludingFragments, "HostEqual": (*urlcore.URL).HostEqual,
	} {
		if equal(u, nil) || equal(none, u) || equal(new(urlcore.URL), nil) || !equal(none, nil) || !equal(u, u) {
			t.Errorf("%s with nil", name)
		}
	}
}

func FuzzMarshal(f *testing.F) {
	for _, input := range fuzzSeeds {
		f.Add(input)
	}
	f.Fuzz(func(t *testing.T, input string) {
		var u urlcore.URL
		if err := u.Set(input); err != nil {
			return
		}
		d := document{Value: u, Pointer: &u, Slice: []urlcore.URL{u}, Attr: u}
		for name, codec := range codecs {
			var back document
			if there, err := codec(d, &back); err != nil || !back.equal(d) {
				t.Fatalf("%s: %q comes back as %+v, %v", name, there, back, err)
			}
		}
		value, err := u.Value()
		var back urlcore.URL
		if err := errors.Join(err, back.Scan(value)); err != nil || !urlcore.SameRecord(&u, &back) {
			t.Fatalf("%q comes back from a database as %q, %v", &u, &back, err)
		}
		if again, err := urlcore.Parse(u.Redacted()); !u.IsEmpty() && (err != nil || again.HasCredentials() != u.HasCredentials() || again.Username() != u.Username()) {
			t.Fatalf("%q is redacted to %q, %v", &u, u.Redacted(), err)
		}
	})
}
