package charset

import "fmt"

// Algorithm is one of the ways in which web standards turn bytes into text.
type Algorithm uint8

const (
	// Decode is the function [AppendDecode]: byte order marks win over the encoding that is given.
	Decode Algorithm = iota
	// UTF8Decode is [AppendUTF8WithBOM].
	UTF8Decode
	// UTF8DecodeWithoutBOM is [AppendUTF8].
	UTF8DecodeWithoutBOM
	// UTF8DecodeWithoutBOMOrFail is [AppendUTF8OrFail].
	UTF8DecodeWithoutBOMOrFail
	// IsomorphicDecode is [AppendIsomorphicDecode].
	IsomorphicDecode
	// ECMADecode is ECMA-262's Decode, which works on text with percent triplets: see package percent.
	ECMADecode
	// StreamDecode is a [Decoder] with options chosen by the caller.
	StreamDecode
)

// String returns the name of the algorithm in the standard that defines it.
func (a Algorithm) String() string {
	names := [...]string{
		"decode", "UTF-8 decode", "UTF-8 decode without BOM", "UTF-8 decode without BOM or fail",
		"isomorphic decode", "Decode (ECMA-262)", "TextDecoder",
	}
	if int(a) < len(names) {
		return names[a]
	}
	return fmt.Sprintf("Algorithm(%d)", uint8(a))
}

// IllFormed says what happens to bytes that are not text.
type IllFormed uint8

const (
	// Replaced: they become U+FFFD. There are none with [IsomorphicDecode].
	Replaced IllFormed = iota
	// MayFail: they become U+FFFD or are an error, as the caller likes.
	MayFail
	// Fails: they are an error.
	Fails
)

// Context is a place in the web's formats where bytes become text.
type Context uint8

// The contexts. Script, style and data formats that are not listed decode as the format's standard says;
// nearly all newer ones do what JSON does.
const (
	InHost           Context = iota // the host of a URL, after percent-decoding
	InPercentDecoded                // any other text that comes out of percent-decoding
	InForm                          // application/x-www-form-urlencoded
	InMultipart                     // multipart/form-data
	InDocumentCookie                // document.cookie
	InDecodeURI                     // decodeURI and decodeURIComponent
	InURL                           // the URL parser's input, where it comes as bytes
	InDataURL                       // the parts of a data: URL before its body
	InRefreshHeader                 // the Refresh header
	InMIMEType                      // a MIME type that comes as bytes
	InHeaderList                    // header values: "get, decode, and split"
	InAtob                          // atob
	InClassicScript                 // scripts that are no modules
	InModuleScript                  // modules and all other scripts that are not classic
	InJavaScriptURL                 // the body of a javascript: URL
	InJSON                          // JSON modules and responses
	InEventStream                   // text/event-stream
	InWebVTT                        // text tracks
	InManifest                      // web app manifests
	InHTML                          // HTML documents
	InXML                           // XML documents
	InCSS                           // style sheets
	InText                          // text/plain
	InMediaFragment                 // the fragment of a media URL
	InTextDecoder                   // the TextDecoder object of scripts
	InWebSocket                     // text messages of a WebSocket
	numberOfContexts
)

// Rule says how bytes become text in a context.
type Rule struct {
	Algorithm Algorithm
	IllFormed IllFormed
}

// rules is the table behind [Context.Rule].
var rules = [numberOfContexts]Rule{
	InHost:           {UTF8DecodeWithoutBOM, MayFail},
	InPercentDecoded: {UTF8DecodeWithoutBOM, Replaced},
	InForm:           {UTF8DecodeWithoutBOM, Replaced},
	InMultipart:      {UTF8DecodeWithoutBOM, Replaced},
	InDocumentCookie: {UTF8DecodeWithoutBOM, Replaced},
	InDecodeURI:      {ECMADecode, Fails},
	InURL:            {IsomorphicDecode, Replaced},
	InDataURL:        {IsomorphicDecode, Replaced},
	InRefreshHeader:  {IsomorphicDecode, Replaced},
	InMIMEType:       {IsomorphicDecode, Replaced},
	InHeaderList:     {IsomorphicDecode, Replaced},
	InAtob:           {IsomorphicDecode, Replaced},
	InClassicScript:  {Decode, Replaced},
	InModuleScript:   {UTF8Decode, Replaced},
	InJavaScriptURL:  {UTF8Decode, Replaced},
	InJSON:           {UTF8Decode, Replaced},
	InEventStream:    {UTF8Decode, Replaced},
	InWebVTT:         {UTF8Decode, Replaced},
	InManifest:       {UTF8Decode, Replaced},
	InHTML:           {Decode, Replaced},
	InXML:            {Decode, MayFail},
	InCSS:            {Decode, Replaced},
	InText:           {Decode, Replaced},
	InMediaFragment:  {UTF8DecodeWithoutBOMOrFail, Fails},
	InTextDecoder:    {StreamDecode, MayFail},
	InWebSocket:      {StreamDecode, Fails},
}

// Rule returns how bytes become text in c, and false if c is none of the constants.
func (c Context) Rule() (Rule, bool) {
	if c >= numberOfContexts {
		return Rule{}, false
	}
	return rules[c], true
}

// Source says what the encoding of a document was taken from. Smaller values win over greater ones.
type Source uint8

const (
	// FromBOM is a byte order mark at the start of the document.
	FromBOM Source = iota
	// FromOverride is the user's or the caller's explicit choice.
	FromOverride
	// FromTransport is the charset parameter that came with the document.
	FromTransport
	// FromPrescan is what the document says in its first bytes: meta, @charset, an XML declaration.
	FromPrescan
	// FromEnvironment is the charset attribute of the element that refers to the document.
	FromEnvironment
	// FromImpliedEnvironment is the encoding of the document that refers to it.
	FromImpliedEnvironment
	// FromDetection is a guess from the bytes.
	FromDetection
	// FromLocale is a guess from the user's language.
	FromLocale
	// FromDefault is UTF-8, there being nothing else.
	FromDefault
)

// Evidence is what is known of a document's encoding. What is not known is nil. Labels are turned into
// encodings beforehand, with [Lookup]; one that is unknown counts as not given.
type Evidence struct {
	// Start is the beginning of the document: three bytes, or all of it if it is shorter.
	Start []byte

	Override, Transport, Prescan    *Encoding
	Environment, ImpliedEnvironment *Encoding
	Detection, Locale               *Encoding
}

// Determine returns the encoding of a document, and what it was taken from. Callers for whom some evidence
// is costly call it without that first and look at the source.
//
// Encoding Standard section 6, which lets the byte order mark win; HTML Standard: "determining the character
// encoding".
func Determine(known Evidence) (*Encoding, Source) {
	if e, _ := SniffBOM(known.Start); e != nil {
		return e, FromBOM
	}
	order := [FromDefault]*Encoding{
		FromOverride:           known.Override,
		FromTransport:          known.Transport,
		FromPrescan:            known.Prescan,
		FromEnvironment:        known.Environment,
		FromImpliedEnvironment: known.ImpliedEnvironment,
		FromDetection:          known.Detection,
		FromLocale:             known.Locale,
	}
	for source, e := range order {
		if e != nil {
			return e, Source(source)
		}
	}
	return UTF8, FromDefault
}
