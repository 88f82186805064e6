package main

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// The peers' names.
var (
	goPeer    = "net/url and x, " + runtime.Version()
	nlnwaPeer = "nlnwa v0.6.2"
)

// parser returns the serialization of what input parses to against base, and whether it parses.
type parser func(input string, base *string) (string, bool)

var parsers = map[string]parser{goPeer: parseNetURL, nlnwaPeer: parseNLNWA}

func parseNetURL(input string, base *string) (string, bool) {
	u, err := url.Parse(input)
	if err == nil && base != nil {
		var b *url.URL
		if b, err = url.Parse(*base); err == nil {
			u = b.ResolveReference(u)
		}
	}
	if err != nil || !u.IsAbs() {
		return "", false
	}
	return u.String(), true
}

var nlnwa = whatwg.NewParser()

func parseNLNWA(input string, base *string) (string, bool) {
	var u *whatwg.Url
	var err error
	if base != nil {
		u, err = nlnwa.ParseRef(*base, input)
	} else {
		u, err = nlnwa.Parse(input)
	}
	if err != nil {
		return "", false
	}
	return u.Href(false), true
}

func parsing(f *figures, dir string) error {
	type urlCase struct {
		Input, Href string
		Base        *string
		Failure     bool
	}
	for _, file := range []string{"urltestdata.json", "urltestdata-javascript-only.json"} {
		all, err := cases[urlCase](dir, file)
		if err != nil {
			return err
		}
		for peer, parse := range parsers {
			for _, c := range all {
				href, ok := parse(c.Input, c.Base)
				f.count(file, peer, ok != c.Failure && (!ok || href == c.Href))
			}
		}
	}
	return nil
}

func hosts(f *figures, dir string) error {
	type hostCase struct {
		Input  string
		Output *string
	}
	escape := strings.NewReplacer(":", "%3A", "/", "%2F", "?", "%3F", "#", "%23", `\`, "%5C")
	for _, file := range []string{"toascii.json", "IdnaTestV2.json", "IdnaTestV2-removed.json", "idna-bidi.json"} {
		all, err := cases[hostCase](dir, file)
		if err != nil {
			return err
		}
		for peer, parse := range parsers {
			for _, c := range all {
				if c.Input == "" {
					continue
				}
				host := c.Input
				if file != "toascii.json" {
					host = escape.Replace(host)
				}
				href, ok := parse("https://"+host+"/x", nil)
				f.count(file, peer, ok == (c.Output != nil) && (!ok || href == "https://"+*c.Output+"/x"))
			}
		}
	}
	return nil
}

func statics(f *figures, dir string) error {
	type staticCase struct {
		URL  string
		Base *string
		Can  bool `json:"can_parse"`
	}
	const file = "url-statics.json"
	all, err := cases[staticCase](dir, file)
	for peer, parse := range parsers {
		for _, c := range all {
			_, ok := parse(c.URL, c.Base)
			f.count(file, peer, ok == c.Can)
		}
	}
	return err
}

func setters(f *figures, dir string) error {
	type setterCase struct {
		Href     string
		NewValue string `json:"new_value"`
		Expected struct{ Href string }
	}
	set := map[string]func(*whatwg.Url, string){
		"protocol": (*whatwg.Url).SetProtocol, "username": (*whatwg.Url).SetUsername, "password": (*whatwg.Url).SetPassword, "host": (*whatwg.Url).SetHost,
		"hostname": (*whatwg.Url).SetHostname, "port": (*whatwg.Url).SetPort, "pathname": (*whatwg.Url).SetPathname, "search": (*whatwg.Url).SetSearch,
		"hash": (*whatwg.Url).SetHash,
		"href": func(u *whatwg.Url, v string) {
			if parsed, err := nlnwa.Parse(v); err == nil {
				*u = *parsed
			}
		},
	}
	for _, file := range []string{"setters_tests.json", "setters_stripping.json"} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return err
		}
		var attributes map[string]json.RawMessage
		if err := json.Unmarshal(data, &attributes); err != nil {
			return err
		}
		delete(attributes, "comment")
		for name, text := range attributes {
			var all []setterCase
			if err := json.Unmarshal(text, &all); err != nil {
				return err
			}
			for _, c := range all {
				u, err := nlnwa.Parse(c.Href)
				if err == nil {
					set[name](u, c.NewValue)
				}
				f.count(file, nlnwaPeer, err == nil && u.Href(false) == c.Expected.Href)
			}
		}
	}
	return nil
}

func resolution(f *figures, dir string) error {
	type referenceCase struct{ Base, Ref, Target string }
	const file = "rfc3986-resolution.json"
	all, err := cases[referenceCase](dir, file)
	for _, c := range all {
		got, ok := parseNetURL(c.Ref, &c.Base)
		f.count(file, goPeer, ok && got == c.Target)
	}
	return err
}
