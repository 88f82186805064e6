package main

var percentRows = []row{
	{"A1", "a byte becomes a triplet in upper case", "percent", "percent.TestSeedOperations"},
	{"A2", "triplets become bytes; other percent signs stay", "percent", "percent.TestSeedOperations percent.TestPercentVariants percent.TestDecodeMalformed"},
	{"A3", "percent-decoding of text gives bytes", "percent", "percent.TestSeedOperations"},
	{"A4", "C0 control set", "percent", "percent.TestPercentEncodeSets"},
	{"A5", "fragment set", "percent", "percent.TestPercentEncodeSets"},
	{"A6", "query set", "percent", "percent.TestPercentEncodeSets"},
	{"A7", "special-query set", "percent", "percent.TestPercentEncodeSets"},
	{"A8", "path set, with ^", "percent", "percent.TestPercentEncodeSets .TestURLTestData"},
	{"A9", "userinfo set", "percent", "percent.TestPercentEncodeSets"},
	{"A10", "component set, the one of encodeURIComponent", "percent", "percent.TestPercentEncodeSets percent.TestECMA262"},
	{"A11", "form-urlencoded set", "percent", "percent.TestPercentEncodeSets"},
	{"A12", "percent-encode after encoding: one run, references, state", "charset", "charset.TestConformancePercentEncoding charset.TestConformancePercentEncodeLegacy charset.TestConformanceSeedExamples"},
	{"A13", "UTF-8 percent-encode", "percent", "percent.TestSeedOperations"},
	{"A14", "letter case of triplets", "percent", ".TestURLTestData"},
	{"A15", "do triplets decode to UTF-8?", "percent", "percent.TestCheckUTF8"},
}

var encodingRows = []row{
	{"B1", "an encoding from its label", "charset", "charset.TestConformanceLabels charset.TestLookup"},
	{"B2", "output encodings; three have no encoder", "charset", ".TestURLWithEncoding"},
	{"B3", "decode with byte order marks", "charset", "charset.TestConformanceHooks charset.TestSniffBOM"},
	{"B4", "UTF-8 decode", "charset", "charset.TestConformanceHooks"},
	{"B5", "UTF-8 decode without BOM", "charset", "charset.TestConformanceHooks form.TestURLEncodedParser"},
	{"B6", "UTF-8 decode without BOM or fail", "charset", "charset.TestConformanceHooks charset.TestUTF8OrFail"},
	{"B7", "isomorphic decode", "charset", "charset.TestConformanceHooks"},
	{"B8", "error mode replacement: a U+FFFD per ill-formed part", "charset", "charset.TestConformanceTextDecoder charset.TestAppendUTF8"},
	{"B9", "error mode fatal", "charset", "charset.TestConformanceTextDecoder charset.TestDecoderAfterError"},
	{"B10", "error mode html", "charset", "charset.TestConformanceHooks charset.TestEncodeHTML"},
	{"B11", "decoding in chunks", "charset", "charset.TestConformanceTextDecoder charset.TestStreamingEqualsOneShot charset.FuzzStreaming"},
	{"B12", "byte order marks in streams", "charset", "charset.TestConformanceTextDecoder charset.TestDecoderBOM"},
	{"B13", "decoders and encoders with a state, that give back input", "charset", "charset.TestConformanceTextDecoder charset.TestConformancePercentEncodeLegacy charset.TestEncoderStreaming"},
	{"B14", "single-byte encodings", "charset", "charset.TestConformanceIndexes charset.TestConformanceEncodersOverAllCodePoints"},
	{"B15", "Shift_JIS, EUC-JP, ISO-2022-JP", "charset", "charset.TestConformanceIndexes charset.TestConformanceJIS0212 charset.TestConformanceKatakanaIndex charset.TestConformanceDecodersOverAllPairs charset.TestConformanceEncodersOverAllCodePoints"},
	{"B16", "GBK, gb18030", "charset", "charset.TestConformanceIndexes charset.TestConformanceGB18030Ranges charset.TestConformanceEncodersOverAllCodePoints"},
	{"B17", "Big5, EUC-KR, x-user-defined", "charset", "charset.TestConformanceIndexes charset.TestConformanceDecodersOverAllPairs charset.TestConformanceEncodersOverAllCodePoints"},
	{"B18", "replacement", "charset", "charset.TestConformanceHooks"},
	{"B19", "mark over override over transport over all else", "charset", "charset.TestDetermine"},
	{"B20", "which context decodes how", "charset", "charset.TestContextRules"},
	{"B21", "where a document's encoding comes from", "charset", "charset.TestDetermine"},
	{"B22", "no lone surrogates", "charset", ".TestURLTestData percent.TestLoneSurrogates"},
}

var formRows = []row{
	{"H1", "the parser, on bytes", "form", "form.TestURLEncodedParser form.TestAppendParse"},
	{"H2", "only UTF-8; _charset_ is an ordinary name", "form", "form.TestURLEncodedParser form.TestCharsetField"},
	{"H3", "the serializer", "form", "form.TestURLSearchParams"},
	{"H4", "the serializer with an encoding", "form", "form.TestLegacyEncodings"},
	{"H5", "the parser for text", "form", "form.TestURLEncodedParser form.TestParseText"},
}

var ecmaRows = []row{
	{"J1", "encodeURI", "percent", "percent.TestECMA262"},
	{"J2", "encodeURIComponent", "percent", "percent.TestECMA262"},
	{"J3", "errors of Encode", "percent", "percent.TestECMA262 percent.TestLoneSurrogates"},
	{"J4", "decodeURI", "percent", "percent.TestECMA262"},
	{"J5", "decodeURIComponent", "percent", "percent.TestECMA262"},
	{"J6", "errors of Decode", "percent", "percent.TestECMA262"},
	{"J7", "text that is no triplet passes", "percent", "percent.TestECMA262"},
	{"J8", "escape", "percent", "percent.TestECMA262"},
	{"J9", "unescape", "percent", "percent.TestECMA262"},
	{"J10", "plus signs mean nothing", "percent", "percent.TestECMA262"},
}

var variantRows = []row{
	{"K1", "a stray percent sign: itself, or an error", "percent", "percent.TestPercentVariants percent.TestAppendDecodeStrict"},
	{"K2", "notations that are no triplets", "percent", "percent.TestPercentVariants percent.TestNextNotation"},
	{"K3", "does a plus sign mean a space?", "percent", "percent.TestPercentVariants percent.TestPlus"},
	{"K4", "forms with %20", "form", "percent.TestPercentVariants form.TestSerializer"},
	{"K5", "the result is bytes", "percent", "percent.TestPercentVariants"},
	{"K6", "nothing names the encoding, but by option", "form", "form.TestCharsetField form.TestSerializer"},
	{"K7", "OAuth 1.0, encoding", "percent", "percent.TestPercentVariants"},
	{"K8", "OAuth 1.0, decoding", "percent", "percent.TestVariants"},
	{"K9", "ALPN ids", "percent", "percent.TestPercentVariants percent.TestIsALPN"},
	{"K10", "ext-value", "percent", "percent.TestPercentVariants percent.TestExtValue percent.TestExtValueText"},
	{"K11", "URI Template", "percent", "percent.TestPercentVariants"},
	{"K12", "CGI", "percent", "percent.TestPercentVariants percent.TestCGISet"},
	{"K13", "IRI to URI", "percent", "percent.TestVariants"},
	{"K14", "sets can be listed and compared", "percent", "percent.TestSets percent.TestPercentEncodeSets"},
	{"K15", "escapes of harmless characters", ".", ".TestURLTestData"},
	{"K16", "never twice; fixing up is another operation", "percent", "percent.FuzzDecodeEncode percent.FuzzVariants"},
	{"K17", "names say which variant it is", "percent", ""},
}

var rfcRows = []row{
	{"L1", "splitting; absent is not empty", "rfc3986", "rfc3986.TestConformanceGrammar"},
	{"L2", "URI, absolute-URI, relative-ref", "rfc3986", "rfc3986.TestConformanceGrammar rfc3986.TestAgainstGrammar"},
	{"L3", "scheme", "rfc3986", "rfc3986.TestConformanceProductions rfc3986.TestConformanceChars"},
	{"L4", "userinfo, host, port", "rfc3986", "rfc3986.TestConformanceProductions rfc3986.TestParseAuthority"},
	{"L5", "IPv6address, IPvFuture, IPv4address, reg-name", "rfc3986", "rfc3986.TestConformanceProductions rfc3986.TestIPv6AgainstGrammar"},
	{"L6", "the five forms of path", "rfc3986", "rfc3986.TestConformanceProductions"},
	{"L7", "query, fragment", "rfc3986", "rfc3986.TestConformanceProductions"},
	{"L8", "the characters of each component", "rfc3986", "rfc3986.TestConformanceChars rfc3986.TestAgainstGrammar"},
	{"L9", "reference resolution, strict and not", "rfc3986", "rfc3986.TestConformanceResolution rfc3986.TestRemoveDotSegments rfc3986.TestResolve rfc3986.FuzzResolve"},
	{"L10", "file name and extension", "rfc3986", "rfc3986.TestFileName"},
}
