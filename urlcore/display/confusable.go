package display

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Hint says why a host may be meant to be mistaken for another: a set of the constants. None of them proves
// ill will, and a host without any may still be a deception. The rules are the coarse ones that browsers
// apply; they know nothing of the names that are worth imitating.
type Hint uint8

const (
	// MixedScripts: a label mixes scripts that are not written together. Latin with Han and the Japanese,
	// Korean or Bopomofo scripts is no mixture, as in the Highly Restrictive level of UTS 39.
	MixedScripts Hint = 1 << iota
	// LooksASCII: a label that is not ASCII looks like one that is, letter by letter, and stands under a
	// top-level domain that is ASCII. [LooksLike] says like which.
	LooksASCII
	// MixedDigits: a label has digits of several scripts.
	MixedDigits
	// Misleading: a label has characters that are not seen or look like a delimiter. [Render] shows such
	// labels as A-labels in any case.
	Misleading
)

// String returns the names of the hints with commas between them, "" for none.
func (h Hint) String() string {
	var names []string
	for i, name := range [...]string{"mixed-scripts", "looks-ascii", "mixed-digits", "misleading"} {
		if h&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// Inspect returns the hints on a host in Unicode, all its labels together.
//
// https://url.spec.whatwg.org/#url-rendering-i18n, the note on homographs
func Inspect(host string) Hint {
	labels := strings.Split(host, ".")
	top := topLabel(labels)
	var hints Hint
	for _, label := range labels {
		hints |= inspectLabel(label, top)
	}
	return hints
}

// inspectLabel returns the hints on a label under the given top-level domain.
func inspectLabel(label, top string) Hint {
	if isASCII(label) {
		return 0
	}
	var hints Hint
	if mixesScripts(label) {
		hints |= MixedScripts
	}
	if _, ok := LooksLike(label); ok && isASCII(top) {
		hints |= LooksASCII
	}
	if mixesDigits(label) {
		hints |= MixedDigits
	}
	if isMisleading(label) {
		hints |= Misleading
	}
	return hints
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// script is a script's name and table.
type script struct {
	name  string
	table *unicode.RangeTable
}

// scripts lists all scripts but those that go with any other, the frequent ones first.
var scripts = sync.OnceValue(func() []script {
	frequent := []string{"Latin", "Cyrillic", "Han", "Greek", "Arabic", "Hebrew", "Hiragana", "Katakana", "Hangul"}
	var list []script
	for name, table := range unicode.Scripts {
		if name != "Common" && name != "Inherited" {
			list = append(list, script{name, table})
		}
	}
	rank := func(s script) int {
		if i := slices.Index(frequent, s.name); i >= 0 {
			return i
		}
		return len(frequent)
	}
	slices.SortFunc(list, func(a, b script) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a.name, b.name)
	})
	return list
})

// unknown is the script of characters that are in none: private ones, and those that are newer than the Unicode of this Go.
const unknown = "Unknown"

// scriptOf returns the name of c's script, "" for characters that go with any.
func scriptOf(c rune) string {
	if unicode.In(c, unicode.Common, unicode.Inherited) {
		return ""
	}
	for _, s := range scripts() {
		if unicode.Is(s.table, c) {
			return s.name
		}
	}
	return unknown
}

// together lists the scripts that are written together, each with Latin.
var together = [][]string{
	{"Latin", "Han", "Hiragana", "Katakana"},
	{"Latin", "Han", "Hangul"},
	{"Latin", "Han", "Bopomofo"},
}

// mixesScripts reports whether label has scripts that are not written together.
func mixesScripts(label string) bool {
	var found []string
	for _, c := range label {
		if name := scriptOf(c); name != "" && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	if len(found) <= 1 {
		return false
	}
	for _, group := range together {
		if !slices.ContainsFunc(found, func(name string) bool { return !slices.Contains(group, name) }) {
			return false
		}
	}
	return true
}

// mixesDigits reports whether label has digits of several scripts. Unicode's digits come in tens, each
// beginning with its zero.
func mixesDigits(label string) bool {
	zero := rune(-1)
	for _, c := range label {
		if !unicode.Is(unicode.Nd, c) {
			continue
		}
		first := c
		for unicode.Is(unicode.Nd, first-1) && c-first < 9 {
			first--
		}
		if zero >= 0 && first != zero {
			return true
		}
		zero = first
	}
	return false
}

// lookalikes pairs letters with the lower-case ASCII letters that they look like in common fonts.
var lookalikes = sync.OnceValue(func() map[rune]byte {
	pairs := []string{
		// Cyrillic
		"аa", "сc", "ԁd", "еe", "ҽe", "һh", "іi", "јj", "ӏl", "оo", "рp", "ԛq", "гr", "ѕs", "ѵv", "ԝw", "ѡw",
		"хx", "уy", "ъb", "ьb", "пn",
		// Greek
		"αa", "εe", "ηn", "ιi", "κk", "νv", "οo", "ρp", "σo", "τt", "υu", "χx", "ωw", "γy",
		// Armenian
		"գq", "զq", "հh", "յj", "ոn", "ռn", "սu", "օo", "ցg", "քp",
		// Latin letters of phonetic alphabets, without a dot, with a hook
		"ɑa", "ƅb", "ƈc", "ɖd", "ɡg", "ɢg", "ɦh", "ıi", "ɩi", "ɪi", "ȷj", "ƙk", "ɫl", "ʟl", "ɱm", "ɲn", "ŋn", "ɴn",
		"ᴏo", "ƥp", "ʠq", "ʀr", "ɾr", "ꜱs", "ƭt", "ʋu", "ᴜu", "ᴠv", "ᴡw", "ʏy", "ƴy", "ᴢz", "ƶz",
	}
	m := make(map[rune]byte, len(pairs))
	for _, pair := range pairs {
		for _, c := range pair {
			m[c] = pair[len(pair)-1]
			break
		}
	}
	return m
})

// LooksLike returns the ASCII label that a label which is not ASCII looks like, letter by letter. The second
// result is false if there is none.
func LooksLike(label string) (string, bool) {
	if isASCII(label) {
		return "", false
	}
	like := make([]byte, 0, len(label))
	for _, c := range label {
		switch letter, ok := lookalikes()[c]; {
		case c < 0x80:
			like = append(like, byte(c))
		case ok:
			like = append(like, letter)
		default:
			return "", false
		}
	}
	return string(like), true
}
