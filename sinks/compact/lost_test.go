package compact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// A merged file is lost between the record of its compaction and its own name: the files that it was made of are there and
// count, and the next compaction says so and merges them.
func TestLostBeforeItsName(t *testing.T) {
	d, want := newDisk(t, 3)
	created := false
	first := d.Process()
	_, _ = compactOn(storetest.Wrap(first, func(c storetest.Call) error {
		if created {
			first.Kill()
			return storetest.ErrDead
		}
		created = c.Op == "link" && strings.HasSuffix(c.Path, "/"+commit.CompactionsDir+"/00000000000000000001.json")
		return nil
	}))
	if !created || first.Alive() {
		t.Fatal("it makes other calls than this test knows")
	}
	lost := 0
	for line := range strings.SplitSeq(d.Tree(), "\n") {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.Contains(name, "compact1-") && strings.HasSuffix(name, ".tmp") {
			must(t, d.Process().Remove(name))
			lost++
		}
	}
	if lost == 0 {
		t.Fatalf("no merged file is unfinished:\n%s", d.Tree())
	}
	if got := rowsOf(t, d, snapshotOf(t, d)); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("what counts is %v, want %v", got, want)
	}
	if _, err := compactOn(d.Process()); err != nil {
		t.Fatalf("the next one: %v\n%s", err, d.Tree())
	}
	if err := done(t, d, want); err != nil {
		t.Fatalf("%v\n%s", err, d.Tree())
	}
	record, err := d.Process().ReadFile(rowsDir + "/" + commit.CompactionsDir + "/00000000000000000002.json")
	must(t, err)
	if n := strings.Count(string(record), "compact1-"); n != lost || !strings.Contains(string(record), `"undone":[`) {
		t.Errorf("the next compaction has %s, and %d files were lost", record, lost)
	}
}
