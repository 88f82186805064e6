package commit

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/urlmill/urlmill/sinks/store"
)

// Without a chain nobody knows whether the process of an unfinished file is dead: the file goes when nobody has added to it for a
// week.
func TestSweepWithoutChain(t *testing.T) {
	root := t.TempDir()
	other, own := store.NewLocal(root, store.System, quiet), store.NewLocal(root, store.System, quiet)
	begun := newChain(t, other)
	files := map[time.Duration]File{}
	for i, age := range []time.Duration{0, 6 * 24 * time.Hour, 8 * 24 * time.Hour} {
		files[age] = writeFile(t, begun, int64(i))
		at := time.Now().Add(-age)
		must(t, os.Chtimes(filepath.Join(root, files[age].Token), at, at))
	}
	must(t, own.Prepare(t.Context()), SweepWithoutChain(t.Context(), own, quiet))
	for age, f := range files {
		var gone *store.GoneError
		if err := other.Settle(t.Context(), []store.Pending{f.Pending()}); errors.As(err, &gone) != (age > abandoned) {
			t.Errorf("a file that is %v old: %v", age, err)
		}
	}
	must(t, other.Close(), own.Close())
}
