package privacy

import "bytes"

// authority finds the credentials before the host of a URL, and returns where its path begins: nothing is removed from a host. It
// accepts what the URL Standard takes for an authority, whatever the base.
func (r *redactor) authority() int {
	v, i := r.v, 0
	for i < len(v) && v[i] <= ' ' {
		i++
	}
	special := true // without a scheme, a base has one
	if end := schemeEnd(v[i:]); end > 0 {
		special = isSpecial(v[i : i+end])
		i += end + 1
	}
	slashes := i
	for i < len(v) && (v[i] == '/' || special && v[i] == '\\') {
		i++
	}
	whole := i-slashes >= 2
	switch {
	case whole && !special:
		i = slashes + 2
	case !whole && (!special || slashes == 0 || v[slashes-1] != ':'):
		return slashes
	}
	end, sign := i, -1
	for ; end < len(v); end++ {
		c := v[end]
		if r.level(end) > 0 {
			continue
		}
		if c == '/' || c == '?' || c == '#' || c == '\\' && special {
			break
		}
		if c == '@' {
			sign = end
		}
	}
	if sign > i && (sign > i+1 || v[i] != ':') {
		r.credentials(i, sign)
	} else if !whole { // https:a is a path where a base has its scheme
		return slashes
	}
	return end
}

// credentials removes v[from:to], which stands before the @ of a host. Values in it are looked for where credentials stay.
func (r *redactor) credentials(from, to int) {
	if r.policy.kinds[credentials] {
		if r.policy.methods[credentials] == Drop {
			r.remove(span{from, to + 1, int(credentials), [2]int{}})
			return
		}
		r.found(int(credentials), from, to)
		return
	}
	for i := from; i < to; {
		if class[r.v[i]]&anchor == 0 {
			i++
			continue
		}
		i = max(r.find(i), i+1)
	}
}

// schemeEnd returns the length of the scheme that v begins with, 0 for none.
func schemeEnd(v []byte) int {
	for i, c := range v {
		switch {
		case c == ':':
			return i
		case c|0x20-'a' < 26:
		case i > 0 && (c-'0' <= 9 || c == '+' || c == '-' || c == '.'):
		default:
			return 0
		}
	}
	return 0
}

// isSpecial reports whether any number of slashes may stand behind a scheme. That of files is special, but has no credentials.
func isSpecial(scheme []byte) bool {
	for _, s := range []string{"https", "http", "ws", "wss", "ftp"} {
		if len(scheme) == len(s) && bytes.EqualFold(scheme, []byte(s)) {
			return true
		}
	}
	return false
}

// colon finds the credentials of a URL in a text, and the value of a JSON member.
func (r *redactor) colon(i int) int {
	v := r.v
	if i+2 < len(v) && v[i+1] == '/' && v[i+2] == '/' {
		end, sign := i+3, -1
		for ; end < len(v) && v[end] > ' ' && bytes.IndexByte(endOfSegment, v[end]) < 0; end++ {
			if v[end] == '@' {
				sign = end
			}
		}
		if sign > i+3 {
			r.credentials(i+3, sign)
			return end
		}
		return i + 3
	}
	if r.form == asRecord && r.policy.address != nil {
		if end := r.address6(i); end > 0 {
			return end
		}
	}
	if r.form == asURL || r.names.none() {
		return 0
	}
	end := i
	for end > 0 && v[end-1] <= ' ' {
		end--
	}
	if end == 0 || v[end-1] != '"' {
		return 0
	}
	start := end - 1
	for start > 0 && v[start-1] != '"' {
		start--
	}
	if rule := r.names.match(v[start : end-1]); rule >= 0 {
		return r.member(rule, i+1, r.level(end-1))
	}
	return 0
}

// member removes the JSON value that begins at i, of a member whose name is in quotes of a level, and returns its end.
func (r *redactor) member(rule, i, level int) int {
	v := r.v
	for i < len(v) && v[i] <= ' ' {
		i++
	}
	if i == len(v) {
		return 0
	}
	end := i
	switch v[i] {
	case '"':
		i++
		end = i
		for end < len(v) && (v[end] != '"' || r.level(end) > level) {
			end++
		}
		return r.replace(rule, i, end, "")
	case '[', '{':
		depth, quoted := 0, false
		for ; end < len(v); end++ {
			switch c := v[end]; {
			case c == '"' && r.level(end) <= level:
				quoted = !quoted
			case quoted:
			case c == '[' || c == '{':
				depth++
			case c == ']' || c == '}':
				depth--
			}
			if depth == 0 {
				end++
				break
			}
		}
	default:
		for end < len(v) && v[end] != ',' && v[end] != '}' && v[end] != ']' && v[end] > ' ' {
			end++
		}
		if s := string(v[i:end]); s == "null" || s == "true" || s == "false" {
			return 0
		}
	}
	return r.replace(rule, i, end, `"`)
}

// replace notes that a value of JSON is removed, with quotes around its replacement.
func (r *redactor) replace(rule, from, to int, quote string) int {
	if from == to || string(r.v[from:to]) == mask {
		return to
	}
	start := len(r.put)
	r.put = append(r.put, quote...)
	switch r.policy.methods[rule] {
	case Mask:
		r.put = append(r.put, mask...)
	case Hash:
		r.put = r.appendHash(r.put, r.v[from:to])
	case Drop:
		if quote == "" {
			break
		}
		r.put = append(r.put[:start], "null"...)
		quote = ""
	}
	r.put = append(r.put, quote...)
	r.remove(span{from, to, rule, [2]int{start, len(r.put)}})
	return to
}

// parameter finds the value behind the equals sign at i, by the name before it.
func (r *redactor) parameter(i int) int {
	v, start := r.v, i
	for start > 0 && class[v[start-1]]&ofName != 0 {
		start--
	}
	if start == i || r.names.none() {
		return 0
	}
	rule := r.names.match(v[start:i])
	if rule < 0 {
		return 0
	}
	from, level, ends := i+1, r.level(i), "&#"
	switch {
	case r.form != asURL && from < len(v) && v[from] == '"':
		from, ends = from+1, `"`
	case r.form != asURL:
		ends = "&# \t\r\n\"'<>`"
	case !r.inQuery && level == 0:
		ends = "&#/?;"
	}
	end := from
	for end < len(v) && (bytes.IndexByte([]byte(ends), v[end]) < 0 || r.level(end) > level) {
		end++
	}
	return r.found(rule, from, end)
}

// endOfSegment ends the host and the segments of a URL in a text.
var endOfSegment = []byte(`/?#\"'<>`)

// segment finds the segment of a path behind the slash at i, by the one before it.
func (r *redactor) segment(i int) int {
	if r.segments.none() || r.form == asURL && r.inQuery {
		return 0
	}
	v, start := r.v, i
	for start > 0 && class[v[start-1]]&ofName != 0 {
		start--
	}
	if start == 0 || start == i || v[start-1] != '/' {
		return 0
	}
	rule := r.segments.match(v[start:i])
	if rule < 0 {
		return 0
	}
	end := i + 1
	for end < len(v) && v[end] > ' ' && bytes.IndexByte(endOfSegment, v[end]) < 0 {
		end++
	}
	return r.found(rule, i+1, end)
}
