package charset

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/conformance"
	"github.com/urlmill/urlmill/urlcore/percent"
)

// score counts the cases of a conformance file; failures are reported as they are found.
type score struct{ passed, total int }

func (s *score) check(t *testing.T, ok bool, format string, args ...any) {
	t.Helper()
	s.total++
	if ok {
		s.passed++
		return
	}
	t.Errorf(format, args...)
}

func (s *score) log(t *testing.T, file string) {
	t.Helper()
	t.Logf("%s: %d/%d", file, s.passed, s.total)
}

func mustLookup(t *testing.T, label string) *Encoding {
	t.Helper()
	e, ok := Lookup(label)
	if !ok {
		t.Fatalf("Lookup(%q) finds nothing", label)
	}
	return e
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestConformanceLabels(t *testing.T) {
	type labelCase struct{ Label, Name string }
	var s score
	for _, c := range conformance.Cases[labelCase](t, "encoding-labels.json") {
		ok := true
		for _, label := range []string{c.Label, strings.ToUpper(c.Label), " \t\n\f\r" + c.Label + "\r\f\n\t "} {
			e, found := Lookup(label)
			ok = ok && found && e.Name() == c.Name
		}
		for _, label := range []string{"\v" + c.Label, c.Label + "\u00A0", c.Label + "\x00", "x" + c.Label + "x"} {
			_, found := Lookup(label)
			ok = ok && !found
		}
		s.check(t, ok, "label %q: want %s", c.Label, c.Name)
	}
	s.log(t, "encoding-labels.json")
}

func TestConformanceHooks(t *testing.T) {
	type hookCase struct {
		Op, Encoding, Bytes, Input string
		EncodingUsed               string `json:"encoding_used"`
		Output                     *string
	}
	var s score
	for _, c := range conformance.Cases[hookCase](t, "encoding-hooks.json") {
		src := unhex(t, c.Bytes)
		var got string
		ok := true
		switch c.Op {
		case "decode":
			out, used := AppendDecode(nil, src, mustLookup(t, c.Encoding))
			got = string(out)
			ok = got == *c.Output && used.Name() == c.EncodingUsed
		case "BOM sniff":
			if e, _ := SniffBOM(src); e != nil {
				got = e.Name()
			}
			ok = got == c.Encoding
		case "UTF-8 decode":
			got = string(AppendUTF8WithBOM(nil, src))
			ok = got == *c.Output
		case "UTF-8 decode without BOM":
			got = string(AppendUTF8(nil, src))
			ok = got == *c.Output
		case "UTF-8 decode without BOM or fail":
			out, err := AppendUTF8OrFail(nil, src)
			got = string(out)
			ok = err != nil == (c.Output == nil) && (err != nil || got == *c.Output)
		case "isomorphic decode":
			got = string(AppendIsomorphicDecode(nil, src))
			ok = got == *c.Output
		case "encode (error mode html)":
			out, err := mustLookup(t, c.Encoding).AppendEncode(nil, []byte(c.Input), HTML)
			got = string(out)
			ok = err == nil && got == string(src)
		default:
			t.Fatalf("unknown operation %q", c.Op)
		}
		s.check(t, ok, "%+v: got %q", c, got)
	}
	s.log(t, "encoding-hooks.json")
}

func TestConformanceTextDecoder(t *testing.T) {
	type step struct {
		Bytes  string
		Stream bool
		Output *string
		Error  string
	}
	type decoderCase struct {
		Name, Label      string
		Fatal, IgnoreBOM bool
		ConstructorError string `json:"constructor_error"`
		Steps            []step
	}
	var s score
	for _, c := range conformance.Cases[decoderCase](t, "textdecoder.json") {
		d, err := NewTextDecoder(c.Label, Options{Fatal: c.Fatal, IgnoreBOM: c.IgnoreBOM})
		if c.ConstructorError != "" || err != nil {
			s.check(t, c.ConstructorError != "" && err != nil, "%s: NewTextDecoder: error %v", c.Name, err)
			continue
		}
		ok := true
		for i, step := range c.Steps {
			got, err := d.AppendDecode([]byte("dst:"), unhex(t, step.Bytes), step.Stream)
			switch {
			case step.Error != "":
				var e *Error
				ok = ok && errors.As(err, &e) && e.Code == CodeIllFormed && string(got) == "dst:"
			default:
				ok = ok && err == nil && string(got) == "dst:"+*step.Output
			}
			if !ok {
				t.Logf("%s: step %d: got %q, %v", c.Name, i, got, err)
				break
			}
		}
		s.check(t, ok, "%s failed", c.Name)
	}
	s.log(t, "textdecoder.json")
}

func TestConformancePercentEncoding(t *testing.T) {
	type encodeCase struct {
		Input  string
		Output map[string]string
	}
	var s score
	for _, c := range conformance.Cases[encodeCase](t, "percent-encoding.json") {
		ok := true
		for label, want := range c.Output {
			got := string(AppendPercentEncode(nil, []byte(c.Input), mustLookup(t, label), &percent.SpecialQuery, false))
			if got != want {
				ok = false
				t.Logf("%q in %s: got %q, want %q", c.Input, label, got, want)
			}
		}
		fragment := string(AppendPercentEncode(nil, []byte(c.Input), UTF8, &percent.Fragment, false))
		s.check(t, ok && fragment == c.Output["utf-8"], "%q failed; as a fragment: %q", c.Input, fragment)
	}
	s.log(t, "percent-encoding.json")
}

func TestConformancePercentEncodeLegacy(t *testing.T) {
	type legacyCase struct {
		Encoding, Input string
		SpecialQuery    string `json:"special-query"`
		Form            string
	}
	var s score
	for _, c := range conformance.Cases[legacyCase](t, "percent-encode-legacy.json") {
		e := mustLookup(t, c.Encoding)
		query := string(AppendPercentEncode(nil, []byte(c.Input), e, &percent.SpecialQuery, false))
		form := string(AppendPercentEncode(nil, []byte(c.Input), e, &percent.FormURLEncoded, true))
		s.check(t, query == c.SpecialQuery && form == c.Form,
			"%q in %s: got %q and %q, want %q and %q", c.Input, c.Encoding, query, form, c.SpecialQuery, c.Form)
	}
	s.log(t, "percent-encode-legacy.json")
}

// TestConformanceSeedExamples runs the URL Standard's own table of examples, as far as encodings go.
func TestConformanceSeedExamples(t *testing.T) {
	var tables struct {
		PercentOperations []struct {
			Op, Encoding, Set, Input, Output string
			SpaceAsPlus                      bool `json:"space_as_plus"`
		} `json:"percent_operations"`
	}
	if err := json.Unmarshal(conformance.Read(t, "seed-examples.json"), &tables); err != nil {
		t.Fatal(err)
	}
	sets := map[string]*percent.Set{
		"userinfo":                          &percent.Userinfo,
		"special-query":                     &percent.SpecialQuery,
		"application/x-www-form-urlencoded": &percent.FormURLEncoded,
	}
	var s score
	for _, c := range tables.PercentOperations {
		if c.Op != "percent-encode after encoding" {
			continue
		}
		set := sets[c.Set]
		if set == nil {
			t.Fatalf("unknown set %q", c.Set)
		}
		got := string(AppendPercentEncode(nil, []byte(c.Input), mustLookup(t, c.Encoding), set, c.SpaceAsPlus))
		s.check(t, got == c.Output, "%+v: got %q", c, got)
	}
	s.log(t, "seed-examples.json (percent-encode after encoding)")
}
