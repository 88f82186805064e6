package urlcore

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// maxIDNA is the length in bytes of the longest domain that is handed to UTS 46 processing. x/net decodes Punycode in
// quadratic time, so without a bound a long host would stop a pipeline; no name
// that can be registered comes near it. Longer domains fail. ASCII domains are not concerned: they are not
// processed at all, and the strict rules allow 253 bytes.
const maxIDNA = 4096

// maxStrictDomain is the length of the longest domain that the strict rules (VerifyDnsLength) allow.
const maxStrictDomain = 253

// acePrefix begins a label in Punycode.
const acePrefix = "xn--"

// lenientIDNA and strictIDNA are UTS 46 processing with beStrict false and true.
//
// https://url.spec.whatwg.org/#concept-domain-to-ascii
var (
	lenientIDNA = newIDNA(false)
	strictIDNA  = newIDNA(true)
)

func newIDNA(strict bool) *idna.Profile {
	return idna.New(
		idna.MapForLookup(),
		idna.Transitional(false),
		idna.BidiRule(),
		idna.CheckJoiners(true),
		idna.CheckHyphens(strict),
		idna.StrictDomainName(strict),
		idna.VerifyDNSLength(strict),
	)
}

// DomainToASCII is the standard's domain to ASCII: it converts a domain name to lower-case ASCII, with
// A-labels for labels that are not ASCII. With beStrict, hyphens, lengths and characters are checked as for
// names that can be registered. Without it an ASCII domain is only lower-cased and fails only when empty.
//
// The result may hold forbidden domain code points, such as the slash that U+2100 turns into, unless
// beStrict is set; the host parser refuses those. The error is an *[Error] with code [CodeDomainToASCII].
//
// https://url.spec.whatwg.org/#concept-domain-to-ascii
func DomainToASCII(domain string, beStrict bool) (string, error) {
	b := []byte(domain)
	var result string
	var ok bool
	switch {
	case beStrict:
		result, ok = domainToASCIIStrict(b)
	case isASCII(b):
		result, ok = strings.ToLower(domain), domain != ""
	default:
		result, ok = domainToASCII(b)
	}
	if !ok {
		return "", &Error{Code: CodeDomainToASCII, Input: domain}
	}
	return result, nil
}

// DomainToUnicode is the standard's domain to Unicode: it converts the A-labels of a domain name to
// Unicode. When the domain breaks a rule it returns the domain as it is, and false. With beStrict the rules
// for hyphens and characters of names that can be registered are among them.
//
// https://url.spec.whatwg.org/#concept-domain-to-unicode
func DomainToUnicode(domain string, beStrict bool) (string, bool) {
	result, ok := domainToUnicode([]byte(domain))
	if ok && beStrict {
		_, ok = domainToASCIIStrict([]byte(domain))
	}
	if !ok {
		return domain, false
	}
	return result, true
}

// domainToASCII is domain to ASCII without strictness for a domain that is not ASCII.
func domainToASCII(domain []byte) (string, bool) {
	if len(domain) > maxIDNA {
		return "", false
	}
	mapped := hebrewSymbols.Replace(applyUnicodeDelta(string(domain)))
	unicode, err := lenientIDNA.ToUnicode(mapped)
	// With an error x/net returns what it has converted so far, so the error goes first.
	if err != nil || unicode == "" || spoilsACELabel(mapped) {
		return "", false
	}
	result, ok := encodeLabels(unicode)
	if !ok {
		return "", false
	}
	if strings.Contains(result, acePrefix+acePrefix) {
		unicode, err := lenientIDNA.ToUnicode(result)
		if err != nil || hasACELabel(unicode) {
			return "", false
		}
	}
	return result, true
}

// encodeLabels returns a domain in Unicode with A-labels for those that are not ASCII. x/net would do it in quadratic time.
func encodeLabels(domain string) (string, bool) {
	if isASCII([]byte(domain)) {
		return domain, true
	}
	out := make([]byte, 0, 2*len(domain))
	for i, label := range strings.Split(domain, ".") {
		if i > 0 {
			out = append(out, '.')
		}
		if isASCII([]byte(label)) {
			out = append(out, label...)
			continue
		}
		var ok bool
		if out, ok = appendPunycode(append(out, acePrefix...), label); !ok {
			return "", false
		}
	}
	return string(out), true
}

// failingLabel returns where in a domain that fails the first label begins that fails alone, and 0 when it
// takes several of them to fail.
func failingLabel(domain []byte) int {
	for start := 0; start < len(domain) && len(domain) <= maxIDNA; {
		end, next := len(domain), len(domain)
		// The characters that UTS 46 takes for dots.
		if i := bytes.IndexAny(domain[start:], ".\u3002\uff0e\uff61"); i >= 0 {
			end = start + i
			_, size := utf8.DecodeRune(domain[end:])
			next = end + size
		}
		label := domain[start:end]
		if _, ok := domainToASCII(label); !ok && len(label) > 0 {
			return start
		}
		start = next
	}
	return 0
}

// domainToUnicode is domain to Unicode without strictness.
func domainToUnicode(domain []byte) (string, bool) {
	if len(domain) > maxIDNA {
		return "", false
	}
	mapped := hebrewSymbols.Replace(applyUnicodeDelta(string(domain)))
	result, err := lenientIDNA.ToUnicode(mapped)
	if err != nil || spoilsACELabel(mapped) || hasACELabel(result) {
		return "", false
	}
	return result, true
}

// domainToASCIIStrict is domain to ASCII with beStrict.
func domainToASCIIStrict(domain []byte) (string, bool) {
	if isASCII(domain) {
		lower := bytes.ToLower(domain)
		if !bytes.Contains(lower, []byte(acePrefix)) {
			return string(lower), isStrictASCII(lower)
		}
		if len(lower) > maxStrictDomain {
			return "", false
		}
	}
	// x/net with Unicode 15 refuses U+2260, U+226E and U+226F when strict, since they decompose to = < >
	// and a combining solidus. The relaxed run has composed and accepted them, so what they are in the
	// strict one no longer matters.
	unicode, ok := domainToUnicode(domain)
	if !ok || utf8.RuneCountInString(unicode) > maxStrictDomain { // a character is a byte at least
		return "", false
	}
	result, err := strictIDNA.ToASCII(composedStandIn.Replace(unicode))
	if err != nil || strings.HasSuffix(result, ".") {
		return "", false
	}
	if strings.ContainsAny(unicode, "≠≮≯") {
		result, err = lenientIDNA.ToASCII(unicode)
	}
	return result, err == nil
}

// hebrewSymbols maps U+2135 to U+2138, which are left-to-right, to the letters that they stand for. x/net would do so as
// well, but looks at the directions of a domain before.
var hebrewSymbols = strings.NewReplacer("\u2135", "\u05d0", "\u2136", "\u05d1", "\u2137", "\u05d2", "\u2138", "\u05d3")

// composedStandIn replaces the three characters by one of the same kind and Punycode length: U+2261.
var composedStandIn = strings.NewReplacer("≠", "≡", "≮", "≡", "≯", "≡")

// isStrictASCII reports whether a lower-case ASCII domain without A-labels passes the strict rules:
// CheckHyphens, UseSTD3ASCIIRules and VerifyDnsLength of UTS 46.
func isStrictASCII(domain []byte) bool {
	if len(domain) == 0 || len(domain) > maxStrictDomain {
		return false
	}
	for len(domain) > 0 {
		label, rest, dot := bytes.Cut(domain, []byte{'.'})
		if n := len(label); n == 0 || n > 63 || label[0] == '-' || label[n-1] == '-' ||
			n >= 4 && label[2] == '-' && label[3] == '-' || dot && len(rest) == 0 {
			return false
		}
		for _, c := range label {
			if !isAlphanumeric(c) && c != '-' {
				return false
			}
		}
		domain = rest
	}
	return true
}

// hasACELabel reports whether a domain in Unicode has a label that begins with "xn--", which a decoded
// label must not.
//
// https://www.unicode.org/reports/tr46/#Validity_Criteria, criterion 4
func hasACELabel(unicode string) bool {
	return strings.HasPrefix(unicode, acePrefix) || strings.Contains(unicode, "."+acePrefix)
}

// spoilsACELabel reports whether a label of domain is "xn--" alone, or "xn--" and something that is not ASCII. Both are
// errors; x/net makes an empty label of the one, and takes the characters of the other for Punycode's own.
//
// https://www.unicode.org/reports/tr46/#ProcessingStepPunycode
func spoilsACELabel(domain string) bool {
	// Whatever becomes a hyphen does so by compatibility.
	if strings.Count(norm.NFKC.String(domain), "-") < 2 {
		return false
	}
	// Map each character alone, so that no label is decoded.
	var mapped strings.Builder
	for _, r := range domain {
		const before = "a" // keeps r from being taken for the start of a label
		m, err := lenientIDNA.ToUnicode(before + string(r))
		if err != nil {
			m = before + string(r)
		}
		mapped.WriteString(strings.TrimPrefix(m, before))
	}
	for label := range strings.SplitSeq(mapped.String(), ".") {
		if label == acePrefix || strings.HasPrefix(label, acePrefix) && !isASCII([]byte(label)) {
			return true
		}
	}
	return false
}
