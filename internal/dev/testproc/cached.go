package testproc

import (
	"fmt"
	"os"
	"path/filepath"
)

// Cached returns the path of what is below a folder of the user's cache, for tests of all checkouts: name names the folder and
// has to change with all that goes into it, and content is what is in it. Where it is not there, fill makes it in another
// folder, which is then renamed, so that one that exists is complete. Test binaries that want it at the same time wait for each
// other on Linux; elsewhere each makes it.
func Cached(name, content string, fill func(dir string) error) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder to keep %s in: %w", name, err)
	}
	dir := filepath.Join(cache, "urlmill-test", name)
	path := filepath.Join(dir, content)
	if exists(path) {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	unlock, err := lockFile(dir + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if exists(path) {
		return path, nil
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".fill-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp) // what is left there is only waste
	if err := fill(tmp); err != nil {
		return "", err
	}
	if !exists(filepath.Join(tmp, content)) {
		return "", fmt.Errorf("%s was made without %s", name, content)
	}
	if err := os.Rename(tmp, dir); err != nil && !exists(path) {
		return "", err
	}
	return path, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
