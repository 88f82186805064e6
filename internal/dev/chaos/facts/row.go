package facts

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/urlcore"
)

// Int is a number, or null.
type Int struct {
	Null  bool
	Value int32
}

// Param is a parameter of a query.
type Param struct{ Key, Value Text }

// Row is what the columns of a row hold that follow from its URL, for all records of a shape.
type Row struct {
	// Texts are the columns of texts and bytes, by their names.
	Texts map[string]*Text
	// Ints are port and url_error_pos.
	Ints map[string]Int
	// Username is has_username, and null without a URL.
	Username, NoURL bool
	// Params are those of the query; nil is null.
	Params []Param

	value   Text // of the record
	literal Text // the URL as a text of JSON
}

// names that no shape has a part of: what is asked about two of them holds for all.
const oneName, otherName = "7/1234567890123", "31/4"

// newRow asks the state machine what a shape gives. It panics when the answer is not the same for all names.
func newRow(s *Shape) *Row {
	one, other := ask(s, oneName), ask(s, otherName)
	for column, text := range one.Texts {
		second := other.Texts[column]
		if text.null != second.null || !slices.Equal(text.parts, second.parts) {
			panic(fmt.Sprintf("column %s of %q is not the same for all records", column, s.url))
		}
	}
	if one.Ints["port"] != other.Ints["port"] || one.Ints["url_error_pos"] != other.Ints["url_error_pos"] {
		panic(fmt.Sprintf("the numbers of %q are not the same for all records", s.url))
	}
	return one
}

// ask asks about a record of this name.
func ask(s *Shape, name string) *Row {
	input := strings.ReplaceAll(s.url, mark, name)
	row := &Row{value: textOf(s.url), literal: textOf(quoted(s.url)), Ints: map[string]Int{"port": {Null: true}, "url_error_pos": {Null: true}}}
	row.Texts = map[string]*Text{
		// Every byte that is no UTF-8 is one replacement character, which holds for those of the shapes.
		"url": ptr(textOf(string([]rune(s.url)))), "raw": &null, "url_error": &null, "canonical_url": ptr(orNull(s.canonical)),
	}
	if s.bytes {
		row.Texts["raw"] = ptr(textOf(s.url))
	}
	// What only errors are collected for goes through the states one by one.
	p, u := urlcore.Parser{CollectErrors: true}, new(urlcore.URL)
	if f := p.Parse(u, []byte(input), nil); !f.OK() {
		row.NoURL = true
		row.Texts["url_error"] = ptr(textOf(f.Code.String()))
		row.Ints["url_error_pos"] = Int{Value: int32(f.Pos)}
		for _, part := range []string{"href", "scheme", "host", "origin", "registrable_domain", "public_suffix", "path", "query", "fragment"} {
			row.Texts[part] = &null
		}
		return row
	}
	part := func(there bool, text string) *Text {
		if !there {
			return &null
		}
		return ptr(Text{parts: strings.Split(text, name)})
	}
	row.Texts["href"] = part(true, u.Href())
	row.Texts["scheme"] = part(true, string(u.Bytes(urlcore.Scheme)))
	row.Texts["host"] = part(u.HasHost(), u.Hostname())
	row.Texts["origin"] = part(!u.SecurityOrigin().Opaque(), u.Origin())
	row.Texts["registrable_domain"] = ptr(orNull(s.domain))
	row.Texts["public_suffix"] = ptr(orNull(s.suffix))
	row.Texts["path"] = part(true, u.Pathname())
	row.Texts["query"] = part(u.HasQuery(), string(u.Bytes(urlcore.Query)))
	row.Texts["fragment"] = part(u.HasFragment(), string(u.Bytes(urlcore.Fragment)))
	if port, ok := u.PortNumber(); ok {
		row.Ints["port"] = Int{Value: int32(port)}
	}
	row.Username = u.Username() != ""
	if s.params != nil {
		row.Params = make([]Param, 0, len(s.params)/2)
	}
	for i := 0; i+1 < len(s.params); i += 2 {
		row.Params = append(row.Params, Param{textOf(s.params[i]), textOf(s.params[i+1])})
	}
	return row
}

func ptr[T any](v T) *T { return &v }

// quoted returns a text of JSON.
func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // of a string
	}
	return string(text)
}
