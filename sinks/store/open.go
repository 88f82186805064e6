package store

import (
	"log/slog"
	"path/filepath"
)

// Opener returns the store of a location, without looking at it yet.
type Opener func(location string, log *slog.Logger) (Store, error)

// Open is the usual [Opener]: a location is the path of a directory.
func Open(location string, log *slog.Logger) (Store, error) {
	return NewLocal(location, System, log), nil
}

// Rel returns the location target as seen from the location base, with slashes, so that both can be moved together;
// target itself if there is no way from one to the other.
func Rel(base, target string) string {
	rel, err := filepath.Rel(base, target)
	if err != nil {
		return target
	}
	return filepath.ToSlash(rel)
}

// Join is the inverse of Rel.
func Join(base, rel string) string {
	if path := filepath.FromSlash(rel); !filepath.IsAbs(path) {
		return filepath.Join(base, path)
	}
	return rel
}
