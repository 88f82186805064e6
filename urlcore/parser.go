package urlcore

import (
	"bytes"
	"slices"

	"github.com/urlmill/urlmill/urlcore/charset"
)

// MaxInput is the length in bytes of the longest input that is parsed: 256 MiB. It keeps every offset of
// the result, which may be several times longer than the input, within 32 bits.
const MaxInput = 1 << 28

// maxBase bounds the serialization of a base URL, or of a URL that is changed, for the same reason.
const maxBase = 1 << 31

// state is a state of the basic URL parser.
//
// https://url.spec.whatwg.org/#url-parsing
type state uint8

const (
	noState state = iota // as state override: none is given

	stateSchemeStart
	stateScheme
	stateNoScheme
	stateSpecialRelativeOrAuthority
	statePathOrAuthority
	stateRelative
	stateRelativeSlash
	stateSpecialAuthoritySlashes
	stateSpecialAuthorityIgnoreSlashes
	stateAuthority
	stateHost
	stateHostname
	statePort
	stateFile
	stateFileSlash
	stateFileHost
	statePathStart
	statePath
	stateOpaquePath
	stateQuery
	stateFragment

	stateDone    // the URL is complete, or the overridden part is
	stateFailed  // failure; Parser.failure says why
	stateRefused // with a state override: return with the URL unchanged
)

// Parser runs the basic URL parser of the URL Standard. Its zero value is ready for use. A Parser keeps
// its buffers, so that parsing into a URL that is used again allocates nothing for ASCII input; it must
// not be used by several goroutines at once.
//
// Input that is not well-formed UTF-8 is read as the standard's decoder would: every maximal ill-formed
// part counts as U+FFFD.
type Parser struct {
	// Encoding is the encoding for the query of http, https, ftp and file URLs; nil means UTF-8. It is the
	// encoding of the document where the URL stands.
	Encoding *charset.Encoding
	// CollectErrors makes Parse collect all validation errors, not only the fatal one. They are read with
	// ValidationErrors. Without it nothing is spent on them.
	CollectErrors bool
	// ResolveBlob, if set, gives the entry of a blob: URL in the environment's store, or nil.
	ResolveBlob func(u *URL) *BlobEntry

	errors  []ValidationError
	failure Failure

	// A run's input without white space, the position in it, the base and the URL in the making, whose
	// buffer is exchanged with the destination's only in the end, so that failures leave that unchanged.
	in   []byte
	pos  int
	base *URL
	u    URL

	// The buffer has room for all the rest, percent-encoded.
	roomy bool
	// Where the path state begins to look for invalid URL units.
	unitsFrom int

	// With a state override: the state, the URL that is changed, and why it is not.
	override state
	old      *URL
	refused  refusal

	clean []byte // in, where white space or ill-formed UTF-8 had to go
	host  []byte // percent-decoded host
}

// Parse parses input against base, which may be nil, into dst.
//
// It returns the zero Failure for success. On failure dst stays as it was. input is not kept and may be
// part of dst's own buffer; base may be dst. With an ASCII input and a dst that was used before with URLs
// of that length nothing is allocated. With a new dst, or input that grows a lot when percent-encoded,
// there is one allocation. Hosts that need IDNA cost what golang.org/x/net/idna allocates.
//
// https://url.spec.whatwg.org/#concept-basic-url-parser
func (p *Parser) Parse(dst *URL, input []byte, base *URL) Failure {
	if utf8Queries := p.Encoding == nil || p.Encoding == charset.UTF8; utf8Queries && !p.CollectErrors && len(input) <= MaxInput && p.parseClean(dst, input) {
		p.errors = p.errors[:0]
		dst.blob = nil
	} else {
		if !p.parse(input, base) {
			return p.failure
		}
		dst.buf, p.u.buf = p.u.buf, dst.buf
		dst.loc = p.u.loc
		dst.blob = nil
		if p.ResolveBlob != nil && string(dst.Bytes(Scheme)) == "blob" {
			dst.blob = p.ResolveBlob(dst)
		}
	}
	if dst.query != nil {
		dst.refreshParams()
	}
	return Failure{}
}

// parse parses input into the URL in the making and reports whether it is one.
func (p *Parser) parse(input []byte, base *URL) bool {
	p.errors = p.errors[:0]
	p.failure = Failure{}
	if len(input) > MaxInput || base != nil && uint64(len(base.buf)) > maxBase {
		p.fail(CodeInputTooLong, 0)
		return false
	}
	lead, cleaned := p.prepare(input, true)
	p.base = base
	p.reserve(base)
	final := p.run(stateSchemeStart)
	p.base = nil
	p.locate(input, lead, cleaned)
	p.in = nil
	if final != stateDone {
		return false
	}
	p.finish()
	return true
}

// ValidationErrors returns the validation errors of the last Parse in the order of their positions. A
// fatal one is among them. The slice belongs to the Parser and is valid until its next use; it is empty
// unless CollectErrors is set.
func (p *Parser) ValidationErrors() []ValidationError { return p.errors }

// Reset drops the Parser's buffers, which otherwise stay as large as the longest input needed.
func (p *Parser) Reset() {
	p.u, p.clean, p.host, p.errors = URL{}, nil, nil, nil
}

// run is the parser's main loop. A state consumes as much input as it can, leaves the position at the
// first byte that the next one has to see, and returns that.
func (p *Parser) run(s state) state {
	for s < stateDone {
		switch s {
		case stateSchemeStart:
			s = p.schemeStart()
		case stateScheme:
			s = p.scheme()
		case stateNoScheme:
			s = p.noScheme()
		case stateSpecialRelativeOrAuthority:
			s = p.specialRelativeOrAuthority()
		case statePathOrAuthority:
			s = p.pathOrAuthority()
		case stateRelative:
			s = p.relative()
		case stateRelativeSlash:
			s = p.relativeSlash()
		case stateSpecialAuthoritySlashes:
			s = p.specialAuthoritySlashes()
		case stateSpecialAuthorityIgnoreSlashes:
			s = p.specialAuthorityIgnoreSlashes()
		case stateAuthority:
			s = p.authority()
		case stateHost, stateHostname:
			s = p.hostState()
		case statePort:
			s = p.port()
		case stateFile:
			s = p.file()
		case stateFileSlash:
			s = p.fileSlash()
		case stateFileHost:
			s = p.fileHost()
		case statePathStart:
			s = p.pathStart()
		case statePath:
			s = p.path()
		case stateOpaquePath:
			s = p.opaquePath()
		case stateQuery:
			s = p.query()
		default:
			s = p.fragment()
		}
	}
	return s
}

// fail ends the run with a failure at a position of the cleaned input.
func (p *Parser) fail(code Code, pos int) state {
	p.failure = Failure{Code: code, Pos: pos}
	p.report(code, pos)
	return stateFailed
}

// report notes a validation error at a position of the cleaned input.
func (p *Parser) report(code Code, pos int) {
	if p.CollectErrors {
		p.errors = append(p.errors, ValidationError{Code: code, Pos: pos})
	}
}

// prepare sets the run's input: without white space around it, if trim is set, and without tabs and
// newlines anywhere. lead is the number of bytes cut off in front, and cleaned reports whether the input
// was copied because something inside had to go.
func (p *Parser) prepare(input []byte, trim bool) (lead int, cleaned bool) {
	end := len(input)
	if trim {
		for lead < end && input[lead] <= ' ' {
			lead++
		}
		for end > lead && input[end-1] <= ' ' {
			end--
		}
	}
	p.in, p.pos, p.unitsFrom = input[lead:end], 0, 0
	if isPlain(p.in) {
		return lead, false
	}
	if !bytes.ContainsAny(p.in, "\t\n\r") && utf8Valid(p.in) {
		return lead, false
	}
	p.clean = appendClean(p.clean[:0], p.in)
	p.in = p.clean
	return lead, true
}

// locate translates the positions of the run's errors into positions of the original input, and reports
// white space that was removed.
func (p *Parser) locate(input []byte, lead int, cleaned bool) {
	if !cleaned {
		p.failure.Pos += lead
		for i := range p.errors {
			p.errors[i].Pos += lead
		}
	} else {
		failed := cleaner{in: input[lead:]}
		p.failure.Pos = lead + failed.original(p.failure.Pos)
		slices.SortStableFunc(p.errors, comparePos)
		walk := cleaner{in: input[lead:]}
		for i := range p.errors {
			p.errors[i].Pos = lead + walk.original(p.errors[i].Pos)
		}
	}
	if p.CollectErrors {
		p.reportWhitespace(input, lead)
		slices.SortStableFunc(p.errors, comparePos)
	}
}

// reportWhitespace notes an invalid-URL-unit for the white space in front, for that at the end, and for
// the first tab or newline within.
func (p *Parser) reportWhitespace(input []byte, lead int) {
	if lead > 0 {
		p.report(CodeInvalidURLUnit, 0)
	}
	inner := bytes.TrimRightFunc(input[lead:], func(r rune) bool { return r <= ' ' })
	if lead+len(inner) < len(input) {
		p.report(CodeInvalidURLUnit, lead+len(inner))
	}
	if i := bytes.IndexAny(inner, "\t\n\r"); i >= 0 {
		p.report(CodeInvalidURLUnit, lead+i)
	}
}

// comparePos orders validation errors by position.
func comparePos(a, b ValidationError) int { return a.Pos - b.Pos }

// extraRoom is what a URL may have at most beyond its input and base: "//", "/", "/." and "/C:".
const extraRoom = 16

// reserve empties the buffer in the making and makes room for the result. Where a new buffer is needed
// anyway it is made large enough for what will be percent-encoded, so that it need not grow.
func (p *Parser) reserve(base *URL) {
	need := len(p.in) + extraRoom
	if base != nil {
		need += len(base.buf)
	}
	if p.roomy = cap(p.u.buf) < need; p.roomy {
		p.u.buf = make([]byte, 0, need+2*countGrowing(p.in))
	}
	p.u.buf = p.u.buf[:0]
	p.u.loc = location{port: -1, queryStart: unset, fragStart: unset}
}

// grow makes room in buf for all of the input from a position on, percent-encoded where it may have to be,
// so that a buffer that turns out too small is enlarged once.
func (p *Parser) grow(buf []byte, from int) []byte {
	if p.roomy {
		return buf
	}
	p.roomy = true
	rest := p.in[from:]
	if cap(buf)-len(buf) >= 3*len(rest)+extraRoom {
		return buf
	}
	return slices.Grow(buf, len(rest)+2*countGrowing(rest)+extraRoom)
}

// unset marks the start of a query or fragment that is null while the URL is in the making.
const unset = 1<<32 - 1

// finish sets the offsets of what is null.
func (p *Parser) finish() {
	l := &p.u.loc
	if l.fragStart == unset {
		l.fragStart = uint32(len(p.u.buf))
	}
	if l.queryStart == unset {
		l.queryStart = l.fragStart
	}
}

// peek returns the byte at the position plus ahead, and false beyond the end.
func (p *Parser) peek(ahead int) (byte, bool) {
	if i := p.pos + ahead; i < len(p.in) {
		return p.in[i], true
	}
	return 0, false
}

// at reports whether c stands at the position plus ahead.
func (p *Parser) at(ahead int, c byte) bool {
	b, ok := p.peek(ahead)
	return ok && b == c
}
