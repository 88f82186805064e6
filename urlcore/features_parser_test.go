package urlcore_test

import (
	"testing"

	"github.com/urlmill/urlmill/urlcore"
)

var recordFeatures = features{
	"D1": func(t *testing.T) {
		u := urlcore.MustParse("https://u:p@h:8080/a/b?q#f")
		for part, want := range map[urlcore.Part]string{
			urlcore.Scheme: "https", urlcore.Username: "u", urlcore.Password: "p", urlcore.Host: "h", urlcore.Port: "8080",
			urlcore.Path: "/a/b", urlcore.Query: "q", urlcore.Fragment: "f",
		} {
			expect(t, "part", string(u.Bytes(part)), want)
		}
		port, ok := u.PortNumber()
		expect(t, "port", port, 8080)
		expect(t, "has port", ok, true)
		for input, has := range map[string][3]bool{ // host, query, fragment are not null
			"x:": {}, "x://": {true}, "x:?": {false, true}, "x:#": {false, false, true}, "x:///?#": {true, true, true},
		} {
			u := urlcore.MustParse(input)
			expect(t, input, [3]bool{u.HasHost(), u.HasQuery(), u.HasFragment()}, has)
			expect(t, input, string(u.Bytes(urlcore.Host))+string(u.Bytes(urlcore.Query))+string(u.Bytes(urlcore.Fragment)), "")
		}
		expect(t, "opaque", urlcore.MustParse("x:y").OpaquePath(), true)
		expect(t, "list", urlcore.MustParse("x:/y").OpaquePath(), false)
		expect(t, "blob entry", urlcore.MustParse("blob:x").BlobEntry() == nil, true)
	},
	"D2": func(t *testing.T) {
		for scheme, port := range map[string]string{"ftp": "21", "http": "80", "https": "443", "ws": "80", "wss": "443"} {
			u := urlcore.MustParse(scheme + "://h:" + port + "/")
			expect(t, scheme, u.Special(), true)
			expect(t, scheme, u.HasPort(), false)
		}
		expect(t, "file", urlcore.MustParse("file:///").Special(), true)
		for _, input := range []string{"x://h:80/", "httpx://h:80/", "gopher://h:70/", "data:,x"} {
			u := urlcore.MustParse(input)
			expect(t, input, u.Special(), false)
			expect(t, input, u.Href(), input)
		}
	},
	"D3": hrefs("https://h/a/./b", "https://h/a/b", "https://h/a/%2e/b", "https://h/a/b", "https://h/a/%2E", "https://h/a/", "https://h/a/../b", "https://h/b",
		"https://h/a/.%2e/b", "https://h/b", "https://h/a/%2E./b", "https://h/b", "https://h/a/%2e%2E", "https://h/", "https://h/a/..%2f", "https://h/a/..%2f",
		"https://h/a/%2e%2e%2e", "https://h/a/%2e%2e%2e", "https://h/a/...", "https://h/a/..."),
	"D4": func(t *testing.T) {
		for s, want := range map[string]bool{
			"c:": true, "C|": true, "c:/": true, "c:\\": true, "c:?": true, "c:#": true, "c:a": false, "c": false, "1:": false, "": false, "cc:": false,
		} {
			expect(t, s, urlcore.StartsWithDriveLetter(s), want)
		}
		hrefs("file:///C|/x", "file:///C:/x", "file:///c:/..", "file:///c:/", "file:///c%7C/..", "file:///", "https://h/C|/..", "https://h/",
			"file:///C|a/..", "file:///")(t)
	},
	"D5": hrefs("https://h/a/..", "https://h/", "https://h/..", "https://h/", "file:///C:/..", "file:///C:/", "file:///C:/a/../..", "file:///C:/",
		"file:///a/C:/../..", "file:///", "https://h/C:/..", "https://h/", "x:/a/../../b", "x:/b"),
	"D6": func(t *testing.T) {
		for input, want := range map[string]bool{"https://u@h/": true, "https://:p@h/": true, "https://@h/": false, "https://:@h/": false} {
			expect(t, input, urlcore.MustParse(input).HasCredentials(), want)
		}
		for _, input := range []string{"file://h/x", "file:///x", "x:///y", "x:/y", "x:y"} {
			for _, attribute := range []string{"username", "password", "port"} {
				assigns(attribute, input, "1", input)(t)
			}
		}
	},
}

var stateFeatures = features{
	"E1": all(
		hrefs(" \x00\x1fhttps://h/ \x00\x1f ", "https://h/", "ht\ttp\ns:/\r/h\t:8\n0/", "https://h:80/", "https://h/a\tb\nc\rd", "https://h/abcd",
			"\u00a0https://h/", fails, "https://h/\u00a0", "https://h/%C2%A0", "", fails, " ", fails),
		assigns("pathname", "https://h/", " a\tb ", "https://h/%20ab%20"),
		assigns("hash", "https://h/", "\x00a\n\x1f", "https://h/#%00a%1F"),
	),
	"E2": all(
		hrefs("A:b", "a:b", "1:b", fails, "+:b", fails, ":b", fails, "\u00e9:b", fails),
		against("https://h/d/e", "1:b", "https://h/d/1:b", ":b", "https://h/d/:b"),
		assigns("protocol", "https://h/", "1ws", "https://h/", "https://h/", "", "https://h/"),
	),
	"E3": all(
		hrefs("aZ09+-.:x", "az09+-.:x", "file:x", "file:///x", "HTTPS:h", "https://h/", "x:/y", "x:/y", "x:y", "x:y", "a_b:c", fails),
		against("https://h/d", "https:e", "https://h/e", "http:e", "http://e/", "a_b:c", "https://h/a_b:c", "x:e", "x:e", "https", "https://h/https"),
	),
	"E4": assigns("protocol", "https://h/", "x", "https://h/", "x://h/", "https", "x://h/", "https://u@h/", "file", "https://u@h/", "https://h:1/", "file", "https://h:1/",
		"file:///x", "https", "file:///x", "file://h/x", "https", "https://h/x", "https://h:80/", "http", "http://h/", "http://h:443/", "wss", "wss://h/",
		"http://h/", "WS:ignored", "ws://h/", "x:y", "z", "z:y", "http://h/", "https\u00e9", "http://h/", "http://h/", "h\tt\ntps", "https://h/"),
	"E5": all(
		hrefs("//h", fails, "/x", fails, "?", fails, "#", fails),
		against("x:y?q", "#f", "x:y?q#f", "", fails, "?z", fails, "z", fails, "#", "x:y?q#", "x:z", "x:z"),
		against("mailto:a@b", "//h", fails),
	),
	"E6": against("https://h/d/e", "https://i/j", "https://i/j", "https:i/j", "https://h/d/i/j", "https:/i/j", "https://h/i/j", "https:///i/j", "https://i/j",
		"https:\\i", "https://h/i", "https:", "https://h/d/e"),
	"E7": hrefs("x://h/p", "x://h/p", "x:/p", "x:/p", "x:/", "x:/", "x:/p//q", "x:/p//q", "x:\\p", "x:\\p"),
	"E8": all(
		against("https://u:p@h:1/a/b/c?q#f", "", "https://u:p@h:1/a/b/c?q", "?z", "https://u:p@h:1/a/b/c?z", "#z", "https://u:p@h:1/a/b/c?q#z", "z",
			"https://u:p@h:1/a/b/z", "../z", "https://u:p@h:1/a/z", "\\z", "https://u:p@h:1/z", "?", "https://u:p@h:1/a/b/c?"),
		against("x://h/a/b?q", "", "x://h/a/b?q", "\\z", "x://h/a/\\z", "z?", "x://h/a/z?"),
	),
	"E9": all(
		against("https://u:p@h:1/a", "//i", "https://i/", "\\/i", "https://i/", "/\\i", "https://i/", "/i", "https://u:p@h:1/i"),
		against("x://u:p@h:1/a", "//i", "x://i", "/\\i", "x://u:p@h:1/\\i", "/i", "x://u:p@h:1/i"),
	),
	"E10": hrefs("https:h", "https://h/", "https:/h", "https://h/", "https:////\\\\/h", "https://h/", "https:\\\\h\\p", "https://h/p", "https:/\\@h", "https://h/"),
	"E11": hrefs("https://u:p@h/", "https://u:p@h/", "https://a@b@h/", "https://a%40b@h/", "https://a:b:c@h/", "https://a:b%3Ac@h/", "https://:p@h/", "https://:p@h/",
		"https://u:@h/", "https://u@h/", "https://@/", fails, "https://u@", fails, "x://u@/", fails, "x://u@", fails, "https://u/@h/", "https://u/@h/",
		"https://a b'\"<>`{}|^@h/", "https://a%20b'%22%3C%3E%60%7B%7D%7C%5E@h/"),
	"E12": hrefs("https://[::1]:8/", "https://[::1]:8/", "https://h:8/", "https://h:8/", "https://:8/", fails, "https://?", fails, "https:///p", "https://p/",
		"x://:8/", fails, "x:///p", "x:///p", "x://?q", "x://?q", "https://h?q", "https://h/?q", "https://[::1", fails),
	"E13": all(
		assigns("host", "file:///x", "h", "file://h/x", "file://h/x", "", "file:///x", "https://u@h/", "", "https://u@h/", "x://h:1/", "", "x://h:1/",
			"x://h/", "", "x:///", "https://h/", "", "https://h/", "file:///x", "h:1", "file:///x"),
		assigns("hostname", "https://h/", "i:2", "https://h/", "https://h:1/", "i", "https://i:1/", "https://h/", "i/j", "https://i/", "x://u@h/", "", "x://u@h/"),
	),
	"E14": all(
		hrefs("https://h:00080/", "https://h:80/", "https://h:0443/", "https://h/", "https://h:/", "https://h/", "https://h:65535/", "https://h:65535/",
			"https://h:65536/", fails, "https://h:8a/", fails, "https://h:-1/", fails, "https://h:99999999999999999999/", fails, "x://h:443/", "x://h:443/"),
		assigns("port", "https://h:1/", "8a", "https://h:8/", "https://h:1/", "a8", "https://h:1/", "https://h:1/", "443", "https://h/", "https://h:1/", "65536",
			"https://h:1/", "https://h:1/", "", "https://h/", "https://h:1/", " 8", "https://h:1/", "https://h:1/", "\t8", "https://h:8/"),
	),
	"E15": all(
		hrefs("file:a/b", "file:///a/b", "file:", "file:///", "file:?q", "file:///?q", "file:C|", "file:///C:"),
		against("file://h/a/b?q", "", "file://h/a/b?q", "#f", "file://h/a/b?q#f", "?z", "file://h/a/b?z", "z", "file://h/a/z", "file:z", "file://h/a/z", "C|/z", "file://h/C:/z",
			"C|", "file://h/C:", "C:", "c:", "Ca", "file://h/a/Ca"),
		against("https://h/a", "file:z", "file:///z"),
	),
	"E16": all(
		against("file://h/C:/a", "/z", "file://h/C:/z", "/D:/z", "file://h/D:/z", "//i/z", "file://i/z", "\\z", "file://h/C:/z", "/", "file://h/C:/"),
		against("file://h", "/z", "file://h/z"),
		against("file:///a/C:/b", "/z", "file:///z"),
	),
	"E17": hrefs("file://C|/x", "file:///C:/x", "file://c:", "file:///c:", "file://localhost/x", "file:///x", "file://LOC%61LHOST/", "file:///", "file://h/x", "file://h/x",
		"file://%43%3A/", fails, "file://h:80/", fails, "file://u@h/", fails, "file:///C|/../x", "file:///C:/x"),
	"E18": all(
		hrefs("https://h\\a\\b", "https://h/a/b", "https://h?q", "https://h/?q", "https://h#f", "https://h/#f", "x://h", "x://h", "x://h?q", "x://h?q", "x://h\\a", fails),
		assigns("pathname", "x:/a", "", "x:/", "x://h/a", "", "x://h", "https://h/a", "", "https://h/", "x:/a", "b", "x:/b", "https://h/", "\\a", "https://h/a"),
	),
	"E19": all(
		hrefs("https://h/a/..", "https://h/", "https://h/a/.", "https://h/a/", "https://h/a//..", "https://h/a/", "file:///a/C|/b", "file:///a/C|/b", "file:///C|/b",
			"file:///C:/b", "x:/C|/b", "x:/C|/b", "https://h/a\\..\\b", "https://h/b", "x://h/a\\..\\b", "x://h/a\\..\\b",
			"https://h/ \"<>`{}^|~'", "https://h/%20%22%3C%3E%60%7B%7D%5E|~'", "https://h/%zz%", "https://h/%zz%"),
		assigns("pathname", "https://h/", "a?b#c", "https://h/a%3Fb%23c"),
	),
	"E20": hrefs("x:a b\"<>`\u00e9", "x:a b\"<>`%C3%A9", "x:a ?q", "x:a%20?q", "x:a  #f", "x:a %20#f", "x:a b?q", "x:a b?q", "x:\x00\x7f/..", "x:%00%7F/.."),
	"E21": func(t *testing.T) {
		hrefs("https://h/?a'b\"<>#", "https://h/?a%27b%22%3C%3E#", "x://h/?a'b\"<>", "x://h/?a'b%22%3C%3E", "https://h/?`{}|^", "https://h/?`{}|^")(t)
		for input, want := range map[string]string{
			"https://h/?\u00e9\u2603": "https://h/?%E9%26%239731%3B", "x://h/?\u00e9": "x://h/?%C3%A9", "ws://h/?\u00e9": "ws://h/?%C3%A9", "wss://h/?\u00e9": "wss://h/?%C3%A9",
			"https://h/\u00e9?#\u00e9": "https://h/%C3%A9?#%C3%A9", "file:///?\u00e9": "file:///?%E9",
		} {
			expect(t, input, parseEncoded(t, input, nil, "windows-1252"), want)
		}
		expect(t, "ISO-2022-JP", parseEncoded(t, "https://h/?\u00a5\u3042\u00a5", nil, "iso-2022-jp"), "https://h/?%1B(J\\%1B$B$%22%1B(J\\%1B(B")
	},
	"E22": hrefs("https://h/# \"<>`#?{}|^\u00e9\x00", "https://h/#%20%22%3C%3E%60#?{}|^%C3%A9", "x:#a b", "x:#a%20b"),
	"E23": func(t *testing.T) {
		entry := &urlcore.BlobEntry{Origin: urlcore.MustParse("https://h").SecurityOrigin()}
		p := urlcore.Parser{ResolveBlob: func(*urlcore.URL) *urlcore.BlobEntry { return entry }}
		for input, want := range map[string]*urlcore.BlobEntry{"blob:https://x/y": entry, "BLOB:x": entry, "https://h/": nil, "x:y": nil} {
			var u urlcore.URL
			if f := p.Parse(&u, []byte(input), nil); !f.OK() {
				t.Fatal(f)
			}
			expect(t, input, u.BlobEntry() == want, true)
		}
		expect(t, "no resolver", urlcore.MustParse("blob:https://x/y").BlobEntry() == nil, true)
	},
	"E24": all(
		assigns("username", "https://h/", "a\tb\n", "https://a%09b%0A@h/", "https://h/", " :/?#[]@", "https://%20%3A%2F%3F%23%5B%5D%40@h/", "https://u@h/", "", "https://h/"),
		assigns("password", "https://h/", "a\tb", "https://:a%09b@h/", "https://:p@h/", "", "https://h/", "https://h/", "%41", "https://:%41@h/"),
	),
	"K15": hrefs("https://h/%2e%2e/a", "https://h/a", "https://h/a/%2e/b", "https://h/a/b", "%68ttps://h/", fails, "https%3A//h/", fails, "https://%68/", "https://h/", "https://h:%38/", fails,
		"https://h/%61?%61#%61", "https://h/%61?%61#%61"),
	"E25": func(t *testing.T) {
		for _, input := range fuzzSeeds {
			for _, set := range setterList {
				for _, value := range fuzzSeeds {
					u, err := urlcore.Parse(input)
					if err != nil {
						continue
					}
					wasFile := u.Protocol() == "file:"
					set(u, value)
					if (wasFile || u.Protocol() != "file:") && !reparses(u) {
						t.Fatalf("%q with %q: %q is not what it parses to", input, value, u)
					}
				}
			}
		}
	},
}
