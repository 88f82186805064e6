package dedupe

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/vfs"
)

// TestForgottenJournalStaysAway loses the power after a lane has given up a commit and then made it without a journal, its
// row being a duplicate of one that another lane had not committed. The journal that was given up must not come back: its key
// would be that of a committed row, and the other lane's row, read again, a duplicate of nothing.
func TestForgottenJournalStaysAway(t *testing.T) {
	for _, approximate := range []*Approximate{nil, {Memory: 1 << 20, Keys: 1000}} {
		fs := vfs.NewStrictMem()
		opts := Options{Path: "/seen", Mode: Drop, KeyColumn: "url_key", Identity: "test", Memory: 8 << 20, Approximate: approximate}
		const gaveUp, other = 0, 1
		d := &disk{t: t, lanes: []*diskLane{{input: []row{{key: 1}}}, {input: []row{{key: 1}}}}}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		p, err := begin(d, fs, opts)
		must(err)
		must(p.open(gaveUp))
		must(p.write(gaveUp, 1))
		d.crash = 3 // journal, journaled, inner commit
		if err := p.commit(gaveUp); !errors.Is(err, errCrash) {
			t.Fatalf("the commit ended with %v", err)
		}
		d.crash, d.dead = 0, false
		must(p.abandon(gaveUp))
		must(p.open(gaveUp))
		must(p.open(other))
		must(p.write(other, 1))
		must(p.write(gaveUp, 1))
		must(p.commit(gaveUp))
		if n := len(d.lanes[gaveUp].committed); n != 0 {
			t.Fatalf("%d rows beside that of the other lane, want none", n)
		}

		fs.SetIgnoreSyncs(true)
		_ = p.sink.state.db.Close()
		fs.ResetToSyncedState()
		fs.SetIgnoreSyncs(false)

		p, err = begin(d, fs, opts)
		must(err)
		must(p.open(other))
		must(p.write(other, 1))
		must(p.commit(other))
		must(p.sink.Close())
		checkTruth(t, d, opts.Mode)
	}
}
