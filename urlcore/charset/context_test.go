package charset

import "testing"

func TestContextRules(t *testing.T) {
	for _, c := range []struct {
		contexts  []Context
		algorithm Algorithm
		illFormed IllFormed
	}{
		{[]Context{InHost}, UTF8DecodeWithoutBOM, MayFail},
		{[]Context{InPercentDecoded, InForm, InMultipart, InDocumentCookie}, UTF8DecodeWithoutBOM, Replaced},
		{[]Context{InDecodeURI}, ECMADecode, Fails},
		{[]Context{InURL, InDataURL, InRefreshHeader, InMIMEType, InHeaderList, InAtob}, IsomorphicDecode, Replaced},
		{[]Context{InModuleScript, InJavaScriptURL, InJSON, InEventStream, InWebVTT, InManifest}, UTF8Decode, Replaced},
		{[]Context{InHTML, InCSS, InText, InClassicScript}, Decode, Replaced},
		{[]Context{InXML}, Decode, MayFail},
		{[]Context{InMediaFragment}, UTF8DecodeWithoutBOMOrFail, Fails},
		{[]Context{InTextDecoder}, StreamDecode, MayFail},
		{[]Context{InWebSocket}, StreamDecode, Fails},
	} {
		for _, context := range c.contexts {
			if got, ok := context.Rule(); !ok || got != (Rule{c.algorithm, c.illFormed}) {
				t.Errorf("context %d: got %v, %t, want %v", context, got, ok, c)
			}
		}
	}
	if got, ok := numberOfContexts.Rule(); ok {
		t.Errorf("a context that is none has the rule %v", got)
	}
	if got := ECMADecode.String(); got != "Decode (ECMA-262)" {
		t.Errorf("ECMADecode is called %q", got)
	}
	if got := Algorithm(99).String(); got != "Algorithm(99)" {
		t.Errorf("an algorithm that is none is called %q", got)
	}
}

// TestDetermine takes away the strongest evidence, one after the other.
func TestDetermine(t *testing.T) {
	known := Evidence{
		Start:              []byte("\xFE\xFF\x00"),
		Override:           GBK,
		Transport:          Big5,
		Prescan:            KOI8R,
		Environment:        EUCJP,
		ImpliedEnvironment: EUCKR,
		Detection:          ShiftJIS,
		Locale:             Windows1252,
	}
	for _, c := range []struct {
		want   *Encoding
		source Source
		drop   func()
	}{
		{UTF16BE, FromBOM, func() { known.Start = []byte("<!d") }},
		{GBK, FromOverride, func() { known.Override = nil }},
		{Big5, FromTransport, func() { known.Transport = nil }},
		{KOI8R, FromPrescan, func() { known.Prescan = nil }},
		{EUCJP, FromEnvironment, func() { known.Environment = nil }},
		{EUCKR, FromImpliedEnvironment, func() { known.ImpliedEnvironment = nil }},
		{ShiftJIS, FromDetection, func() { known.Detection = nil }},
		{Windows1252, FromLocale, func() { known.Locale = nil }},
		{UTF8, FromDefault, func() {}},
	} {
		if e, source := Determine(known); e != c.want || source != c.source {
			t.Errorf("got %v from %d, want %v from %d", e, source, c.want, c.source)
		}
		c.drop()
	}
}
