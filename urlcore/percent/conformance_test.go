package percent_test

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/conformance"
	"github.com/urlmill/urlmill/urlcore/charset"
	"github.com/urlmill/urlmill/urlcore/form"
	"github.com/urlmill/urlmill/urlcore/percent"
)

// TestPercentEncodeSets compares the membership of each set of the URL Standard.
func TestPercentEncodeSets(t *testing.T) {
	var data map[string]json.RawMessage
	if err := json.Unmarshal(conformance.Read(t, "percent-encode-sets.json"), &data); err != nil {
		t.Fatal(err)
	}
	passed, total := 0, 0
	for _, s := range percent.Sets() {
		raw, ok := data[s.Name]
		if !ok {
			continue // a variant, not the standard's
		}
		total++
		var want struct {
			Printable string `json:"ascii_printable"`
		}
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		if got := s.Set.Printable(); got != want.Printable || !percent.C0Control.SubsetOf(s.Set) {
			t.Errorf("%s: %v, want %q", s.Name, s.Set, want.Printable)
			continue
		}
		passed++
	}
	if total != 8 {
		t.Errorf("%d sets of the standard, want 8", total)
	}
	t.Logf("percent-encode-sets.json: %d/%d", passed, total)
}

// A variantCase is an entry of percent-variants.json.
type variantCase struct {
	Variant, Op, Input, Output, Bytes string
	OutputUTF8                        string `json:"output_utf8"`
	Charset, Language                 string
	Reserved                          string `json:"reserved_in_context"`
	Scheme, Part                      string
	Error                             bool
}

// run returns what the operation of a case gives and what it has to give.
func (c *variantCase) run(t *testing.T) (got, want string) {
	t.Helper()
	raw, err := hex.DecodeString(c.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	switch kind, _, _ := strings.Cut(c.Variant, " ("); kind + ", " + c.Op {
	case "OAuth 1.0, encode text":
		return percent.EncodeOAuth(c.Input), c.Output
	case "OAuth 1.0, encode bytes":
		return string(percent.AppendEncode(nil, raw, &percent.Unreserved)), c.Output
	case "ALPN protocol id, encode":
		got := string(percent.AppendALPN(nil, raw))
		if !percent.IsALPN(got) {
			t.Errorf("IsALPN(%q) is false", got)
		}
		return got, c.Output
	case "ext-value, encode":
		got, err := percent.AppendExtValue(nil, c.Language, c.Input)
		if err != nil {
			t.Error(err)
		}
		return string(got), c.Output
	case "ext-value, decode":
		return c.parseExtValue()
	case "URI Template value, simple, encode":
		return percent.EncodeTemplateSimple(c.Input), c.Output
	case "URI Template value, reserved, encode", "URI Template literal, encode":
		return percent.EncodeTemplateReserved(c.Input), c.Output
	case "CGI, encode":
		set, err := percent.CGISet(c.Reserved)
		if err != nil {
			t.Error(err)
		}
		return percent.Encode(c.Input, &set), c.Output
	case "plain percent-decode, decode to bytes":
		got := percent.Decode(c.Input)
		return string(got) + "\n" + string(charset.AppendUTF8(nil, got)), string(raw) + "\n" + c.OutputUTF8
	case "plus decision procedure, classify":
		return percent.PlusIn(c.Scheme, partsByName[c.Part]).String(), c.Output
	default:
		return c.runForm(t)
	}
}

// runForm runs the operations on the formats that differ in what a plus sign is.
func (c *variantCase) runForm(t *testing.T) (got, want string) {
	t.Helper()
	switch kind, _, _ := strings.Cut(c.Variant, " ("); kind + ", " + c.Op {
	case "plain percent-encoding, decode text":
		return string(percent.AppendDecodePlus(nil, []byte(c.Input), percent.PlusIsPlus)), c.Output
	case "application/x-www-form-urlencoded, decode text":
		got := string(percent.AppendDecodePlus(nil, []byte(c.Input), percent.PlusIsSpace))
		if other := string(form.AppendDecode(nil, []byte(c.Input))); other != got {
			t.Errorf("package form decodes %q as %q", c.Input, other)
		}
		return got, c.Output
	case "application/x-www-form-urlencoded, encode text":
		return string(form.AppendEncode(nil, []byte(c.Input))), c.Output
	case "mailto: form data, encode text":
		s := form.Serializer{SpaceAsPercent20: true}
		return string(s.AppendPairs(nil, []form.Pair{{Name: c.Input}})), c.Output + "="
	}
	t.Errorf("unknown operation %s of %s", c.Op, c.Variant)
	return "", c.Output
}

var partsByName = map[string]percent.Part{
	"query": percent.PartQuery, "fragment": percent.PartFragment, "userinfo": percent.PartUserinfo, "POST body": percent.PartBody,
}

// parseExtValue joins the three parts of an ext-value to one string.
func (c *variantCase) parseExtValue() (got, want string) {
	want = strings.Join([]string{c.Charset, c.Language, c.Output}, "\n")
	if c.Error {
		want = "error"
	}
	v, err := percent.ParseExtValue(c.Input)
	if err != nil {
		return "error", want
	}
	text, err := v.Text()
	if err != nil {
		return "error", want
	}
	return strings.Join([]string{v.Charset, v.Language, text}, "\n"), want
}

func TestPercentVariants(t *testing.T) {
	passed, total := 0, 0
	for _, c := range conformance.Cases[variantCase](t, "percent-variants.json") {
		total++
		if got, want := c.run(t); got != want {
			t.Errorf("%s, %s %q%s: %q, want %q", c.Variant, c.Op, c.Input, c.Bytes, got, want)
			continue
		}
		passed++
	}
	t.Logf("percent-variants.json: %d/%d", passed, total)
}

// TestSeedOperations runs the examples that need neither a legacy encoding nor form data.
func TestSeedOperations(t *testing.T) {
	var seed struct {
		Operations []struct{ Op, Byte, Input, Bytes, Set, Output string } `json:"percent_operations"`
	}
	if err := json.Unmarshal(conformance.Read(t, "seed-examples.json"), &seed); err != nil {
		t.Fatal(err)
	}
	sets := map[string]percent.Set{}
	for _, s := range percent.Sets() {
		sets[s.Name] = s.Set
	}
	passed, total := 0, 0
	for _, c := range seed.Operations {
		var got, want string
		switch set := sets[c.Set]; c.Op {
		case "percent-encode a byte":
			b, err := hex.DecodeString(c.Byte)
			if err != nil {
				t.Fatal(err)
			}
			got, want = string(percent.AppendByte(nil, b[0])), c.Output
		case "percent-decode bytes":
			got, want = string(percent.Decode(c.Input)), c.Output
		case "percent-decode a string":
			got, want = hex.EncodeToString(percent.Decode(c.Input)), c.Bytes
		case "UTF-8 percent-encode a code point", "UTF-8 percent-encode a string":
			got, want = percent.Encode(c.Input, &set), c.Output
		default:
			continue // package charset's
		}
		total++
		if got != want {
			t.Errorf("%s %q%s: %q, want %q", c.Op, c.Byte, c.Input, got, want)
			continue
		}
		passed++
	}
	t.Logf("seed-examples.json, percent operations without an encoding: %d/%d", passed, total)
}
