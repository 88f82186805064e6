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

func TestCaddy(t *testing.T) {
	const record = `{"level":"info","ts":1646861401.5241024,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"127.0.0.1",` +
		`"proto":"HTTP/2.0","method":"GET","host":"localhost:8443","uri":"/a?b=1","headers":{"User-Agent":["curl/7.82.0"],"Referer":["https://r.example/"]},` +
		`"tls":{}},"user_id":"","duration":0.000929675,"size":10900,"status":200}`
	const want = `"https://localhost:8443/a?b=1" 1646861401524102 "127.0.0.1" "GET" "HTTP/2.0" 200 10900 0.000929675 "https://r.example/" "curl/7.82.0" ""`
	if got := row(decode(t, mustNDJSON(t, Caddy()), record), 0); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
