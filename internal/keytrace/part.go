package keytrace

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/canon"
)

// Parts says in what two keys differ: a line for each part, none if they are equal.
func Parts(a, b string) []string {
	if a == b {
		return nil
	}
	one, errOne := urlcore.Parse(a)
	other, errOther := urlcore.Parse(b)
	if errOne != nil || errOther != nil { // SURT forms are no URLs
		i := 0
		for i < min(len(a), len(b)) && a[i] == b[i] {
			i++
		}
		return []string{fmt.Sprintf("after %q: %s, %s", a[:i], orNone(a[i:]), orNone(b[i:]))}
	}
	var all []string
	for _, part := range []struct {
		name string
		of   func(*urlcore.URL) string
	}{
		{"scheme", func(u *urlcore.URL) string { return strings.TrimSuffix(u.Protocol(), ":") }},
		{"user name", (*urlcore.URL).Username},
		{"password", func(u *urlcore.URL) string { return strings.Repeat("*", len(u.Password())) }},
		{"host", (*urlcore.URL).Hostname},
		{"port", (*urlcore.URL).Port},
		{"path", (*urlcore.URL).Pathname},
	} {
		if x, y := part.of(one), part.of(other); x != y {
			all = append(all, fmt.Sprintf("%s: %s, %s", part.name, orNone(x), orNone(y)))
		}
	}
	if one.Search() != other.Search() {
		all = append(all, queries(one, other)...)
	}
	if len(all) == 0 {
		all = []string{"password: another"} // of the same length
	}
	return all
}

// queries says which parameters only one of the URLs has.
func queries(one, other *urlcore.URL) (all []string) {
	x, y := params(one), params(other)
	side := func(which string, have, lack []string) {
		left := map[string]int{}
		for _, p := range lack {
			left[p]++
		}
		for _, p := range have {
			if left[p]--; left[p] < 0 {
				all = append(all, fmt.Sprintf("parameter %s: in the %s alone", p, which))
			}
		}
	}
	side("first", x, y)
	side("second", y, x)
	if len(all) == 0 {
		return []string{fmt.Sprintf("query: the order, %s and %s", one.Search(), other.Search())}
	}
	return all
}

func params(u *urlcore.URL) []string {
	query := bytes.TrimPrefix([]byte(u.Search()), []byte("?"))
	return strings.Split(string(query), "&")
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// Join returns options by which two URLs that have two keys by o have one: steps that o lacks, as few of them as will do, or else
// another form. ok is false if none has.
func Join(o canon.Options, a, b string) (joined canon.Options, ok bool) {
	one, errOne := urlcore.Parse(a)
	other, errOther := urlcore.Parse(b)
	if errOne != nil || errOther != nil {
		return o, false
	}
	same := func(o canon.Options) bool { return form(o, one) == form(o, other) }
	for _, f := range []canon.Form{canon.Dedupe, canon.SURTCC, canon.SURTIA} {
		try := o
		try.Form = f
		if f != canon.Dedupe {
			if try.With, try.Without = 0, 0; same(try) {
				return try, true
			}
			continue
		}
		begin := active(try)
		steps := begin
		for _, step := range canon.Steps() {
			steps |= step
		}
		if !same(with(try, steps)) {
			continue
		}
		for _, step := range slices.Backward(canon.Steps()) {
			// A form that is not dedupe yet keeps its usual steps: fewer would be harder to write down.
			if usual := o.Form != f && step&canon.Usual != 0; !usual && begin&step == 0 && same(with(try, steps&^step)) {
				steps &^= step
			}
		}
		return with(try, steps), true
	}
	return o, false
}
