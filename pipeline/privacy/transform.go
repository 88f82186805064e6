package privacy

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/urlmill/urlmill/pipeline"
)

// Transforms returns transforms that remove what the policy says from batches before those of next have them. Addresses in fields of
// their own stay, and so do records, of which few are looked at: a [Guard] shows both.
func (p *Policy) Transforms(next func() pipeline.Transform) func() pipeline.Transform {
	return func() pipeline.Transform { return &transform{Transform: next(), redactor: p.newRedactor()} }
}

type transform struct {
	pipeline.Transform
	*redactor
	spare pipeline.Bytes // the column that is written anew
	one   []byte
	held  atomic.Int64
}

// Unwrap returns the transform that parses.
func (t *transform) Unwrap() pipeline.Transform { return t.Transform }

// Memory implements [pipeline.Holder].
func (t *transform) Memory() (n int64) {
	if h, ok := pipeline.As[pipeline.Holder](t.Transform); ok {
		n = h.Memory()
	}
	return n + t.held.Load()
}

// Apply implements [pipeline.Transform].
func (t *transform) Apply(b *pipeline.Batch) (pipeline.Output, error) {
	t.takeKey()
	t.urls(b, &b.URLs)
	t.urls(b, &b.Bases)
	t.texts(&b.Keys.Bytes, asRecord)
	t.headers(&b.Headers)
	for i := range b.Carried {
		t.field(&b.Carried[i])
	}
	t.flush()
	t.held.Store(int64(t.memory() + cap(t.spare.Data) + 4*cap(t.spare.Ends) + cap(t.one)))
	return t.Transform.Apply(b)
}

// takeKey takes the key that counts now.
func (r *redactor) takeKey() {
	if k := r.policy.keys.Load(); k != nil {
		r.useKey(k.at(time.Now()))
	}
}

// memory returns the bytes that the redactor holds.
func (r *redactor) memory() int {
	return 8*cap(r.clean.slots) + cap(r.text) + 4*cap(r.places) + cap(r.cleaned) + cap(r.put) + 40*cap(r.spans)
}

// rewrite replaces the values of c for which each returns true. What each appends to dst is the new value.
func (t *transform) rewrite(c *pipeline.Bytes, each func(dst []byte, i int) ([]byte, bool)) {
	s, anew := &t.spare, false
	s.Reset()
	for i := range c.Len() {
		if anew {
			if data, changed := each(s.Data, i); changed {
				s.Data = data
			} else {
				s.Data = append(s.Data, c.At(i)...)
			}
			s.End()
			continue
		}
		value, changed := each(t.one[:0], i)
		if !changed {
			continue
		}
		t.one, anew = value, true
		s.Ends = append(s.Ends, c.Ends[:i]...)
		if i > 0 {
			s.Data = append(s.Data, c.Data[:c.Ends[i-1]]...)
		}
		s.Append(value)
	}
	if anew {
		*c, *s = *s, *c
	}
}

// urls removes what is in URLs. Those of a source that has found them damaged are not known to be text, and become null.
func (t *transform) urls(b *pipeline.Batch, c *pipeline.NullBytes) {
	fault := 0
	t.rewrite(&c.Bytes, func(dst []byte, i int) ([]byte, bool) {
		url := c.At(i)
		for fault < len(b.Faults) && int(b.Faults[fault].Row) < i {
			fault++
		}
		if fault < len(b.Faults) && int(b.Faults[fault].Row) == i {
			switch b.Faults[fault].Code {
			case pipeline.FaultCorrupt:
				if len(url) > 0 {
					c.Valid[i] = false
					t.counts[t.policy.other(ruleRecord)]++
				}
				return dst, len(url) > 0
			case pipeline.FaultTooLarge:
				return t.appendCut(dst, url, asURL), true
			}
		}
		if !t.suspect(url, true) {
			return dst, false
		}
		return t.appendRedacted(dst, url, asURL)
	})
}

// appendCut appends what is left of a text that was cut: without the word at its end either, which may be the beginning of what would
// have been recognised.
func (r *redactor) appendCut(dst, text []byte, f form) []byte {
	end := len(text)
	for end > 0 && class[text[end-1]]&(ofToken|ofLocal|ofDomain) != 0 || end > 0 && (text[end-1] == '@' || text[end-1] == '\\') {
		end--
	}
	out, changed := r.appendRedacted(dst, text[:end], f)
	if !changed {
		out = append(dst, text[:end]...)
	}
	if end < len(text) {
		r.counts[r.policy.other(ruleCut)]++
		out = append(out, mask...)
	}
	return out
}

// texts removes what is in texts.
func (t *transform) texts(c *pipeline.Bytes, f form) {
	t.rewrite(c, func(dst []byte, i int) ([]byte, bool) {
		text := c.At(i)
		if f != asText {
			return t.appendRedacted(dst, text, f)
		}
		known := t.clean.slot(text)
		if *known.at == known.hash {
			return dst, false
		}
		if t.suspect(text, false) {
			if dst, changed := t.appendRedacted(dst, text, f); changed {
				return dst, true
			}
		}
		*known.at = known.hash
		return dst, false
	})
}

// headers removes the values of headers with the name of a rule, and what is in others.
func (t *transform) headers(h *pipeline.Headers) {
	t.rewrite(&h.Values.Bytes, func(dst []byte, i int) ([]byte, bool) {
		value := h.Values.At(i)
		if rule := t.names.match(h.Keys.At(i)); rule >= 0 && len(value) > 0 {
			return t.appendMethod(dst, rule, value), true
		}
		return t.appendRedacted(dst, value, asRecord)
	})
}

// appendMethod appends what becomes of a value as a whole.
func (r *redactor) appendMethod(dst []byte, rule int, value []byte) []byte {
	r.counts[rule]++
	switch r.policy.methods[rule] {
	case Mask:
		dst = append(dst, mask...)
	case Hash:
		dst = r.appendHash(dst, value)
	case Drop:
	}
	return dst
}

// field removes a carried field with the name of a rule, and what is in the texts of others. Numbers and the like have no mask, and
// become null.
func (t *transform) field(v *pipeline.Values) {
	if t.policy.isAddress(v.Field) {
		return
	}
	isText := v.Field.Type == pipeline.String || v.Field.Type == pipeline.JSON
	rule := t.names.match([]byte(v.Field.Name))
	if rule < 0 {
		if isText {
			t.texts(&v.Text, asText)
		}
		return
	}
	if isText && t.policy.methods[rule] != Drop {
		t.rewrite(&v.Text, func(dst []byte, i int) ([]byte, bool) {
			value := v.Text.At(i)
			switch {
			case len(value) == 0 || v.Field.Type == pipeline.JSON && string(value) == "null":
				return dst, false
			case v.Field.Type == pipeline.JSON:
				dst = t.appendMethod(append(dst, '"'), rule, value)
				return append(dst, '"'), true
			}
			return t.appendMethod(dst, rule, value), true
		})
		return
	}
	rows := len(v.Valid)
	for _, valid := range v.Valid {
		if valid {
			t.counts[rule]++
		}
	}
	v.Reset()
	for range rows {
		v.AppendNull()
	}
}

// isAddress reports whether a field has the addresses of clients.
func (p *Policy) isAddress(f pipeline.Field) bool {
	return p.address != nil && f.Type == pipeline.String && slices.Contains(p.address.Fields, f.Name)
}

// Records says how the records of a codec are looked at, where a row has an error.
type Records uint8

const (
	// TextRecords are text that names what is in it.
	TextRecords Records = iota
	// NoRecords are left out: what is in them cannot be seen, or not by its name.
	NoRecords
)

// Guard shows what a [Policy.Transforms] has left in a batch. It belongs to one goroutine.
type Guard struct {
	*redactor
	records Records
	shown   []pipeline.Values // of the fields with addresses
	record  []byte
}

// Guards returns a function that makes guards for a codec with such records.
func (p *Policy) Guards(records Records) func() *Guard {
	return func() *Guard {
		g := &Guard{redactor: p.newRedactor(), records: records}
		if p.address != nil {
			g.shown = make([]pipeline.Values, len(p.address.Fields))
		}
		return g
	}
}

// Carried returns the values of a carried field as rows show them, which are valid until the next call for the same field.
func (g *Guard) Carried(v *pipeline.Values) *pipeline.Values {
	if !g.policy.isAddress(v.Field) {
		return v
	}
	g.takeKey()
	shown := &g.shown[slices.Index(g.policy.address.Fields, v.Field.Name)]
	shown.Field, shown.Valid = v.Field, v.Valid
	shown.Text.Reset()
	for i := range v.Text.Len() {
		shown.Text.Data = g.appendAddresses(shown.Text.Data, v.Text.At(i))
		shown.Text.End()
	}
	g.flush()
	return shown
}

// Raw returns record i of a batch without what must not be stored, and false where there is none, or where it cannot be shown. It is
// valid until the next call.
func (g *Guard) Raw(b *pipeline.Batch, i int) ([]byte, bool) {
	raw, ok := b.Raw(i)
	if !ok || b.Records.Len() == 0 { // then it is the URL
		return raw, ok
	}
	defer g.flush()
	var code pipeline.FaultCode
	if at, found := slices.BinarySearchFunc(b.Faults, int32(i), func(f pipeline.Fault, row int32) int { return int(f.Row - row) }); found {
		code = b.Faults[at].Code
	}
	if g.records == NoRecords || code == pipeline.FaultCorrupt {
		g.counts[g.policy.other(ruleRecord)]++
		return nil, false
	}
	g.takeKey()
	if code == pipeline.FaultTooLarge {
		g.record = g.appendCut(g.record[:0], raw, asRecord)
		return g.record, true
	}
	out, changed := g.appendRedacted(g.record[:0], raw, asRecord)
	if !changed {
		return raw, true
	}
	g.record = out
	return out, true
}
