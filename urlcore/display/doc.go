// Package display renders URLs for people, by section 4.8 of the URL Standard
// (https://url.spec.whatwg.org/#url-rendering): for address bars, permission prompts, link lists and reports,
// wherever somebody decides by a URL whom to trust.
//
// [Render] and [String] take a parsed URL. What they never show is the username and password. The options
// leave out more: the scheme, everything after the host, a leading www or m, all labels below the
// registrable domain.
//
// Where space is limited the text is cut so that the registrable domain stays whole: first the end of the
// path, query and fragment goes, then all of them, then labels of the host from the lowest on, so that
// examplecorp.com.evil.example becomes …com.evil.example and never examplecorp.com…. A text may therefore be
// longer than the limit.
//
// Hosts are shown in Unicode. Labels with characters that cannot be seen, or that look like a delimiter of
// URLs, stay A-labels ("xn--…"). [Inspect] gives hints on names that may be meant to be mistaken for others;
// whether to warn or to show A-labels is the caller's choice. Escapes in the other parts are decoded where the
// result is a visible, harmless character. So, but for the credentials and what the options leave out, the
// text is still a URL that parses to an equivalent of the original.
//
// Text with characters of right-to-left scripts is wrapped in a left-to-right isolate, and so is the host in
// it, since otherwise parts of the path could trade places with parts of the host.
package display
