package iceberg

import (
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/urlmill/urlmill/sinks/store"
)

// locationOf returns the location of a store as Iceberg has it. Nothing in it is escaped: readers take it as it is.
func locationOf(s store.Store) (string, error) {
	at := s.Location()
	if strings.Contains(at, "://") {
		return strings.TrimSuffix(at, "/"), nil
	}
	abs, err := filepath.Abs(at)
	if err != nil {
		return "", err
	}
	return "file://" + filepath.ToSlash(abs), nil
}

// keyOf returns what a location is within the table's. Others write the same place in other ways; see [place]. What is not
// within base as it is may be so with its escapes taken away, which some writers put there and most do not.
func keyOf(base, location string) (string, error) {
	within := place(base) + "/"
	key, ok := strings.CutPrefix(place(location), within)
	if !ok {
		if plain, err := url.PathUnescape(location); err == nil {
			key, ok = strings.CutPrefix(place(plain), within)
		}
	}
	if !ok || key == "" {
		return "", fmt.Errorf("%s is not in the output folder, %s, where all files of the table have to be", location, base)
	}
	return key, nil
}

// samePlace reports whether two locations are the same folder.
func samePlace(a, b string) bool {
	if place(a) == place(b) {
		return true
	}
	plain, err := url.PathUnescape(a)
	return err == nil && place(plain) == place(b)
}

// place writes a location in one way, whoever has written it: Hadoop makes file:/x of file:///x, and has a scheme s3a of its
// own for the same objects. What a scheme other than file stands for is not taken apart further, since a bucket may well have
// keys with two slashes.
func place(location string) string {
	scheme, rest, ok := strings.Cut(location, ":")
	switch {
	case !ok || scheme == "file":
		rest = strings.TrimPrefix(location, "file:")
		if host, found := strings.CutPrefix(rest, "//"); found {
			rest = strings.TrimPrefix(host, "localhost")
		}
		return "file://" + path.Clean("/"+rest)
	case scheme == "s3a", scheme == "s3n":
		scheme = "s3"
	}
	return scheme + ":" + strings.TrimSuffix(rest, "/")
}
