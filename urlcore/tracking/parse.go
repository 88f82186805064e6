package tracking

import (
	"fmt"
	"strings"
	"time"
)

// Parse reads rules from text. A line is one of
//
//	# a comment
//	version 2026-11-21     the first line that is no comment
//	[example.com]          what follows is for this registrable domain
//	[example.*]            or for the name under any public suffix
//	[*]                    or for all, as at the start
//	utm_*                  names that begin with utm_ and go on
//	gclid                  a name
//	phpsessid session      one that carries a session rather than tracks
//
// An error names the line and what would be right.
func Parse(text string) (*Rules, error) {
	r := &Rules{domains: make(map[string]*names)}
	section := &r.global
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		var err error
		switch {
		case len(fields) == 0:
		case r.version == "":
			r.version, err = parseVersion(fields)
		case strings.HasPrefix(fields[0], "["):
			section, err = r.section(fields)
		default:
			err = section.add(fields)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	if r.version == "" {
		return nil, fmt.Errorf("there is no line %q", "version YYYY-MM-DD")
	}
	return r, nil
}

func parseVersion(fields []string) (string, error) {
	if len(fields) == 2 && fields[0] == "version" {
		if _, err := time.Parse(time.DateOnly, fields[1]); err == nil {
			return fields[1], nil
		}
	}
	return "", fmt.Errorf("%q stands where the version has to come first: version YYYY-MM-DD", strings.Join(fields, " "))
}

func (r *Rules) section(fields []string) (*names, error) {
	name, closed := strings.CutSuffix(fields[0][1:], "]")
	switch {
	case len(fields) > 1 || !closed || name == "" || name != strings.ToLower(name):
		return nil, fmt.Errorf("%q is no section: write [example.com], [example.*] or [*], in lower case", strings.Join(fields, " "))
	case name == "*":
		return &r.global, nil
	case !strings.Contains(name, ".") || strings.Contains(strings.TrimSuffix(name, ".*"), "*"):
		return nil, fmt.Errorf("%q is no registrable domain: write [example.com] or [example.*]", name)
	}
	n := r.domains[name]
	if n == nil {
		n = new(names)
		r.domains[name] = n
	}
	return n, nil
}

func (n *names) add(fields []string) error {
	kind := Tracking
	switch {
	case len(fields) == 2 && fields[1] == "session":
		kind = Session
	case len(fields) != 1:
		return fmt.Errorf("%q: after the name only %q may stand", strings.Join(fields, " "), "session")
	}
	name := fields[0]
	switch text, open := strings.CutSuffix(name, "*"); {
	case name != strings.ToLower(name):
		return fmt.Errorf("%q has to be in lower case; it matches any case then", name)
	case len(name) > maxName:
		return fmt.Errorf("%q is longer than %d bytes", name, maxName)
	case text == "" || strings.Contains(text, "*"):
		return fmt.Errorf("%q: a star may stand at the end of a name only", name)
	case open:
		n.prefixes = append(n.prefixes, prefix{text, kind})
	default:
		if n.exact == nil {
			n.exact = make(map[string]Kind)
		}
		n.exact[name] = kind
	}
	return nil
}
