package compat

import "strings"

// params returns what is behind the first "?" or "#", where something is.
func (u ClickHouse) params() string {
	return string(u[u.paramsStart():])
}

// paramsStart returns the byte behind the first "?" or "#", or the length of the URL.
func (u ClickHouse) paramsStart() int {
	if i := strings.IndexAny(string(u), "?#"); i >= 0 {
		return i + 1
	}
	return len(u)
}

// ExtractURLParameter is the value of the first parameter of the name, of the query or of the fragment, not decoded: what is
// behind "name=" where a "?", "#" or "&" is before it.
func (u ClickHouse) ExtractURLParameter(name string) string {
	s, pattern := string(u), name+"="
	for i := u.paramsStart(); i < len(s); {
		n := strings.Index(s[i:], pattern)
		if n < 0 {
			return ""
		}
		i += n + len(pattern)
		if strings.IndexByte("?#&", s[i-len(pattern)-1]) < 0 {
			continue // the end of another name
		}
		if end := strings.IndexAny(s[i:], "&#"); end >= 0 {
			return s[i : i+end]
		}
		return s[i:]
	}
	return ""
}

// CutURLParameter is the URL without the first parameter of each of the names, one after another: a name that is there twice
// takes two of them. Where "name=" is the end of another name first, nothing is cut: cutURLParameter('?xa=1&a=2', 'a') is
// '?xa=1&a=2'.
func (u ClickHouse) CutURLParameter(names ...string) string {
	for _, name := range names {
		u = u.cutParam(name)
	}
	return string(u)
}

func (u ClickHouse) cutParam(name string) ClickHouse {
	pattern := name + "="
	start := u.paramsStart()
	first := strings.Index(string(u[start:]), pattern)
	if start += first; first < 0 || strings.IndexByte("?#&", u[start-1]) < 0 {
		return u
	}
	end := start + len(pattern)
	if n := strings.IndexAny(string(u[end:]), "&#"); n >= 0 {
		end += n
	} else {
		end = len(u)
	}
	switch { // one "&" goes, too
	case end < len(u) && u[end] == '&':
		end++
	case u[start-1] == '&':
		start--
	}
	return u[:start] + u[end:]
}

// ExtractURLParameters are the parameters of the query and the fragment as they stand there. One without "=" at the end of
// the URL is left out.
func (u ClickHouse) ExtractURLParameters() []string {
	var list []string
	u.eachParam(func(name, value string) { list = append(list, name+value) })
	return list
}

// ExtractURLParameterNames are their names.
func (u ClickHouse) ExtractURLParameterNames() []string {
	var list []string
	u.eachParam(func(name, _ string) { list = append(list, name) })
	return list
}

// eachParam calls f with the name of each parameter and what follows it, from its "=" on.
func (u ClickHouse) eachParam(f func(name, rest string)) {
	s := u.params()
	for s != "" {
		end := strings.IndexAny(s, "=&#?")
		if end < 0 {
			return
		}
		if s[end] == '?' {
			s = s[end+1:]
			continue
		}
		rest := ""
		next := end
		if s[end] == '=' {
			if next = strings.IndexAny(s, "&#"); next < 0 {
				next = len(s)
			}
			rest = s[end:next]
		}
		f(s[:end], rest)
		s = s[min(next+1, len(s)):]
	}
}

// URLHierarchy are the beginnings of the URL that end behind its host and behind each part of its path, query and fragment;
// for what has no scheme with "//" behind it, the URL alone. A scheme is of the letters b to y and the digits 1 to 8 here.
func (u ClickHouse) URLHierarchy() []string {
	if u == "" {
		return nil
	}
	host, ok := u.hierarchyHost()
	if !ok {
		return []string{string(u)}
	}
	first := min(host+1, len(u))
	return u.hierarchy(0, first, []string{string(u[:first])})
}

// URLPathHierarchy is the same without the scheme and the host; nothing where there is no scheme with "//" behind it.
func (u ClickHouse) URLPathHierarchy() []string {
	host, ok := u.hierarchyHost()
	if !ok {
		return nil
	}
	return u.hierarchy(host, min(host+1, len(u)), nil)
}

// hierarchyHost returns the end of the host.
func (u ClickHouse) hierarchyHost() (int, bool) {
	i := 0
	for i < len(u) && (u[i] > 'a' && u[i] < 'z' || u[i] > '0' && u[i] < '9') {
		i++
	}
	if i == 0 || i+3 >= len(u) || u[i:i+3] != "://" {
		return 0, false
	}
	return u.until(i + 3), true
}

// until returns the first "/", "?" or "#" from i on, or the length of the URL.
func (u ClickHouse) until(i int) int {
	if n := strings.IndexAny(string(u[i:]), "/?#"); n >= 0 {
		return i + n
	}
	return len(u)
}

// hierarchy appends what begins at start and ends behind each part from i on.
func (u ClickHouse) hierarchy(start, i int, list []string) []string {
	for {
		for i < len(u) && strings.IndexByte("/?#", u[i]) >= 0 {
			i++
		}
		if i == len(u) {
			return list
		}
		i = min(u.until(i)+1, len(u))
		list = append(list, string(u[start:i]))
	}
}
