package store

import (
	"log/slog"
	"path"
	"path/filepath"
	"strings"
)

// Opener returns the store of a location, without looking at it yet.
type Opener func(location string, log *slog.Logger) (Store, error)

// Open is the usual [Opener]: a location is the path of a directory.
func Open(location string, log *slog.Logger) (Store, error) {
	return NewLocal(location, System, log), nil
}

// What the locations begin with that packages s3, gcs and azure open: s3://bucket/prefix, gs://bucket/prefix and
// az://account/container/prefix.
const (
	S3    = "s3://"
	GCS   = "gs://"
	Azure = "az://"
)

// Scheme returns what a location in a bucket begins with, "" for a directory.
func Scheme(location string) string {
	for _, s := range []string{S3, GCS, Azure} {
		if strings.HasPrefix(location, s) {
			return s
		}
	}
	return ""
}

// Place returns a location such that it is the same from whatever directory it is named.
func Place(location string) string {
	if _, _, isURL := cutURL(location); isURL || location == "" {
		return location
	}
	if abs, err := filepath.Abs(location); err == nil {
		return abs
	}
	return location
}

// Rel returns the location target as seen from the location base, with slashes, so that both can be moved together;
// target itself if there is no way from one to the other. URLs have one if they begin with the same scheme and host.
func Rel(base, target string) string {
	root, from, isURL := cutURL(base)
	other, to, _ := cutURL(target)
	if root != other {
		return target
	}
	if !isURL {
		from, to = base, target
	}
	rel, err := filepath.Rel(from, to)
	if err != nil {
		return target
	}
	return filepath.ToSlash(rel)
}

// Join is the inverse of Rel.
func Join(base, rel string) string {
	_, _, isURL := cutURL(rel)
	local := filepath.FromSlash(rel)
	if isURL || filepath.IsAbs(local) {
		return rel
	}
	if root, dir, isURL := cutURL(base); isURL {
		return root + strings.TrimSuffix(path.Join(dir, rel), "/")
	}
	return filepath.Join(base, local)
}

// cutURL cuts a URL into what its path is relative to and the path, which begins with a slash.
func cutURL(location string) (root, dir string, ok bool) {
	scheme, rest, ok := strings.Cut(location, "://")
	if !ok {
		return "", "", false
	}
	host, dir, _ := strings.Cut(rest, "/")
	return scheme + "://" + host, path.Join("/", dir), true
}
