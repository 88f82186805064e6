package columns

import (
	"bytes"

	"github.com/urlmill/urlmill/urlcore"
)

// fix finds the parts of row i of the current stretch, which is data[start:end]: by a loop over its bytes if maybeClean
// is set and it is clean, by [Columns.repair] if it is easily made so, and else by the state machine, which decides
// everything.
func (c *Columns) fix(data []byte, start, end, i int, maybeClean bool) {
	in := data[start:end:end]
	c.unknownHost = nil
	if (!maybeClean || !c.locateOne(in, start, i)) && !c.repair(in, i) {
		c.byMachine(in, i)
	}
}

// row returns the number in the batch of row i of the current stretch.
func (c *Columns) row(i int) int32 { return int32(c.first + i) }

// setBase makes the base of a row current. Where that is no URL the row gets its error and the result is false.
func (c *Columns) setBase(i int) bool {
	row, start := c.first+i, int32(0)
	if row > 0 {
		start = c.baseEnds[row-1]
	}
	text := c.bases[start:c.baseEnds[row]]
	if c.current = nil; len(text) == 0 {
		return true
	}
	if !c.haveBase || !bytes.Equal(text, c.baseText) {
		c.baseErr = c.parse(&c.base, text, nil)
		c.baseText = append(c.baseText[:0], text...)
		c.haveBase = true
	}
	if !c.baseErr.OK() {
		c.fail(i, Error{Code: c.baseErr.Code, InBase: true, Pos: int32(c.baseErr.Pos)})
		return false
	}
	c.current = &c.base
	return true
}

// parse parses by the state machine what is not too long for a column, before and after.
func (c *Columns) parse(u *urlcore.URL, in []byte, base *urlcore.URL) urlcore.Failure {
	if len(in) > MaxURL {
		return urlcore.Failure{Code: urlcore.CodeInputTooLong}
	}
	f := c.parser.Parse(u, in, base)
	if f.OK() && len(u.Bytes(urlcore.Href)) > MaxURL {
		f = urlcore.Failure{Code: urlcore.CodeInputTooLong}
	}
	return f
}

// fail makes row i an error.
func (c *Columns) fail(i int, err Error) {
	p := &c.pos
	p.Parts[i], p.Flags[c.row(i)] = Parts{}, 0
	p.errors = append(p.errors, rowError{c.row(i), err})
}

// byMachine parses a row by the state machine and puts the result into the side buffer.
func (c *Columns) byMachine(in []byte, i int) {
	u := &c.url
	f := c.parse(u, in, c.current)
	c.hosts.learn(c.unknownHost, c.unknownAt, u, f)
	if !f.OK() {
		c.fail(i, Error{Code: f.Code, Pos: int32(f.Pos)})
		return
	}
	p := &c.pos
	base := len(p.Side)
	p.Side = append(p.Side, u.Bytes(urlcore.Href)...)
	r, flags := &p.Parts[i], IsURL
	r.Href = p.sideSpan(base)
	at := func(part urlcore.Part) Span {
		start, end := u.Span(part)
		return Span{Start: r.Href.Start + uint32(start), End: r.Href.Start + uint32(end)}
	}
	r.Scheme, r.Host, r.Path = at(urlcore.Scheme), at(urlcore.Host), at(urlcore.Path)
	r.Query, r.Fragment = at(urlcore.Query), at(urlcore.Fragment)
	origin := len(p.Side)
	if p.Side = u.AppendOrigin(p.Side); string(p.Side[origin:]) == "null" {
		p.Side = p.Side[:origin]
	} else {
		flags |= HasOrigin
	}
	r.Origin = p.sideSpan(origin)
	r.Suffix, r.Domain = r.Host.End, r.Host.End
	if u.HasHost() {
		flags |= HasHost
	}
	if u.HostKind() == urlcore.HostDomain && c.wantsDomains() {
		flags |= HasSuffix
		c.lookup(u.Bytes(urlcore.Host), r, &flags)
	}
	if u.HasQuery() {
		flags |= HasQuery
	}
	if u.HasFragment() {
		flags |= HasFragment
	}
	if port, ok := u.PortNumber(); ok {
		flags |= HasPort
		p.ports = append(p.ports, rowPort{c.row(i), int32(port)})
	}
	if len(u.Bytes(urlcore.Username)) > 0 {
		p.users = append(p.users, c.row(i))
	}
	p.Flags[c.row(i)] = flags
}
