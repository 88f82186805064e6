// Package compare counts what changes in the rows of those who replace Spark's parse_url or ClickHouse's URL functions by
// urlmill's columns.
package compare

import (
	"errors"
	"fmt"

	"github.com/urlmill/urlmill/urlcore/compat"
)

// Engines are the names of what can be compared with.
func Engines() []string { return []string{"spark", "clickhouse"} }

// value is a text or NULL.
type value struct {
	text string
	null bool
}

func (v value) String() string {
	if v.null {
		return "NULL"
	}
	return fmt.Sprintf("%q", v.text)
}

// engine is what is replaced.
type engine interface {
	// title is what a report calls it.
	title() string
	// function is what gives the host, path or query, as people write it, and param what gives a parameter.
	function(column string) string
	param(name string) string
	// read returns the values of a URL: host, path, query, and the parameters asked for.
	read(url string) []value
	// same reports whether the two are one to those who query the engine.
	same(before, after value) bool
	// nothing says why the URL has no host, path or query there.
	nothing(url, column string) string
}

// newEngine returns the engine of one of [Engines] that reads the parameters.
func newEngine(name string, params []string) (engine, error) {
	if name == "clickhouse" {
		return clickHouse{params}, nil
	}
	s := spark{}
	for _, p := range params {
		key, err := compat.ParseSparkKey(p)
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, key)
	}
	return s, nil
}

type spark struct{ keys []compat.SparkKey }

func (spark) title() string { return "Spark's parse_url" }

func (spark) function(column string) string {
	switch column {
	case columnHost:
		return "parse_url(url, 'HOST')"
	case columnPath:
		return "parse_url(url, 'PATH')"
	}
	return "parse_url(url, 'QUERY')"
}

func (spark) param(name string) string { return fmt.Sprintf("parse_url(url, 'QUERY', '%s')", name) }

func (s spark) read(url string) []value {
	u, _ := compat.ParseSpark(url)
	of := func(text string, ok bool) value { return value{text, !ok} }
	values := []value{of(u.Host()), of(u.Path()), of(u.Query())}
	for _, key := range s.keys {
		values = append(values, of(u.Param(key)))
	}
	return values
}

func (spark) same(before, after value) bool { return before == after }

func (spark) nothing(url, column string) string {
	u, err := compat.ParseSpark(url)
	if e := (*compat.SparkError)(nil); errors.As(err, &e) {
		return "NULL before: " + e.Reason
	}
	_, hierarchical := u.Path()
	_, authority := u.Authority()
	switch {
	case !hierarchical:
		return "NULL before: no slash behind the scheme"
	case column == columnHost && authority:
		return "NULL before: no host by RFC 2396"
	}
	return "NULL before"
}

type clickHouse struct{ params []string }

func (clickHouse) title() string { return "ClickHouse's functions" }

func (clickHouse) function(column string) string {
	switch column {
	case columnHost:
		return "domain(url)"
	case columnPath:
		return "path(url)"
	}
	return "queryString(url)"
}

func (clickHouse) param(name string) string {
	return fmt.Sprintf("extractURLParameter(url, '%s')", name)
}

func (c clickHouse) read(url string) []value {
	u := compat.ClickHouse(url)
	values := []value{{text: u.Domain()}, {text: u.Path()}, {text: u.QueryString()}}
	for _, name := range c.params {
		values = append(values, value{text: u.ExtractURLParameter(name)})
	}
	return values
}

// same takes NULL for "": the functions know no NULL.
func (clickHouse) same(before, after value) bool { return before.text == after.text }

func (clickHouse) nothing(_, column string) string {
	if column == columnHost {
		return `"" before: no dot in the host, an address in brackets, or one of " <>%{}|\^~[];=&" before its end`
	}
	return `"" before`
}
