package iceberg

import (
	"fmt"
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

// keyOf returns what a location is within the table's.
func keyOf(base, location string) (string, error) {
	key, ok := strings.CutPrefix(location, base+"/")
	if !ok || key == "" {
		return "", fmt.Errorf("%s is not in the output folder, %s, where all files of the table have to be", location, base)
	}
	return key, nil
}
