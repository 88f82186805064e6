package config

import (
	"regexp"
	"slices"
	"strings"
)

// urlForm is how a place elsewhere is written, also with a slash too few. A letter alone before the colon is a drive of Windows.
var urlForm = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+):/`)

// services are where folders can be, by how else their places are written.
var services = []struct {
	name, form string
	others     []string
}{
	{"S3", "s3://bucket/prefix", []string{"s3", "s3a", "s3n"}},
	{"Google Cloud Storage", "gs://bucket/prefix", []string{"gs", "gcs"}},
	{"Azure Blob Storage", "az://account/container/prefix", []string{"az", "azure", "abfs", "abfss", "wasb", "wasbs"}},
}

// Misplaced returns what is wrong with a text that would be opened as the path of a folder or file with a strange name, although it
// is the address of a place elsewhere, and what would be right; both are "" for a path, and with buckets for a place in one. A folder that
// is called so can be given as ./s3:/x.
func Misplaced(place string, buckets bool) (reason, advice string) {
	m := urlForm.FindStringSubmatch(place)
	if m == nil {
		return "", ""
	}
	scheme := strings.ToLower(m[1])
	var forms []string
	for _, s := range services {
		own := s.form[:len("s3://")]
		switch {
		case !buckets:
		case strings.HasPrefix(place, own):
			return "", ""
		case slices.Contains(s.others, scheme):
			return "is not how a place on " + s.name + " is written", "give " + s.form + ", in small letters and with two slashes"
		}
		forms = append(forms, s.form)
	}
	switch {
	case scheme == "file":
		return "is a URL, and not a path", "give the path alone, such as /var/log/x"
	case buckets:
		return "is an address that urlmill cannot reach", "give a folder, " + strings.Join(forms[:len(forms)-1], ", ") + " or " + forms[len(forms)-1]
	}
	return "is an address elsewhere, and only a path of this machine will do", "give one such as /var/lib/urlmill/x"
}
