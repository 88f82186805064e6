package agents

import (
	"strings"
)

// The Client Hints that say what a user agent is, https://wicg.github.io/ua-client-hints/#http-ua-hints.
const (
	Brands          = iota // Sec-CH-UA
	Mobile                 // Sec-CH-UA-Mobile
	Platform               // Sec-CH-UA-Platform
	PlatformVersion        // Sec-CH-UA-Platform-Version
	FullVersions           // Sec-CH-UA-Full-Version-List
	Model                  // Sec-CH-UA-Model
	NumHints
)

// HintNames are what stands behind the name of the field of the first hint in the names of the others.
var HintNames = [NumHints]string{"", "_mobile", "_platform", "_platform_version", "_full_version_list", "_model"}

// Hints are the values of hints as they were received; empty ones are not there.
type Hints [NumHints][]byte

// MaxHints bounds the bytes of all hints of a record.
const MaxHints = 2048

// Refine returns what a user agent is by its text, which may be empty, and by hints, which are right about what browsers keep out of
// the text since 2022; nil for a text with a control character. ok is false if a hint is malformed; it counts as missing. A bot is
// what its text says.
func (c *Cache) Refine(s *Scanner, text []byte, hints *Hints) (a *Agent, ok bool) {
	h, ok := parseHints(hints)
	const frozen = "; K)" // of every model of Android, https://www.chromium.org/updates/ua-reduction/
	was := string(text)
	with := was
	if h.model != "" {
		with = strings.Replace(was, frozen, "; "+h.model+")", 1)
	}
	a = c.Find(s, []byte(with))
	if a == nil || a.Bot != "" {
		return a, ok
	}
	own := *a
	a = &own
	h.system(a)
	h.browser(a)
	if a.Device == "" && with == was {
		a.Device = h.model
	}
	return a, ok
}

// hinted is what hints say. Empty texts are not said.
type hinted struct {
	brand, version            string // version is the full one, "" if only the significant one is said
	significant               string
	mobile                    string // "1", "0"
	platform, platformVersion string
	model                     string
}

func parseHints(hints *Hints) (h hinted, ok bool) {
	ok = true
	parsed := func(good bool) { ok = ok && good }
	full, good := parseBrands(string(hints[FullVersions]))
	parsed(good)
	h.brand, h.version = pick(full)
	brands, good := parseBrands(string(hints[Brands]))
	parsed(good)
	if brand, version := pick(brands); h.brand == "" {
		h.brand, h.significant = brand, version
	}
	for _, text := range []struct {
		to *string
		at int
	}{{&h.platform, Platform}, {&h.platformVersion, PlatformVersion}, {&h.model, Model}} {
		*text.to, good = parseText(string(hints[text.at]))
		parsed(good)
	}
	switch string(hints[Mobile]) {
	case "":
	case "?1", "true", "1":
		h.mobile = "1"
	case "?0", "false", "0":
		h.mobile = "0"
	default:
		parsed(false)
	}
	return h, ok
}

// platforms are the systems of uap-core by the values of Sec-CH-UA-Platform.
var platforms = map[string]string{
	"Android": "Android", "Chrome OS": "Chrome OS", "Chromium OS": "Chrome OS", "iOS": "iOS", "macOS": "Mac OS X", "Windows": "Windows", "Fuchsia": "Fuchsia",
}

// system sets the system, its version and the class of the device.
func (h *hinted) system(a *Agent) {
	// Distributions of Linux say Linux in the hint; the text may know more.
	if h.platform == "Linux" && a.OS == "" {
		a.OS = "Linux"
	}
	if os := platforms[h.platform]; os != "" && os != a.OS {
		a.OS, a.OSVersion, a.DeviceClass = os, "", systemClasses[os] // the text was that of the desktop site
	}
	if version := h.platformVersion; version != "" && platforms[h.platform] == a.OS {
		if a.OS == "Windows" {
			version = windows(version)
		}
		for strings.HasSuffix(version, ".0") {
			version = strings.TrimSuffix(version, ".0")
		}
		if version != "" {
			a.OSVersion = version
		}
	}
	switch class := a.DeviceClass; {
	case class == "":
		a.DeviceClass = systemClasses[a.OS]
		if h.mobile == "1" {
			a.DeviceClass = "mobile"
		}
	case h.mobile == "1" && (class == "desktop" || class == "tablet"):
		a.DeviceClass = "mobile"
	case h.mobile == "0" && class == "mobile":
		a.DeviceClass = systemClasses[a.OS]
	}
}

// windows returns the version of Windows of a platform version, which is that of its API contract, "" if there is none.
//
// Source: https://learn.microsoft.com/en-us/microsoft-edge/web-platform/how-to-detect-win11
func windows(version string) string {
	switch version {
	case "0.1", "0.1.0":
		return "7"
	case "0.2", "0.2.0":
		return "8"
	case "0.3", "0.3.0":
		return "8.1"
	}
	major, _, _ := strings.Cut(version, ".")
	n := 0
	for _, digit := range []byte(major) {
		if digit -= '0'; digit > 9 || n > 1000 {
			return ""
		}
		n = 10*n + int(digit)
	}
	switch {
	case n >= 13:
		return "11"
	case n >= 1:
		return "10"
	}
	return ""
}

const (
	chromium     = "Chromium"
	googleChrome = "Google Chrome"
)

// families are the browsers of uap-core by their brands.
var families = map[string]string{
	googleChrome: "Chrome", "Microsoft Edge": "Edge", "Opera": "Opera", "Opera GX": "Opera", "Brave": "Brave", "Vivaldi": "Vivaldi", "YaBrowser": "Yandex Browser",
	"Samsung Internet": "Samsung Internet", "DuckDuckGo": "DuckDuckGo", "Whale": "Whale", "HeadlessChrome": "HeadlessChrome", "Android WebView": "Chrome Mobile WebView",
	chromium: chromium,
}

// browser sets the browser and its version. A name that begins with that of the family, such as Chrome Mobile, stays.
func (h *hinted) browser(a *Agent) {
	if h.brand == "" || h.brand == chromium && a.Browser != "" && !strings.HasPrefix(a.Browser, "Chrome") {
		return // the text may know more of what is made of Chromium
	}
	name := families[h.brand]
	if name == "" {
		name = h.brand
	}
	if !strings.HasPrefix(a.Browser, name) {
		a.Browser, a.BrowserVersion = name, h.significant
	}
	if h.version != "" {
		a.BrowserVersion = h.version
	}
}

// brand is an item of Sec-CH-UA or Sec-CH-UA-Full-Version-List.
type brand struct{ name, version string }

// pick returns the brand that says most: what is made of Chromium rather than Chromium, and a browser that uap-core knows rather than
// another. Items stand in any order, which changes from version to version.
func pick(brands []brand) (name, version string) {
	best := 0
	for _, b := range brands {
		rank := 3
		switch {
		case b.name == "" || isGrease(b.name):
			continue
		case b.name == chromium:
			rank = 1
		case b.name == googleChrome:
			rank = 2
		case families[b.name] != "":
			rank = 4
		}
		if rank > best {
			best, name, version = rank, b.name, b.version
		}
	}
	return name, version
}

// isGrease reports whether a brand is one of those that are made up, so that servers do not rely on a list: Not A Brand, with any
// other characters in the place of its spaces, https://wicg.github.io/ua-client-hints/#create-arbitrary-brands-section.
func isGrease(name string) bool {
	letters := strings.Map(func(c rune) rune {
		if c |= 0x20; c >= 'a' && c <= 'z' {
			return c
		}
		return -1
	}, name)
	return letters == "notabrand"
}

// parseBrands reads a list of strings with the parameter v, https://www.rfc-editor.org/rfc/rfc9651#name-lists.
func parseBrands(text string) (brands []brand, ok bool) {
	for text = trim(text); text != ""; {
		var b brand
		if b.name, text, ok = cutString(text); !ok {
			return nil, false
		}
		for text = trim(text); strings.HasPrefix(text, ";"); text = trim(text) {
			text = trim(text[1:])
			end := strings.IndexAny(text, "=;, ")
			if end < 0 {
				end = len(text)
			}
			key := text[:end]
			text = text[end:]
			if key == "" {
				return nil, false
			}
			var value string
			if strings.HasPrefix(text, `="`) {
				if value, text, ok = cutString(text[1:]); !ok {
					return nil, false
				}
			} else if strings.HasPrefix(text, "=") {
				text = text[1:]
				if end = strings.IndexAny(text, ";, "); end < 0 {
					end = len(text)
				}
				value, text = text[:end], text[end:]
			}
			if key == "v" && !strings.ContainsFunc(value, unprintable) {
				b.version = value
			}
		}
		brands = append(brands, b)
		if text == "" {
			break
		}
		if text[0] != ',' {
			return nil, false
		}
		if text = trim(text[1:]); text == "" {
			return nil, false
		}
	}
	return brands, true
}

// parseText reads a string, with quotes as in the header or without, as navigator.userAgentData has it.
func parseText(text string) (string, bool) {
	text = trim(text)
	if strings.HasPrefix(text, `"`) {
		value, rest, ok := cutString(text)
		if !ok || rest != "" {
			return "", false
		}
		return strings.TrimSpace(value), true
	}
	if strings.ContainsFunc(text, unprintable) || strings.Contains(text, `"`) {
		return "", false
	}
	return text, true
}

// cutString cuts a string in quotes off, https://www.rfc-editor.org/rfc/rfc9651#name-strings.
func cutString(text string) (value, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		return "", "", false
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return b.String(), text[i+1:], true
		case c == '\\':
			if i++; i == len(text) || text[i] != '"' && text[i] != '\\' {
				return "", "", false
			}
			b.WriteByte(text[i])
		case unprintable(rune(c)):
			return "", "", false
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

// unprintable reports whether a structured field may not have a character.
func unprintable(c rune) bool { return c < ' ' || c > '~' }

func trim(text string) string { return strings.Trim(text, " \t") }
