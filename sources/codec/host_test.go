package codec

import (
	"strings"
	"testing"
)

func TestNDJSONHost(t *testing.T) {
	o := NDJSONOptions{URL: "/uri", Host: "/h", Scheme: "/s", Base: "/b", Carry: []CarriedField{{Name: "x", Pointer: "/x"}}}
	for record, want := range map[string]string{
		`{"uri":"/a?b","h":"e.com:81","s":"http","b":"c","x":"y"}`: `"http://e.com:81/a?b" "c" "y"`,
		`{"uri":"\/a","h":"e\u002ecom"}`:                           `"https://e.com/a" - -`,
		`{"uri":"http://x/","h":"e.com"}`:                          `"http://x/" - -`,
		`{"uri":"/a"}`:                                             `"/a" - -`,
		`{"uri":"/a","h":""}`:                                      `"/a" - -`,
		`{"uri":"","h":"e.com"}`:                                   `"" - -`,
		`{"uri":"//a","h":"e.com"}`:                                `"https://e.com//a" - -`,
	} {
		if got := row(decode(t, mustNDJSON(t, o), record), 0); got != want {
			t.Errorf("%s: %s, want %s", record, got, want)
		}
	}
	for want, o := range map[string]NDJSONOptions{
		"host: ":                  {URL: "/u", Host: "h"},
		"scheme: \"ftp\"":         {URL: "/u", Host: "/h", Scheme: "ftp"},
		"scheme: without host":    {URL: "/u", Scheme: "http"},
		"scheme: \"/~2\" has a ~": {URL: "/u", Host: "/h", Scheme: "/~2"},
	} {
		if err := o.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
