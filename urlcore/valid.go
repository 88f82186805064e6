package urlcore

// IsValidURLString reports whether input may be written as a URL: whether it is a valid URL string, with
// base as the base URL, or nil. Many inputs that parse are not valid.
//
// The standard's writing requirements agree with its parser: what they allow is what parses without any
// validation error, so that is how it is found out.
//
// https://url.spec.whatwg.org/#valid-url-string
func IsValidURLString(input string, base *URL) bool {
	p := Parser{CollectErrors: true}
	return p.parse(stringBytes(input), base) && len(p.ValidationErrors()) == 0
}
