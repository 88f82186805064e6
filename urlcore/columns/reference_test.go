package columns

import (
	"bytes"
	"slices"
	"testing"

	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/form"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// reference fills columns row by row from the state machine's result: the oracle for the batch engine.
type reference struct {
	Columns
}

func (c *reference) parse(data []byte, ends []int32, bases []byte, baseEnds []int32) {
	*c = reference{Columns: Columns{Want: c.Want, PSL: c.PSL}}
	if c.want = c.Want; c.want == 0 {
		c.want = All
	}
	if c.list = c.PSL; c.list == nil {
		c.list = psl.Default()
	}
	for i := range textColumns {
		textColumns[i].get(&c.Columns).reset()
	}
	c.Params.reset()
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

// parseRow parses input into c.url.
func (c *reference) parseRow(input, base []byte) Error {
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
func (c *reference) appendNull() {
	for i := range textColumns {
		if col := &textColumns[i]; c.want&col.mask != 0 {
			end(col.get(&c.Columns), false)
		}
	}
	if c.want&HasUsername != 0 {
		appendBit(&c.HasUsername, false, false)
	}
	if c.want&Port != 0 {
		appendInt(&c.Port, 0, false)
	}
	if c.want&Params != 0 {
		endParams(&c.Params, false)
	}
}

// appendURL adds a row for c.url.
func (c *reference) appendURL() {
	u := &c.url
	c.appendPart(Href, &c.Href, urlcore.Href, true)
	c.appendPart(Scheme, &c.Scheme, urlcore.Scheme, true)
	c.appendPart(Host, &c.Host, urlcore.Host, u.HasHost())
	c.appendPart(Path, &c.Path, urlcore.Path, true)
	c.appendPart(Query, &c.Query, urlcore.Query, u.HasQuery())
	c.appendPart(Fragment, &c.Fragment, urlcore.Fragment, u.HasFragment())
	if c.want&HasUsername != 0 {
		appendBit(&c.HasUsername, len(u.Bytes(urlcore.Username)) > 0, true)
	}
	if c.want&Port != 0 {
		port, ok := u.PortNumber()
		appendInt(&c.Port, int32(port), ok)
	}
	if c.want&Origin != 0 {
		c.appendOrigin()
	}
	c.appendDomains()
	if c.want&Params != 0 {
		c.appendParams()
	}
}

func (c *reference) appendOrigin() {
	start := len(c.Origin.Data)
	c.Origin.Data = c.url.AppendOrigin(c.Origin.Data)
	opaque := string(c.Origin.Data[start:]) == "null"
	if opaque {
		c.Origin.Data = c.Origin.Data[:start]
	}
	end(&c.Origin, !opaque)
}

func (c *reference) appendPart(mask Mask, t *Text, part urlcore.Part, valid bool) {
	if c.want&mask == 0 {
		return
	}
	if valid {
		t.Data = append(t.Data, c.url.Bytes(part)...)
		end(t, true)
	} else {
		end(t, false)
	}
}

// appendDomains adds the public suffix and the registrable domain of the host.
func (c *reference) appendDomains() {
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
		end(&c.PublicSuffix, suffix != nil)
	}
	if c.want&RegistrableDomain != 0 {
		c.RegistrableDomain.Data = append(c.RegistrableDomain.Data, domain...)
		end(&c.RegistrableDomain, domain != nil)
	}
}

// appendParams adds the decoded pairs of the query by the rules of application/x-www-form-urlencoded.
//
// https://url.spec.whatwg.org/#concept-urlencoded-parser
func (c *reference) appendParams() {
	p := &c.Params
	if !c.url.HasQuery() {
		endParams(p, false)
		return
	}
	name, value, rest, ok := form.Next(c.url.Bytes(urlcore.Query))
	for ; ok; name, value, rest, ok = form.Next(rest) {
		p.Keys.Data = form.AppendDecode(p.Keys.Data, name)
		end(&p.Keys, true)
		p.Values.Data = form.AppendDecode(p.Values.Data, value)
		end(&p.Values, true)
	}
	endParams(p, true)
}

// end closes the row whose bytes are in Data already.
func end(t *Text, valid bool) {
	t.Offsets = append(t.Offsets, int32(len(t.Data)))
	t.Validity.append(valid)
}

func (v *Validity) append(valid bool) {
	if v.rows%8 == 0 {
		v.Valid = append(v.Valid, 0)
	}
	if valid {
		v.Valid[v.rows/8] |= 1 << (v.rows % 8)
	} else {
		v.Nulls++
	}
	v.rows++
}

func appendBit(b *Bits, value, valid bool) {
	if b.rows%8 == 0 {
		b.Bits = append(b.Bits, 0)
	}
	if value {
		b.Bits[b.rows/8] |= 1 << (b.rows % 8)
	}
	b.Validity.append(valid)
}

func appendInt(c *Ints, value int32, valid bool) {
	c.Values = append(c.Values, value)
	c.Validity.append(valid)
}

func endParams(p *ParamLists, valid bool) {
	p.Offsets = append(p.Offsets, int32(p.Keys.rows))
	p.Validity.append(valid)
}

// checkSame fails where two sets of columns differ in any buffer. inputs tells the row's text.
func checkSame(t *testing.T, want, got *Columns, input func(row int) string) {
	t.Helper()
	if want.Rows != got.Rows || want.Invalid != got.Invalid {
		t.Errorf("%d rows, %d invalid, want %d, %d", got.Rows, got.Invalid, want.Rows, want.Invalid)
	}
	firstDifference(t, "errors", want.Errors, got.Errors, input)
	for i := range textColumns {
		col := &textColumns[i]
		sameText(t, columnNames[i], col.get(want), col.get(got), input)
	}
	sameValidity(t, "username", &want.HasUsername.Validity, &got.HasUsername.Validity)
	sameValidity(t, "port", &want.Port.Validity, &got.Port.Validity)
	if !bytes.Equal(want.HasUsername.Bits, got.HasUsername.Bits) {
		t.Error("username: bits differ")
	}
	firstDifference(t, "port", want.Port.Values, got.Port.Values, input)
	firstDifference(t, "params", want.Params.Offsets, got.Params.Offsets, input)
	sameValidity(t, "params", &want.Params.Validity, &got.Params.Validity)
	row := func(entry int) string {
		n, _ := slices.BinarySearch(want.Params.Offsets, int32(entry+1))
		return input(n - 1)
	}
	sameText(t, "keys", &want.Params.Keys, &got.Params.Keys, row)
	sameText(t, "values", &want.Params.Values, &got.Params.Values, row)
}

var columnNames = [...]string{"href", "scheme", "host", "origin", "domain", "suffix", "path", "query", "fragment"}

func sameText(t *testing.T, name string, want, got *Text, input func(row int) string) {
	t.Helper()
	sameValidity(t, name, &want.Validity, &got.Validity)
	if slices.Equal(want.Offsets, got.Offsets) && bytes.Equal(want.Data, got.Data) {
		return
	}
	for i := range min(len(want.Offsets), len(got.Offsets)) - 1 {
		if w, g := want.At(i), got.At(i); !bytes.Equal(w, g) {
			t.Errorf("%s of row %d, %q: %q, want %q", name, i, input(i), g, w)
			return
		}
	}
	t.Errorf("%s: %d rows, want %d", name, len(got.Offsets)-1, len(want.Offsets)-1)
}

func sameValidity(t *testing.T, name string, want, got *Validity) {
	t.Helper()
	if want.Nulls != got.Nulls || want.rows != got.rows || !bytes.Equal(want.Valid, got.Valid) {
		t.Errorf("%s: validity differs: %d nulls of %d, want %d of %d", name, got.Nulls, got.rows, want.Nulls, want.rows)
	}
}

func firstDifference[T comparable](t *testing.T, name string, want, got []T, input func(row int) string) {
	t.Helper()
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			t.Errorf("%s of row %d, %q: %v, want %v", name, i, input(i), got[i], want[i])
			return
		}
	}
	if len(want) != len(got) {
		t.Errorf("%s: %d entries, want %d", name, len(got), len(want))
	}
}
