package urlcore_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/urlmill/urlmill/urlcore"
)

var update = flag.Bool("update", false, "write what the code does into testdata/*.json, to be reviewed")

// parseCase is one case of testdata/parse.json.
type parseCase struct {
	About   string   `json:"about,omitempty"`   // what the case and those after it are about
	Input   string   `json:"input"`             //
	Base    *string  `json:"base,omitempty"`    //
	Href    string   `json:"href,omitempty"`    // "" if it fails
	Parts   string   `json:"parts,omitempty"`   // scheme|username|password|host (kind)|port|path|query|fragment, null as -
	Origin  string   `json:"origin,omitempty"`  //
	Errors  []string `json:"errors,omitempty"`  // validation errors as name@position
	Failure string   `json:"failure,omitempty"` // the fatal one
}

// observe fills in what the parser makes of the case.
func (c parseCase) observe(t *testing.T) parseCase {
	t.Helper()
	got := parseCase{About: c.About, Input: c.Input, Base: c.Base}
	var base *urlcore.URL
	if c.Base != nil {
		base = urlcore.MustParse(*c.Base)
	}
	p := urlcore.Parser{CollectErrors: true}
	var u urlcore.URL
	f := p.Parse(&u, []byte(c.Input), base)
	for _, e := range p.ValidationErrors() {
		got.Errors = append(got.Errors, fmt.Sprintf("%s@%d", e.Code, e.Pos))
	}
	if !f.OK() {
		got.Failure = fmt.Sprintf("%s@%d", f.Code, f.Pos)
		return got
	}
	checkRecord(t, &u)
	got.Href, got.Origin, got.Parts = u.Href(), u.Origin(), describeParts(&u)
	return got
}

// describeParts writes the parts of u in one line.
func describeParts(u *urlcore.URL) string {
	or := func(has bool, part urlcore.Part) string {
		if !has {
			return "-"
		}
		return string(u.Bytes(part))
	}
	path := u.Pathname()
	if u.OpaquePath() {
		path = "opaque " + path
	}
	return fmt.Sprintf("%s|%s|%s|%s (%s)|%s|%s|%s|%s", u.Bytes(urlcore.Scheme), u.Username(), u.Password(),
		or(u.HasHost(), urlcore.Host), u.HostKind(), or(u.HasPort(), urlcore.Port), path,
		or(u.HasQuery(), urlcore.Query), or(u.HasFragment(), urlcore.Fragment))
}

func TestParseCases(t *testing.T) {
	codes := map[string]bool{}
	goldenCases(t, "testdata/parse.json", func(t *testing.T, c parseCase) parseCase {
		got := c.observe(t)
		for _, e := range got.Errors {
			name, _, _ := bytes.Cut([]byte(e), []byte{'@'})
			codes[string(name)] = true
		}
		return got
	})
	for _, code := range urlcore.Codes() {
		if !codes[code.String()] && code != urlcore.CodeInputTooLong {
			t.Errorf("testdata/parse.json has no case for %s", code)
		}
	}
}

// setterCase is one case of testdata/setters.json.
type setterCase struct {
	About string `json:"about,omitempty"`
	Set   string `json:"set"` // the name of the attribute
	Href  string `json:"href"`
	Value string `json:"value"`
	Want  string `json:"want"` // the serialization afterwards
	Parts string `json:"parts"`
}

func TestSetterCases(t *testing.T) {
	goldenCases(t, "testdata/setters.json", func(t *testing.T, c setterCase) setterCase {
		u := urlcore.MustParse(c.Href)
		setters[c.Set](u, c.Value)
		checkRecord(t, u)
		c.Want, c.Parts = u.Href(), describeParts(u)
		return c
	})
}

// goldenCases compares each case of a file with what the code makes of it, or writes that with -update.
func goldenCases[T any](t *testing.T, file string, observe func(*testing.T, T) T) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []T
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for i, c := range cases {
		got := observe(t, c)
		if !*update && !reflect.DeepEqual(got, c) {
			t.Errorf("%s: got  %+v\nwant %+v", file, got, c)
		}
		out.WriteString(map[bool]string{true: "[\n  ", false: ",\n  "}[i == 0])
		if err := enc.Encode(got); err != nil {
			t.Fatal(err)
		}
		out.Truncate(out.Len() - 1)
	}
	if *update {
		out.WriteString("\n]\n")
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%s: %d cases", file, len(cases))
}
