package anatomy

import "github.com/urlmill/urlmill/urlcore"

// Style says what the anatomy is shown on. The zero value is plain text of any width, as for a file or a pipe.
type Style struct {
	// Color adds ANSI colours, for terminals.
	Color bool
	// Width is how many columns a line has; longer URLs go on in the next line. 0: any number.
	Width int
}

// ANSI attributes (SGR parameters, ECMA-48 §8.3.117).
const (
	dim     = "2"
	bold    = "1"
	alarm   = "1;31"
	warning = "33"
)

// colors are those of the parts of a URL.
var colors = map[urlcore.Part]string{
	urlcore.Scheme: "36", urlcore.Username: "35", urlcore.Password: "95", urlcore.Host: "32", urlcore.Port: "33",
	urlcore.Path: "94", urlcore.Query: "96", urlcore.Fragment: "90",
}

// paint returns text with an attribute. Text has to be safe for a terminal already.
func (s Style) paint(attribute, text string) string {
	if !s.Color || attribute == "" || text == "" {
		return text
	}
	return "\x1b[" + attribute + "m" + text + "\x1b[0m"
}
