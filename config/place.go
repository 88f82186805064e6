package config

import (
	"regexp"
	"strings"
)

// urlForm is how a place elsewhere is written, also with a slash too few. A letter alone before the colon is a drive of Windows.
var urlForm = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+):/`)

// Misplaced returns what is wrong with a text that would be opened as the path of a folder or file with a strange name, although it
// is the address of a place elsewhere, and what would be right; both are "" for a path, and with s3 for a place on S3. A folder that is
// called so can be given as ./s3:/x.
func Misplaced(place string, s3 bool) (reason, advice string) {
	m := urlForm.FindStringSubmatch(place)
	if m == nil || s3 && strings.HasPrefix(place, "s3://") {
		return "", ""
	}
	switch scheme := strings.ToLower(m[1]); {
	case scheme == "file":
		return "is a URL, and not a path", "give the path alone, such as /var/log/x"
	case s3 && (scheme == "s3" || scheme == "s3a" || scheme == "s3n"):
		return "is not how a place on S3 is written", "give s3://bucket/prefix, in small letters and with two slashes"
	case s3:
		return "is an address that urlmill cannot reach", "give a folder, or s3://bucket/prefix"
	}
	return "is an address elsewhere, and only a path of this machine will do", "give one such as /var/lib/urlmill/x"
}
