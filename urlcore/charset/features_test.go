package charset_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/conformance"
	"github.com/urlmill/urlmill/urlcore/charset"
	"github.com/urlmill/urlmill/urlcore/percent"
)

type features = conformance.Features

func TestFeatures(t *testing.T) { conformance.RunFeatures(t, encodingFeatures, tableFeatures) }

// expect reports a value that is not as it should be.
func expect[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v and not %v", what, got, want)
	}
}

// percentEncode is percent-encode after encoding.
func percentEncode(text string, e *charset.Encoding, set *percent.Set, plus bool) string {
	return string(charset.AppendPercentEncode(nil, []byte(text), e, set, plus))
}

// decodesTo makes a test of an encoding's decoder: bytes in pairs with the text that they are.
func decodesTo(e *charset.Encoding, pairs ...string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		for i := 0; i < len(pairs); i += 2 {
			if got := string(e.AppendDecode(nil, []byte(pairs[i]))); got != pairs[i+1] {
				t.Errorf("%v: %x gives %q and not %q", e, pairs[i], got, pairs[i+1])
			}
		}
	}
}

// encodesTo makes a test of an encoding's encoder with error mode html: texts in pairs with the bytes that they become.
func encodesTo(e *charset.Encoding, pairs ...string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		for i := 0; i < len(pairs); i += 2 {
			got, err := e.AppendEncode(nil, []byte(pairs[i]), charset.HTML)
			if err != nil || string(got) != pairs[i+1] {
				t.Errorf("%v: %q gives %q, %v and not %q", e, pairs[i], got, err, pairs[i+1])
			}
		}
	}
}

// all makes a test of several.
func all(tests ...func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		for _, test := range tests {
			test(t)
		}
	}
}

var encodingFeatures = features{
	"A12": func(t *testing.T) {
		expect(t, "plain", percentEncode("\u2261", charset.ShiftJIS, &percent.Userinfo, false), "%81%DF")
		expect(t, "member of no set", percentEncode("\u203d", charset.ShiftJIS, &percent.C0Control, false), "%26%238253%3B")
		expect(t, "space", percentEncode("a b", charset.UTF8, &percent.FormURLEncoded, true), "a+b")
		expect(t, "state after an error", percentEncode("\u00a5\u2603\u00a5", charset.ISO2022JP, &percent.SpecialQuery, false), "%1B(J\\%26%239731%3B\\%1B(B")
		expect(t, "flushed", percentEncode("\u3042", charset.ISO2022JP, &percent.C0Control, false), "%1B$B$\"%1B(B")
		expect(t, "output encoding", percentEncode("\u00e9", charset.UTF16LE, &percent.Query, false), "%C3%A9")
	},
	"S5": func(t *testing.T) {
		expect(t, "the set decides", percentEncode("\u00a5", charset.ISO2022JP, &percent.Userinfo, false), "%1B(J%5C%1B(B")
		expect(t, "the set decides", percentEncode("\u00a5", charset.ISO2022JP, &percent.SpecialQuery, false), "%1B(J\\%1B(B")
		expect(t, "a space", percentEncode(" ", charset.UTF8, &percent.FormURLEncoded, false), "%20")
	},
	"B1": func(t *testing.T) {
		for label, want := range map[string]*charset.Encoding{
			"utf8": charset.UTF8, "UTF-8": charset.UTF8, " \t\n\f\rlatin1 ": charset.Windows1252, "ascii": charset.Windows1252, "shift-jis": charset.ShiftJIS,
			"iso-2022-kr": charset.Replacement, "gb2312": charset.GBK, "unicode": charset.UTF16LE,
		} {
			got, ok := charset.Lookup(label)
			expect(t, label, got, want)
			expect(t, label, ok, true)
		}
		for _, label := range []string{"", "utf", "utf-8x", "\u00a0utf-8", "utf\u2010\u2010" + "8", "\vutf-8", "ut\u0192"} {
			if e, ok := charset.Lookup(label); ok || e != nil {
				t.Errorf("%q is %v", label, e)
			}
		}
	},
	"B2": func(t *testing.T) {
		for _, e := range []*charset.Encoding{charset.UTF16BE, charset.UTF16LE, charset.Replacement} {
			expect(t, e.Name(), e.Output(), charset.UTF8)
			if _, err := e.NewEncoder(charset.HTML); err == nil {
				t.Errorf("%v has an encoder", e)
			}
			if _, err := e.AppendEncode(nil, nil, charset.HTML); err == nil {
				t.Errorf("%v encodes", e)
			}
		}
		expect(t, "others", charset.Big5.Output(), charset.Big5)
	},
	"B3": func(t *testing.T) {
		for _, c := range []struct {
			bytes, text string
			used        *charset.Encoding
		}{
			{"\xef\xbb\xbfa", "a", charset.UTF8},
			{"\xfe\xff\x00a", "a", charset.UTF16BE},
			{"\xff\xfea\x00", "a", charset.UTF16LE},
			{"\xef\xbb\xbf\xef\xbb\xbf", "\ufeff", charset.UTF8},
			{"\xef\xbb", "\u00ef\u00bb", charset.Windows1252},
			{"\xfe", "\u00fe", charset.Windows1252},
			{"", "", charset.Windows1252},
		} {
			got, used := charset.AppendDecode(nil, []byte(c.bytes), charset.Windows1252)
			expect(t, c.text, string(got), c.text)
			expect(t, c.text, used, c.used)
		}
	},
	"B4": func(t *testing.T) {
		for s, want := range map[string]string{"\xef\xbb\xbfa": "a", "\xef\xbb\xbf\xef\xbb\xbf": "\ufeff", "\xfe\xff": "\ufffd\ufffd", "a\xef\xbb\xbf": "a\ufeff", "\xef\xbb": "\ufffd"} {
			expect(t, s, string(charset.AppendUTF8WithBOM(nil, []byte(s))), want)
		}
	},
	"B5": func(t *testing.T) {
		expect(t, "kept", string(charset.AppendUTF8(nil, []byte("\xef\xbb\xbfa\xff"))), "\ufeffa\ufffd")
	},
	"B6": func(t *testing.T) {
		got, err := charset.AppendUTF8OrFail(nil, []byte("\xef\xbb\xbf\u00e9"))
		expect(t, "right", string(got), "\ufeff\u00e9")
		expect(t, "right", err, nil)
		for s, at := range map[string]int64{"\xff": 0, "a\xc3": 1, "ab\xed\xa0\x80": 2, "\xf4\x90\x80\x80": 0} {
			got, err := charset.AppendUTF8OrFail([]byte("x"), []byte(s))
			var e *charset.Error
			if !errors.As(err, &e) || e.Pos != at || string(got) != "x" {
				t.Errorf("%x: %q, %v", s, got, err)
			}
		}
	},
	"B7": func(t *testing.T) {
		for b := range 256 {
			expect(t, "byte", string(charset.AppendIsomorphicDecode(nil, []byte{byte(b)})), string(rune(b)))
		}
	},
	"B8": decodesTo(charset.UTF8, "\xf0\x9fA", "\ufffdA", "\xf0\x80", "\ufffd\ufffd", "\xed\xa0\x80", "\ufffd\ufffd\ufffd", "\xe2\x98", "\ufffd", "\xc0\xaf", "\ufffd\ufffd",
		"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd", "\xe2\x98\xe2\x98\x83", "\ufffd\u2603", "\x80", "\ufffd"),
	"B9": func(t *testing.T) {
		d := charset.EUCJP.NewDecoder(charset.Options{Fatal: true})
		if got, err := d.AppendDecode(nil, []byte("a\xff"), false); err == nil {
			t.Errorf("%q", got)
		}
		got, err := d.AppendDecode(nil, []byte("\xa4\xa2"), false)
		expect(t, "again", string(got), "\u3042")
		expect(t, "again", err, nil)
	},
	"B10": all(
		encodesTo(charset.Windows1252, "a\u2603", "a&#9731;", "\U0001f4a9", "&#128169;"),
		encodesTo(charset.ISO2022JP, "\u3042\u2603", "\x1b$B$\"\x1b(B&#9731;", "\u00a5\u2603", "\x1b(J\\&#9731;\x1b(B", "\x0e", "&#65533;", "\x0f\x1b", "&#65533;&#65533;"),
	),
	"B11": func(t *testing.T) {
		for e, bytes := range map[*charset.Encoding]string{
			charset.UTF8: "\xf0\x9f\x92\xa9\u00e9", charset.UTF16LE: "\x3d\xd8\xa9\xdc", charset.ISO2022JP: "\x1b$B$\"\x1b(Ba", charset.GB18030: "\x81\x30\x81\x30\x81\x40",
			charset.Big5: "\x88\x62a", charset.ShiftJIS: "\x82\xa0\xb1",
		} {
			want := string(e.AppendDecode(nil, []byte(bytes)))
			var got []byte
			d := e.NewDecoder(charset.Options{})
			for i := range len(bytes) {
				got, _ = d.AppendDecode(got, []byte{bytes[i]}, true)
			}
			got, _ = d.AppendDecode(got, nil, false)
			expect(t, e.Name()+" byte by byte", string(got), want)
		}
		d := charset.UTF8.NewDecoder(charset.Options{})
		got, _ := d.AppendDecode(nil, []byte("\xe2\x98"), false)
		expect(t, "without the flag", string(got), "\ufffd")
		got, _ = d.AppendDecode(nil, []byte("\x83"), false)
		expect(t, "and reset", string(got), "\ufffd")
	},
	"B12": func(t *testing.T) {
		d := charset.UTF8.NewDecoder(charset.Options{})
		var got []byte
		for _, b := range []string{"\xef", "\xbb", "\xbf", "a", "\xef\xbb\xbf"} {
			got, _ = d.AppendDecode(got, []byte(b), true)
		}
		got, _ = d.AppendDecode(got, nil, false)
		expect(t, "split over chunks", string(got), "a\ufeff")
		got, _ = d.AppendDecode(nil, []byte("\xef\xbb\xbfb"), false)
		expect(t, "again after a flush", string(got), "b")
		got, _ = charset.UTF8.NewDecoder(charset.Options{IgnoreBOM: true}).AppendDecode(nil, []byte("\xef\xbb\xbfa"), false)
		expect(t, "with the flag", string(got), "\ufeffa")
		got, _ = charset.UTF16BE.NewDecoder(charset.Options{}).AppendDecode(nil, []byte("\xff\xfe\xfe\xff"), false)
		expect(t, "another's", string(got), "\ufffe\ufeff")
	},
	"B13": func(t *testing.T) {
		// The handlers give back bytes: gb18030 three, the others the one that may begin something else.
		decodesTo(charset.GB18030, "\x81\x30\x81 ", "\ufffd0\ufffd ", "\x81 ", "\ufffd ")(t)
		decodesTo(charset.ShiftJIS, "\x810", "\ufffd0", "\x81\xff", "\ufffd")(t)
		decodesTo(charset.ISO2022JP, "\x1bx", "\ufffdx", "\x1b$x", "\ufffd$x", "\x1b$B\x1b(B", "\ufffd")(t)
		enc, err := charset.ISO2022JP.NewEncoder(charset.HTML)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := enc.AppendEncode(nil, []byte("\u3042"), true)
		got, _ = enc.AppendEncode(got, []byte("\u3042"), true)
		got, _ = enc.AppendEncode(got, nil, false)
		expect(t, "encoder with a state", string(got), "\x1b$B$\"$\"\x1b(B")
	},
}

var tableFeatures = features{
	"B14": all(
		decodesTo(charset.Windows1252, "\x80\x81\x9f\xff", "\u20ac\u0081\u0178\u00ff"),
		encodesTo(charset.Windows1252, "\u20ac\u0081", "\x80\x81", "\u0080", "&#128;"),
		decodesTo(charset.Windows1253, "\xaa\xd2", "\ufffd\ufffd"),
		decodesTo(charset.KOI8U, "\xae", "\u045e"), decodesTo(charset.IBM866, "\x80", "\u0410"), decodesTo(charset.Macintosh, "\x80", "\u00c4"),
		encodesTo(charset.ISO8859_2, "\u0104\u00a5", "\xa1&#165;"), decodesTo(charset.Windows874, "\xdb", "\ufffd"),
	),
	"B15": all(
		encodesTo(charset.ShiftJIS, "\u00a5\u203e\u2212", "\\~\x81|", "\u2252", "\x81\xe0", "\uff71", "\xb1"),
		encodesTo(charset.EUCJP, "\u00a5\u203e\u2212", "\\~\xa1\xdd", "\u4e02", "&#19970;", "\uff71", "\x8e\xb1"),
		encodesTo(charset.ISO2022JP, "\u2212", "\x1b$B!]\x1b(B", "\uff71", "\x1b$B%\"\x1b(B"),
		decodesTo(charset.ShiftJIS, "\xf0\x40\xf9\xfc", "\ue000\ue757", "\x5c\x7e", "\\~"), decodesTo(charset.EUCJP, "\x8f\xb0\xa1", "\u4e02"),
	),
	"B16": all(
		encodesTo(charset.GBK, "\u20ac", "\x80", "\U0001f4a9", "&#128169;", "\ue5e5", "&#58853;"),
		encodesTo(charset.GB18030, "\u20ac", "\xa2\xe3", "\U0001f4a9", "\x94\x39\xda\x33", "\ue5e5", "&#58853;", "\ue7c7", "\x81\x35\xf4\x37", "\ue81e", "\xfe\x59"),
		decodesTo(charset.GBK, "\x80\x81\x30\x81\x30", "\u20ac\u0080"), decodesTo(charset.GB18030, "\x81\x35\xf4\x37", "\ue7c7", "\xa2\xe3\x80", "\u20ac\u20ac", "\xe3\x32\x9a\x35", "\U0010ffff"),
	),
	"B17": all(
		encodesTo(charset.Big5, "\u2550", "\xf9\xf9", "\u255e", "\xf9\xe9", "\u5341", "\xa4\x51", "\U00020021", "&#131105;"),
		decodesTo(charset.Big5, "\x88\x62\x88\x64\x88\xa3\x88\xa5", "\u00ca\u0304\u00ca\u030c\u00ea\u0304\u00ea\u030c"),
		encodesTo(charset.EUCKR, "\uac00", "\xb0\xa1", "\u3042", "\xaa\xa2"), decodesTo(charset.EUCKR, "\xb0\xa1\x81\x41", "\uac00\uac02"),
		encodesTo(charset.XUserDefined, "a\uf780\uf7ff", "a\x80\xff", "\u00e9", "&#233;"), decodesTo(charset.XUserDefined, "a\x80\xff", "a\uf780\uf7ff"),
	),
	"B18": decodesTo(charset.Replacement, "", "", "a", "\ufffd", "abc\xff", "\ufffd"),
	"B19": func(t *testing.T) {
		e, from := charset.Determine(charset.Evidence{Start: []byte("\xff\xfea"), Override: charset.GBK, Transport: charset.Big5, Prescan: charset.KOI8R})
		expect(t, "BOM", e, charset.UTF16LE)
		expect(t, "BOM", from, charset.FromBOM)
		e, _ = charset.Determine(charset.Evidence{Start: []byte("abc"), Override: charset.GBK, Transport: charset.Big5, Prescan: charset.KOI8R})
		expect(t, "override", e, charset.GBK)
		e, _ = charset.Determine(charset.Evidence{Start: []byte("abc"), Transport: charset.Big5, Prescan: charset.KOI8R})
		expect(t, "transport", e, charset.Big5)
		e, _ = charset.Determine(charset.Evidence{Start: []byte("abc"), Prescan: charset.KOI8R, Environment: charset.GBK})
		expect(t, "else", e, charset.KOI8R)
	},
	"B20": func(t *testing.T) {
		for context, want := range map[charset.Context]charset.Algorithm{
			charset.InHost: charset.UTF8DecodeWithoutBOM, charset.InPercentDecoded: charset.UTF8DecodeWithoutBOM, charset.InForm: charset.UTF8DecodeWithoutBOM,
			charset.InDocumentCookie: charset.UTF8DecodeWithoutBOM, charset.InMultipart: charset.UTF8DecodeWithoutBOM, charset.InDecodeURI: charset.ECMADecode,
			charset.InURL: charset.IsomorphicDecode, charset.InDataURL: charset.IsomorphicDecode, charset.InRefreshHeader: charset.IsomorphicDecode,
			charset.InMIMEType: charset.IsomorphicDecode, charset.InHeaderList: charset.IsomorphicDecode, charset.InAtob: charset.IsomorphicDecode,
			charset.InModuleScript: charset.UTF8Decode, charset.InJavaScriptURL: charset.UTF8Decode, charset.InJSON: charset.UTF8Decode,
			charset.InEventStream: charset.UTF8Decode, charset.InWebVTT: charset.UTF8Decode, charset.InManifest: charset.UTF8Decode, charset.InHTML: charset.Decode,
			charset.InXML: charset.Decode, charset.InCSS: charset.Decode, charset.InText: charset.Decode, charset.InClassicScript: charset.Decode,
			charset.InMediaFragment: charset.UTF8DecodeWithoutBOMOrFail, charset.InTextDecoder: charset.StreamDecode, charset.InWebSocket: charset.StreamDecode,
		} {
			rule, ok := context.Rule()
			expect(t, "known", ok, true)
			expect(t, "context", rule.Algorithm, want)
		}
		for _, context := range []charset.Context{charset.InXML, charset.InTextDecoder, charset.InHost} {
			rule, _ := context.Rule()
			expect(t, "can be fatal", rule.IllFormed, charset.MayFail)
		}
		rule, _ := charset.InMediaFragment.Rule()
		expect(t, "media fragments", rule.IllFormed, charset.Fails)
	},
	"B21": func(t *testing.T) {
		known := charset.Evidence{
			Override: charset.GBK, Transport: charset.Big5, Prescan: charset.KOI8R, Environment: charset.EUCJP, ImpliedEnvironment: charset.EUCKR,
			Detection: charset.ShiftJIS, Locale: charset.Windows1252,
		}
		for i, field := range []**charset.Encoding{
			&known.Override, &known.Transport, &known.Prescan, &known.Environment, &known.ImpliedEnvironment, &known.Detection, &known.Locale,
		} {
			e, source := charset.Determine(known)
			expect(t, "encoding", e, *field)
			expect(t, "source", source, charset.FromOverride+charset.Source(i))
			*field = nil
		}
		e, source := charset.Determine(known)
		expect(t, "nothing known", e, charset.UTF8)
		expect(t, "nothing known", source, charset.FromDefault)
	},
	"B22": func(t *testing.T) {
		// Lone surrogates cannot be written in UTF-8; their three bytes are three ill-formed parts.
		for _, e := range []*charset.Encoding{charset.UTF8, charset.Windows1252, charset.GB18030} {
			got, err := e.AppendEncode(nil, []byte("a\xed\xa0\x80"), charset.HTML)
			want, _ := e.AppendEncode(nil, []byte("a\ufffd\ufffd\ufffd"), charset.HTML)
			expect(t, e.Name(), string(got), string(want))
			expect(t, e.Name(), err, nil)
		}
		decodesTo(charset.UTF16LE, "\x00\xd8a\x00", "\ufffda", "\x00\xdc", "\ufffd")(t)
		if strings.ContainsRune(string(charset.UTF16BE.AppendDecode(nil, []byte("\xd8\x00"))), 0xd800) {
			t.Error("a surrogate came through")
		}
	},
	"P13": func(t *testing.T) {
		expect(t, "over the whole text", percentEncode("\u3042a\u3042", charset.ISO2022JP, &percent.C0Control, false), "%1B$B$\"%1B(Ba%1B$B$\"%1B(B")
		expect(t, "percent-encoded reference", percentEncode("\u2603", charset.Windows1252, &percent.C0Control, false), "%26%239731%3B")
	},
}
