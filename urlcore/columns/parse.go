package columns

import (
	"bytes"

	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/form"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// Parse fills dst with the URLs of a batch: URL i is data[ends[i-1]:ends[i]]. It keeps neither slice.
//
// Once dst's buffers have grown to the size of the batches it allocates nothing, except for hosts that need
// IDNA. The columns' 32-bit offsets suffice while data is at most 512 MiB long.
func Parse(dst *Columns, data []byte, ends []int32) { dst.parseAll(data, ends, nil, nil) }

// ParseWithBases is [Parse] with a base URL for every row: that of row i is bases[baseEnds[i-1]:baseEnds[i]],
// where an empty one means none. Runs of rows with the same base are parsed against one parsed base.
func ParseWithBases(dst *Columns, data []byte, ends []int32, bases []byte, baseEnds []int32) {
	dst.parseAll(data, ends, bases, baseEnds)
}

func (c *Columns) parseAll(data []byte, ends []int32, bases []byte, baseEnds []int32) {
	c.reset()
	c.Rows = len(ends)
	start, baseStart := int32(0), int32(0)
	for i, end := range ends {
		var base []byte
		if baseEnds != nil {
			base, baseStart = bases[baseStart:baseEnds[i]], baseEnds[i]
		}
		err := c.parseRow(data[start:end:end], base)
		start = end
		c.Errors = append(c.Errors, err)
		if err.Code == urlcore.OK {
			c.appendURL()
		} else {
			c.Invalid++
			c.appendNull()
		}
	}
}

func (c *Columns) reset() {
	c.want, c.list = c.Want, c.PSL
	if c.want == 0 {
		c.want = All
	}
	if c.list == nil {
		c.list = psl.Default()
	}
	c.Rows, c.Invalid, c.Errors = 0, 0, c.Errors[:0]
	for _, t := range c.texts() {
		t.reset()
	}
	c.HasUsername.reset()
	c.Port.reset()
	c.Params.reset()
}

// texts returns the text columns in the order of their masks in textMasks.
func (c *Columns) texts() [9]*Text {
	return [...]*Text{
		&c.Href, &c.Scheme, &c.Host, &c.Origin, &c.RegistrableDomain, &c.PublicSuffix,
		&c.Path, &c.Query, &c.Fragment,
	}
}

var textMasks = [...]Mask{Href, Scheme, Host, Origin, RegistrableDomain, PublicSuffix, Path, Query, Fragment}

// parseRow parses input into c.url.
func (c *Columns) parseRow(input, base []byte) Error {
	if len(base) == 0 {
		f := c.parser.Parse(&c.url, input, nil)
		return Error{Code: f.Code, Pos: int32(f.Pos)}
	}
	if !c.haveBase || !bytes.Equal(base, c.baseText) {
		c.baseErr = c.parser.Parse(&c.base, base, nil)
		c.baseText = append(c.baseText[:0], base...)
		c.haveBase = true
	}
	if !c.baseErr.OK() {
		return Error{Code: c.baseErr.Code, InBase: true, Pos: int32(c.baseErr.Pos)}
	}
	f := c.parser.Parse(&c.url, input, &c.base)
	return Error{Code: f.Code, Pos: int32(f.Pos)}
}

// appendNull adds a row of nulls.
func (c *Columns) appendNull() {
	for i, t := range c.texts() {
		if c.want&textMasks[i] != 0 {
			t.end(false)
		}
	}
	if c.want&HasUsername != 0 {
		c.HasUsername.append(false, false)
	}
	if c.want&Port != 0 {
		c.Port.append(0, false)
	}
	if c.want&Params != 0 {
		c.Params.end(false)
	}
}

// appendURL adds a row for c.url.
func (c *Columns) appendURL() {
	u := &c.url
	c.appendPart(Href, &c.Href, urlcore.Href, true)
	c.appendPart(Scheme, &c.Scheme, urlcore.Scheme, true)
	c.appendPart(Host, &c.Host, urlcore.Host, u.HasHost())
	c.appendPart(Path, &c.Path, urlcore.Path, true)
	c.appendPart(Query, &c.Query, urlcore.Query, u.HasQuery())
	c.appendPart(Fragment, &c.Fragment, urlcore.Fragment, u.HasFragment())
	if c.want&HasUsername != 0 {
		c.HasUsername.append(len(u.Bytes(urlcore.Username)) > 0, true)
	}
	if c.want&Port != 0 {
		port, ok := u.PortNumber()
		c.Port.append(int32(port), ok)
	}
	if c.want&Origin != 0 {
		c.appendOrigin()
	}
	c.appendDomains()
	if c.want&Params != 0 {
		c.appendParams()
	}
}

func (c *Columns) appendOrigin() {
	start := len(c.Origin.Data)
	c.Origin.Data = c.url.AppendOrigin(c.Origin.Data)
	opaque := string(c.Origin.Data[start:]) == "null"
	if opaque {
		c.Origin.Data = c.Origin.Data[:start]
	}
	c.Origin.end(!opaque)
}

func (c *Columns) appendPart(mask Mask, t *Text, part urlcore.Part, valid bool) {
	if c.want&mask == 0 {
		return
	}
	if valid {
		t.append(c.url.Bytes(part))
	} else {
		t.end(false)
	}
}

// appendDomains adds the public suffix and the registrable domain of the host.
func (c *Columns) appendDomains() {
	if c.want&(RegistrableDomain|PublicSuffix) == 0 {
		return
	}
	var suffix, domain []byte
	if c.url.HostKind() == urlcore.HostDomain {
		host := c.url.Bytes(urlcore.Host)
		suffixStart, domainStart, _ := c.list.Lookup(host)
		if suffixStart >= 0 {
			suffix = host[suffixStart:]
		}
		if domainStart >= 0 {
			domain = host[domainStart:]
		}
	}
	if c.want&PublicSuffix != 0 {
		c.PublicSuffix.Data = append(c.PublicSuffix.Data, suffix...)
		c.PublicSuffix.end(suffix != nil)
	}
	if c.want&RegistrableDomain != 0 {
		c.RegistrableDomain.Data = append(c.RegistrableDomain.Data, domain...)
		c.RegistrableDomain.end(domain != nil)
	}
}

// appendParams adds the decoded pairs of the query by the rules of application/x-www-form-urlencoded.
//
// https://url.spec.whatwg.org/#concept-urlencoded-parser
func (c *Columns) appendParams() {
	p := &c.Params
	if !c.url.HasQuery() {
		p.end(false)
		return
	}
	name, value, rest, ok := form.Next(c.url.Bytes(urlcore.Query))
	for ; ok; name, value, rest, ok = form.Next(rest) {
		p.Keys.Data = form.AppendDecode(p.Keys.Data, name)
		p.Keys.end(true)
		p.Values.Data = form.AppendDecode(p.Values.Data, value)
		p.Values.end(true)
	}
	p.end(true)
}
