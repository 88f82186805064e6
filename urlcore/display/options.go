package display

// Form says how much of a URL is shown. URLs without a host, or with an empty one, have only two forms:
// [Full], and for the others their scheme with its colon.
type Form uint8

const (
	// Full is everything but the credentials.
	Full Form = iota
	// Origin is scheme, host and port.
	Origin
	// Host is the host alone.
	Host
	// ShortHost is the host without a first label www or m, unless that is part of the registrable domain.
	ShortHost
	// Domain is the registrable domain; hosts that have none, such as addresses, are shown whole.
	Domain
)

// Bidi says what happens to text with characters of right-to-left scripts.
type Bidi uint8

const (
	// Isolate wraps the text, and in it the host, in U+2066 and U+2069, which show it from left to right.
	Isolate Bidi = iota
	// Plain adds no controls, for callers that set the direction by other means, such as HTML's bdi element.
	Plain
)

// Options say how a URL is rendered. The zero value shows all of it.
type Options struct {
	Form Form
	// OmitScheme leaves out scheme, colon and slashes of URLs with a host, for places where only one scheme
	// is possible or an icon stands for it.
	OmitScheme bool
	// Limit is the width that the text should not exceed; 0 means that there is no limit. The registrable
	// domain, the port and, where it is shown, the scheme are never cut, even beyond the limit.
	Limit int
	// Measure returns the width of a text in the unit of Limit; a text must not become narrower by
	// characters at its end. Nil means [Columns].
	Measure func(text string) int
	// ASCIIHost shows the host as it is, with A-labels.
	ASCIIHost bool
	// ASCIISuspicious shows as A-labels the labels for which [Inspect] has a hint.
	ASCIISuspicious bool
	// KeepEscapes decodes no percent triplets.
	KeepEscapes bool
	// Bidi says what to do about right-to-left text.
	Bidi Bidi
}

// Span is a range of bytes of a text.
type Span struct{ Start, End int }

// Rendering is a URL made readable.
type Rendering struct {
	// Text is what to show.
	Text string
	// Host is where the host lies in Text, or what is left of it; empty if there is none.
	Host Span
	// Domain is where the registrable domain lies in Text, to be shown with more weight than the rest. Of
	// hosts that have none it is the whole host.
	Domain Span
	// Hints are what [Inspect] says about the host in Unicode, however it is shown.
	Hints Hint
	// Elided says that something was left out to meet the limit.
	Elided bool
}
