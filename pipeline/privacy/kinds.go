package privacy

import (
	"bytes"
	"strconv"
)

// starts reports whether what is at i is not the end of a word.
func (r *redactor) starts(i int) bool { return i == 0 || class[r.v[i-1]]&alphanumeric == 0 }

// ends reports whether what ends before i is not the beginning of a word.
func (r *redactor) ends(i int) bool { return i >= len(r.v) || class[r.v[i]]&alphanumeric == 0 }

// run returns the end of the bytes of a class from i on.
func (r *redactor) run(i int, of uint16) int {
	for i < len(r.v) && class[r.v[i]]&of != 0 {
		i++
	}
	return i
}

// The longest parts of e-mail addresses, by RFC 5321, with room for what is escaped.
const longestLocal = 128

// email finds an e-mail address by its @.
func (r *redactor) email(i int) int {
	v, from := r.v, i
	for from > 0 && i-from < longestLocal && class[v[from-1]]&ofLocal != 0 {
		from--
	}
	to := r.run(i+1, ofDomain)
	for to > i+1 && (v[to-1] == '.' || v[to-1] == '-') {
		to--
	}
	dot := bytes.LastIndexByte(v[i+1:to], '.')
	if from == i || dot < 1 || to-(i+1+dot+1) < 2 {
		return 0
	}
	top := v[i+1+dot+1 : to]
	for _, c := range top {
		if (c|0x20)-'a' >= 26 && c < 0x80 && !bytes.HasPrefix(top, []byte("xn--")) {
			return 0 // the version of a package
		}
	}
	if isScale(v[i+1:to], dot) {
		return 0
	}
	return r.found(int(email), from, to)
}

// isScale reports whether what stands behind an @ is that of an image for dense screens, such as 2x.png.
func isScale(domain []byte, dot int) bool {
	return dot >= 2 && domain[dot-1] == 'x' && len(bytes.Trim(domain[:dot-1], "0123456789.")) == 0
}

// number finds what begins with a digit: a card, a telephone number, coordinates, or an address.
func (r *redactor) number(i int) int {
	if !r.starts(i) {
		return r.digits(i) // nothing begins within a word
	}
	if r.form == asRecord && r.policy.address != nil {
		if end := max(r.address4(i), r.address6(i)); end > 0 {
			return end
		}
	}
	if end := r.card(i); end > 0 {
		return end
	}
	if end := r.coordinates(i); end > 0 {
		return end
	}
	if end := r.american(i); end > 0 {
		return end
	}
	return r.digits(i)
}

// digits returns the end of the digits from i on.
func (r *redactor) digits(i int) int {
	for i < len(r.v) && r.v[i]-'0' <= 9 {
		i++
	}
	return i
}

// The lengths of the numbers of cards. Longer ones, which few issuers have, are not told from the identifiers of clicks.
const leastCard, mostCard = 14, 16

// cardGroups are the groups that numbers of these lengths are printed in, 4-6-4, 4-6-5 and 4-4-4-4: the digits of a UUID have others.
var cardGroups = [...]int{1<<4 | 1<<10, 1<<4 | 1<<10, 1<<4 | 1<<8 | 1<<12}

// card finds the number of a card from i on, perhaps in groups.
func (r *redactor) card(i int) int {
	if !r.policy.kinds[card] || i > 1 && (r.v[i-1] == '.' || r.v[i-1] == ',') && r.v[i-2]-'0' <= 9 {
		return 0
	}
	var digits [mostCard]byte
	n, groups := 0, 0 // one bit for each number of digits that stand before a separator
	for k := i; k < len(r.v); k++ {
		c := r.v[k]
		switch {
		case c-'0' <= 9:
			if n == mostCard {
				return 0
			}
			digits[n] = c - '0'
			n++
			if next := k + 1; n >= leastCard && (groups == 0 || groups == cardGroups[n-leastCard]) && r.ends(next) && isCard(digits[:n]) {
				return r.found(int(card), i, next)
			}
		case c != ' ' && c != '-' && c != '+' || k+1 == len(r.v) || r.v[k+1]-'0' > 9:
			return 0
		default:
			groups |= 1 << n
		}
	}
	return 0
}

// isCard reports whether digits have the beginning and the length of the cards of an issuer, and Luhn's sum.
func isCard(digits []byte) bool {
	sum := 0
	for i := range digits {
		d := int(digits[len(digits)-1-i])
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	if sum%10 != 0 {
		return false
	}
	begin := 0
	for _, d := range digits[:4] {
		begin = 10*begin + int(d)
	}
	n, two := len(digits), begin/100
	switch {
	case two >= 40 && two <= 49: // Visa
		return n == 16
	case two >= 51 && two <= 55, begin >= 2221 && begin <= 2720: // Mastercard
		return n == 16
	case two == 34, two == 37: // American Express
		return n == 15
	case two == 36, two == 38, two == 39, begin >= 3000 && begin <= 3059: // Diners Club
		return n == 14
	case begin >= 3528 && begin <= 3589, begin == 6011, two == 65, begin >= 6440 && begin <= 6499, two == 62: // JCB, Discover, UnionPay
		return n == 16
	case begin == 5018, begin == 5020, begin == 5038, begin == 5893, begin == 6304, begin >= 6759 && begin <= 6763: // Maestro
		return n == 16
	}
	return false
}

// The lengths of telephone numbers with the code of their country; ITU-T E.164 has no longer ones.
const mostPhone = 15

// phone finds a telephone number that begins with a plus sign, or with an American area code in parentheses.
func (r *redactor) phone(i int) int {
	v := r.v
	if !r.policy.kinds[phone] || i+1 == len(v) {
		return 0
	}
	if v[i] == '(' {
		return r.american(i)
	}
	if !r.starts(i) || v[i+1] < '1' || v[i+1] > '9' {
		return 0
	}
	n, end := 0, i+1
	for k := i + 1; k < len(v); k++ {
		c := v[k]
		if c-'0' <= 9 {
			if n++; n > mostPhone {
				return 0
			}
			end = k + 1
		} else if bytes.IndexByte([]byte(" -.()+"), c) < 0 || k-end > 1 {
			break
		}
	}
	if n < leastDigits || !r.ends(end) {
		return 0
	}
	return r.found(int(phone), i, end)
}

// american finds a telephone number of the North American plan that is written in groups: 212-555-0123, (212) 555-0123.
func (r *redactor) american(i int) int {
	v := r.v
	if !r.policy.kinds[phone] || !r.starts(i) || i > 1 && bytes.IndexByte([]byte("-."), v[i-1]) >= 0 {
		return 0
	}
	k, closed := i, false
	group := func(n int, area bool) bool {
		if k+n > len(v) || area && v[k] < '2' {
			return false
		}
		for _, c := range v[k : k+n] {
			if c-'0' > 9 {
				return false
			}
		}
		k += n
		return true
	}
	separator := func() byte {
		if k >= len(v) || bytes.IndexByte([]byte("-. +"), v[k]) < 0 {
			return 0
		}
		k++
		return v[k-1]
	}
	if v[k] == '(' {
		k++
		closed = true
	}
	if !group(3, true) || closed && (k >= len(v) || v[k] != ')') {
		return 0
	}
	if closed {
		k++
	}
	first := separator()
	if first == 0 && !closed || !group(3, true) {
		return 0
	}
	if second := separator(); second == 0 || !closed && second != first || !group(4, false) || !r.ends(k) || k < len(v) && v[k] == '-' {
		return 0
	}
	return r.found(int(phone), i, k)
}

// leastDecimals is how exact coordinates are that are removed: ten metres.
const leastDecimals = 4

// coordinates finds a latitude and a longitude.
func (r *redactor) coordinates(i int) int {
	if !r.policy.kinds[coordinates] || !r.starts(i) || i > 0 && r.v[i-1] == '.' {
		return 0
	}
	k := r.degrees(i, 90)
	if k == 0 || k+1 >= len(r.v) || r.v[k] != ',' && r.v[k] != ';' {
		return 0
	}
	if k++; r.v[k] == ' ' || r.v[k] == '+' {
		k++
	}
	end := r.degrees(k, 180)
	if end == 0 || !r.ends(end) {
		return 0
	}
	return r.found(int(coordinates), i, end)
}

// degrees returns the end of a number of degrees with its decimals, 0 for none.
func (r *redactor) degrees(i, most int) int {
	v := r.v
	if i < len(v) && v[i] == '-' {
		i++
	}
	start := i
	for i < len(v) && v[i]-'0' <= 9 && i-start < 4 {
		i++
	}
	whole, err := strconv.Atoi(string(v[start:i]))
	if err != nil || whole > most || i == len(v) || v[i] != '.' {
		return 0
	}
	decimals := i + 1
	if i = r.digits(decimals); i-decimals < leastDecimals {
		return 0
	}
	return i
}

// known are secrets with a beginning of their own: what stands behind it, and how long that is at least.
var known = []struct {
	prefix string
	kind   kind
	of     uint16
	least  int
}{
	{"eyJ", jwt, ofToken, 10}, // and a dot, and more
	{"AKIA", apiKey, ofToken, 16},
	{"ASIA", apiKey, ofToken, 16},
	{"AIza", apiKey, ofToken, 35},
	{"ghp_", apiKey, ofToken, 30},
	{"gho_", apiKey, ofToken, 30},
	{"ghu_", apiKey, ofToken, 30},
	{"ghs_", apiKey, ofToken, 30},
	{"ghr_", apiKey, ofToken, 30},
	{"github_pat_", apiKey, ofToken, 30},
	{"sk_live_", apiKey, ofToken, 16},
	{"sk_test_", apiKey, ofToken, 16},
	{"rk_live_", apiKey, ofToken, 16},
	{"rk_test_", apiKey, ofToken, 16},
	{"npm_", apiKey, ofToken, 36},
	{"SG.", apiKey, ofToken, 20},
	{"xox", apiKey, ofToken, 12}, // a letter, a hyphen and numbers
	{"EAA", token, ofToken, 60},
	{"Bearer", token, 0, 0}, // a space and what is no space
	{"bearer", token, 0, 0}, // not in URLs, of which the prefilter would have to look for small letters
	{"ya29.", token, ofToken, 20},
}

// secret finds what has a beginning of its own.
func (r *redactor) secret(i int) int {
	if !r.starts(i) {
		return 0
	}
	for _, s := range known {
		if s.prefix[0] != r.v[i] || !bytes.HasPrefix(r.v[i:], []byte(s.prefix)) {
			continue
		}
		if class[s.prefix[0]]&inTexts != 0 && r.form == asURL {
			continue
		}
		begin := i + len(s.prefix)
		end := r.run(begin, s.of)
		if end-begin < s.least {
			continue
		}
		switch s.prefix {
		case "eyJ":
			end = r.parts(end)
		case "SG.":
			end = r.parts(end)
		case "xox":
			if begin+2 > len(r.v) || !manyDigits(r.v, begin+1) {
				end = 0
			}
		case "Bearer":
			end = r.bearer(begin)
		case "bearer": // a word of English as well; behind a plus sign the same text could be looked at for each of many
			end = 0
			if begin < len(r.v) && r.v[begin] == ' ' {
				end = r.bearer(begin)
			}
			if end > 0 && !bytes.ContainsAny(r.v[begin:end], "0123456789") {
				end = 0
			}
		}
		if end > 0 {
			return r.found(int(s.kind), i, end)
		}
	}
	return 0
}

// parts returns the end of more parts with dots before them, 0 if there is none.
func (r *redactor) parts(end int) int {
	const leastPart = 10
	if end+1 >= len(r.v) || r.v[end] != '.' || r.run(end+1, ofToken)-end-1 < leastPart {
		return 0
	}
	for end+1 < len(r.v) && r.v[end] == '.' && class[r.v[end+1]]&ofToken != 0 {
		end = r.run(end+1, ofToken)
	}
	return end
}

// bearer returns the end of a token behind the word Bearer.
func (r *redactor) bearer(i int) int {
	const leastToken = 8
	if i == len(r.v) || r.v[i] != ' ' && r.v[i] != '+' {
		return 0
	}
	begin := i + 1
	end := begin
	for end < len(r.v) && (class[r.v[end]]&ofToken != 0 || bytes.IndexByte([]byte("._~+/="), r.v[end]) >= 0) {
		end++
	}
	if end-begin < leastToken {
		return 0
	}
	return end
}
