package form

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/conformance"
	"github.com/urlmill/urlmill/urlcore/charset"
)

func TestURLEncodedParser(t *testing.T) {
	passed, total := 0, 0
	for _, c := range conformance.Cases[struct {
		Input  string
		Output [][2]string
	}](t, "urlencoded-parser.json") {
		total++
		var want []Pair
		for _, p := range c.Output {
			want = append(want, Pair{p[0], p[1]})
		}
		if got := Parse(c.Input); !slices.Equal(got, want) {
			t.Errorf("Parse(%q) = %q, want %q", c.Input, got, want)
			continue
		}
		if got := AppendParse(nil, []byte(c.Input)); !slices.Equal(got, want) {
			t.Errorf("AppendParse(%q) = %q, want %q", c.Input, got, want)
			continue
		}
		passed++
	}
	t.Logf("urlencoded-parser.json: %d/%d", passed, total)
}

func TestLegacyEncodings(t *testing.T) {
	passed, total := 0, 0
	for _, c := range conformance.Cases[struct {
		Encoding, Input, Form string
	}](t, "percent-encode-legacy.json") {
		total++
		encoding, ok := charset.Lookup(c.Encoding)
		if !ok {
			t.Errorf("no encoding %s", c.Encoding)
			continue
		}
		s := Serializer{Encoding: encoding}
		want := c.Form + "=" + c.Form
		if got := s.AppendPairs(nil, []Pair{{c.Input, c.Input}}); string(got) != want {
			t.Errorf("%s %q: %s, want %s", c.Encoding, c.Input, got, want)
			continue
		}
		passed++
	}
	t.Logf("percent-encode-legacy.json, form: %d/%d", passed, total)
}

// An op is an operation of urlsearchparams.json.
type op struct {
	Op, ID, On, Name, Value string
	HasValue                bool `json:"-"`
	Init                    struct {
		String   *string
		Sequence [][]string
		Record   [][2]string
		CopyOf   string `json:"copy_of"`
	}
	Throws string
	Result json.RawMessage
}

// UnmarshalJSON notes whether there is a value, which tells has(name, value) from has(name).
func (o *op) UnmarshalJSON(data []byte) error {
	type plain op
	var has struct{ Value *string }
	if err := json.Unmarshal(data, &has); err != nil {
		return err
	}
	o.HasValue = has.Value != nil
	return json.Unmarshal(data, (*plain)(o))
}

// An interpreter runs the operations of one case. Those that need a URL object are package urlcore's to test.
type interpreter struct {
	t         *testing.T
	params    map[string]*Params
	iterators map[string]*Iterator
}

func TestURLSearchParams(t *testing.T) {
	passed, total, withURL := 0, 0, 0
	for _, c := range conformance.Cases[struct {
		Name string
		Ops  []op
	}](t, "urlsearchparams.json") {
		if slices.ContainsFunc(c.Ops, func(o op) bool { return o.Op == "new URL" }) {
			withURL++
			continue
		}
		total++
		if t.Run(c.Name, func(t *testing.T) {
			in := interpreter{t, map[string]*Params{}, map[string]*Iterator{}}
			for i := range c.Ops {
				in.run(&c.Ops[i])
			}
		}) {
			passed++
		}
	}
	t.Logf("urlsearchparams.json, cases without a URL object: %d/%d (%d cases have one)", passed, total, withURL)
}

func (in *interpreter) run(o *op) {
	in.t.Helper()
	if o.Op == "new URLSearchParams" {
		in.construct(o)
		return
	}
	if o.Op == "next" {
		pair, ok := in.iterators[o.On].Next()
		if !ok {
			in.check(o, nil)
			return
		}
		in.check(o, []string{pair.Name, pair.Value})
		return
	}
	p := in.params[o.On]
	switch o.Op {
	case "append":
		p.Append(o.Name, o.Value)
	case "set params":
		p.Set(o.Name, o.Value)
	case "sort":
		p.Sort()
	case "delete":
		if o.HasValue {
			p.DeleteValue(o.Name, o.Value)
		} else {
			p.Delete(o.Name)
		}
	case "iterate":
		in.iterators[o.ID] = p.Iterator()
	default:
		in.read(o, p)
	}
}

// read runs the operations that have a result.
func (in *interpreter) read(o *op, p *Params) {
	in.t.Helper()
	switch o.Op {
	case "get param":
		if value, ok := p.Get(o.Name); ok {
			in.check(o, value)
		} else {
			in.check(o, nil)
		}
	case "getAll":
		in.check(o, append([]string{}, p.GetAll(o.Name)...))
	case "has":
		if o.HasValue {
			in.check(o, p.HasValue(o.Name, o.Value))
		} else {
			in.check(o, p.Has(o.Name))
		}
	case "size":
		in.check(o, p.Len())
	case "toString":
		in.check(o, p.String())
	case "entries":
		entries := [][]string{}
		for name, value := range p.All() {
			entries = append(entries, []string{name, value})
		}
		in.check(o, entries)
	case "keys":
		in.check(o, append([]string{}, slices.Collect(p.Keys())...))
	case "values":
		in.check(o, append([]string{}, slices.Collect(p.Values())...))
	default:
		in.t.Errorf("unknown operation %q", o.Op)
	}
}

// construct runs a constructor.
func (in *interpreter) construct(o *op) {
	in.t.Helper()
	switch {
	case o.Init.String != nil:
		in.params[o.ID] = New(*o.Init.String)
	case o.Init.Sequence != nil:
		p, err := FromSequence(o.Init.Sequence)
		if (err != nil) != (o.Throws != "") {
			in.t.Errorf("%q: error %v, want %q", o.Init.Sequence, err, o.Throws)
		}
		in.params[o.ID] = p
	case o.Init.Record != nil:
		in.params[o.ID] = FromRecord(func(yield func(string, string) bool) {
			for _, entry := range o.Init.Record {
				if !yield(entry[0], entry[1]) {
					return
				}
			}
		})
	case o.Init.CopyOf != "":
		in.params[o.ID] = in.params[o.Init.CopyOf].Clone()
	default:
		in.params[o.ID] = &Params{}
	}
}

// check compares the JSON texts of a result and of what was expected.
func (in *interpreter) check(o *op, got any) {
	in.t.Helper()
	var want any
	if err := json.Unmarshal(o.Result, &want); err != nil {
		in.t.Fatalf("%s: result %s: %v", o.Op, o.Result, err)
	}
	gotText, err := json.Marshal(got)
	if err != nil {
		in.t.Fatal(err)
	}
	wantText, err := json.Marshal(want)
	if err != nil {
		in.t.Fatal(err)
	}
	if string(gotText) != string(wantText) {
		in.t.Errorf("%s on %s %q: %s, want %s", o.Op, o.On, o.Name, gotText, wantText)
	}
}
