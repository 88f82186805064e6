package urlcore_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/conformance"
	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/form"
)

// paramsOp is one operation of a case of urlsearchparams.json.
type paramsOp struct {
	Op, ID, On, Name, Attr string
	Input                  string
	Base                   *string
	Value                  *string
	Init                   struct{ String *string }
	Result                 json.RawMessage
}

// TestSearchParams runs the cases in which a URL takes part; package form runs the others.
func TestSearchParams(t *testing.T) {
	type paramsCase struct {
		Name string
		Ops  []paramsOp
	}
	c := newTally(t, "urlsearchparams.json")
	for _, e := range conformance.Cases[paramsCase](t, "urlsearchparams.json") {
		if !slices.ContainsFunc(e.Ops, func(o paramsOp) bool { return o.Op == "new URL" }) {
			continue
		}
		in := paramsInterpreter{t, map[string]*urlcore.URL{}, map[string]*form.Params{}, map[string]*form.Iterator{}}
		ok := true
		for _, o := range e.Ops {
			ok = in.run(o) && ok
		}
		c.check(e.Name, ok, "%s", e.Name)
	}
	c.log()
}

type paramsInterpreter struct {
	t         *testing.T
	urls      map[string]*urlcore.URL
	params    map[string]*form.Params
	iterators map[string]*form.Iterator
}

// run performs an operation and reports whether its result is the expected one.
func (in *paramsInterpreter) run(o paramsOp) bool {
	u, p := in.urls[o.On], in.params[o.On]
	switch o.Op {
	case "new URL":
		base := ""
		if o.Base != nil {
			base = *o.Base
		}
		u, err := parseMaybeBase(o.Input, base, o.Base != nil)
		in.urls[o.ID] = u
		return err == nil
	case "new URLSearchParams":
		in.params[o.ID] = new(form.Params)
		if o.Init.String != nil {
			in.params[o.ID] = form.New(*o.Init.String)
		}
	case "searchParams":
		in.params[o.ID] = u.SearchParams()
		return in.params[o.ID] == u.SearchParams()
	case "get":
		return in.is(o, attributes[o.Attr](u))
	case "set":
		if o.Attr == "href" {
			return u.SetHref(*o.Value) == nil
		}
		u.SetSearch(*o.Value)
	case "toJSON":
		text, err := u.MarshalText()
		return err == nil && in.is(o, string(text))
	case "append":
		p.Append(o.Name, *o.Value)
	case "set params":
		p.Set(o.Name, *o.Value)
	case "sort":
		p.Sort()
	case "delete":
		if o.Value != nil {
			p.DeleteValue(o.Name, *o.Value)
		} else {
			p.Delete(o.Name)
		}
	case "iterate":
		in.iterators[o.ID] = p.Iterator()
	case "next":
		pair, ok := in.iterators[o.On].Next()
		if !ok {
			return in.is(o, nil)
		}
		return in.is(o, []any{pair.Name, pair.Value})
	default:
		return in.is(o, in.read(o, p))
	}
	return true
}

// read performs an operation that returns something of a list.
func (in *paramsInterpreter) read(o paramsOp, p *form.Params) any {
	switch o.Op {
	case "get param":
		if v, ok := p.Get(o.Name); ok {
			return v
		}
		return nil
	case "has":
		return p.Has(o.Name)
	case "size":
		return float64(p.Len())
	case "toString":
		return p.String()
	case "getAll":
		all := []any{}
		for _, v := range p.GetAll(o.Name) {
			all = append(all, v)
		}
		return all
	case "entries":
		all := []any{}
		for name, value := range p.All() {
			all = append(all, []any{name, value})
		}
		return all
	}
	in.t.Fatalf("operation %q", o.Op)
	return nil
}

// is compares a result with the expected one.
func (in *paramsInterpreter) is(o paramsOp, got any) bool {
	var want any
	if err := json.Unmarshal(o.Result, &want); err != nil {
		in.t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		in.t.Errorf("%s on %s %s: %v and not %v", o.Op, o.On, o.Attr, got, want)
		return false
	}
	return true
}
