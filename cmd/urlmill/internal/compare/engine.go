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
type engine struct {
	// title is what a report calls it.
	title string
	// functions are what gives the host, path and query, as people write it, and param the format of what gives a parameter.
	functions map[string]string
	param     string
	// read returns the values of a URL: host, path, query, and the parameters asked for.
	read func(url string) []value
	// same reports whether the two are one to those who query the engine.
	same func(before, after value) bool
	// nothing says why the URL has no host, path or query there.
	nothing func(url, column string) string
}

// newEngine returns the engine of one of [Engines] that reads the parameters.
func newEngine(name string, params []string) (engine, error) {
	if name == "clickhouse" {
		return clickHouse(params), nil
	}
	var keys []compat.SparkKey
	for _, p := range params {
		key, err := compat.ParseSparkKey(p)
		if err != nil {
			return engine{}, err
		}
		keys = append(keys, key)
	}
	return spark(keys), nil
}

func spark(keys []compat.SparkKey) engine {
	return engine{
		title: "Spark's parse_url",
		functions: map[string]string{
			columnHost: "parse_url(url, 'HOST')", columnPath: "parse_url(url, 'PATH')", columnQuery: "parse_url(url, 'QUERY')",
		},
		param: "parse_url(url, 'QUERY', '%s')",
		read: func(url string) []value {
			u, _ := compat.ParseSpark(url)
			of := func(text string, ok bool) value { return value{text, !ok} }
			values := []value{of(u.Host()), of(u.Path()), of(u.Query())}
			for _, key := range keys {
				values = append(values, of(u.Param(key)))
			}
			return values
		},
		same:    func(before, after value) bool { return before == after },
		nothing: nothingInSpark,
	}
}

func nothingInSpark(url, column string) string {
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

func clickHouse(params []string) engine {
	return engine{
		title:     "ClickHouse's functions",
		functions: map[string]string{columnHost: "domain(url)", columnPath: "path(url)", columnQuery: "queryString(url)"},
		param:     "extractURLParameter(url, '%s')",
		read: func(url string) []value {
			u := compat.ClickHouse(url)
			values := []value{{text: u.Domain()}, {text: u.Path()}, {text: u.QueryString()}}
			for _, name := range params {
				values = append(values, value{text: u.ExtractURLParameter(name)})
			}
			return values
		},
		// NULL is taken for "": the functions know no NULL.
		same: func(before, after value) bool { return before.text == after.text },
		nothing: func(_, column string) string {
			if column == columnHost {
				return `"" before: no dot in the host, an address in brackets, or one of " <>%{}|\^~[];=&" before its end`
			}
			return `"" before`
		},
	}
}
