package compact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/commit/verify"
	"github.com/urlmill/urlmill/sinks/sinktest"
	"github.com/urlmill/urlmill/sinks/store"

	"github.com/urlmill/urlmill/sinks/parquet"
)

// Each fault of a compacted output is found, under its name.
func TestVerifyFindsFaults(t *testing.T) {
	change := func(f func(c *commit.Compaction)) func(*table) {
		return func(o *table) { o.change(1, f) }
	}
	for name, c := range map[string]struct {
		do   func(o *table)
		want []commit.Kind
	}{
		"nothing":           {func(*table) {}, nil},
		"a merged file":     {func(o *table) { must(o.t, os.Remove(o.files()[0])) }, []commit.Kind{verify.MissingFile}},
		"a replaced file":   {func(o *table) { o.restore() }, []commit.Kind{verify.ReplacedFile}},
		"rows":              {change(func(c *commit.Compaction) { c.Groups[0].File.Rows-- }), []commit.Kind{verify.WrongRows, verify.WrongRows}},
		"a row more by one": {change(func(c *commit.Compaction) { c.Groups[0].Replaces[0].Rows-- }), []commit.Kind{verify.WrongCompaction}},
		"positions":         {change(func(c *commit.Compaction) { c.Groups[0].Positions[0].Next -= 10 }), []commit.Kind{verify.WrongCompaction}},
		"another lane":      {change(func(c *commit.Compaction) { c.Groups[0].Positions[0].Lane = "clicks/7" }), []commit.Kind{verify.WrongCompaction, verify.WrongCompaction, verify.WrongCompaction}},
		"replaced nothing":  {change(func(c *commit.Compaction) { c.Groups[0].Replaces[1].Name = "x.parquet" }), []commit.Kind{verify.MissingFile, verify.WrongCompaction, verify.WrongRows}},
		"left one out": {
			change(func(c *commit.Compaction) { c.Groups[0].Replaces = c.Groups[0].Replaces[1:] }),
			[]commit.Kind{verify.MissingFile, verify.WrongRows},
		},
		"a damaged record": {func(o *table) {
			must(o.t, os.WriteFile(o.compaction(1), []byte("{"), 0o600))
		}, []commit.Kind{commit.DamagedRecord, verify.MissingFile, verify.MissingFile, verify.MissingFile, verify.StrayFile}},
		"not done": {func(o *table) {
			must(o.t, os.Remove(filepath.Join(o.dir, commit.CompactionsDir, "00000000000000000001.done")))
			o.restore()
		}, []commit.Kind{verify.UnfinishedCompaction}},
	} {
		t.Run(name, func(t *testing.T) {
			o := newTable(t)
			o.write(lanes[0], sinktest.Clicks(), 3, parquet.Options{})
			kept, err := os.ReadFile(o.files()[1])
			must(t, err)
			o.first, o.content = o.files()[1], kept
			o.compact()
			c.do(o)
			var kinds []commit.Kind
			problems := o.verify().Problems
			for _, p := range problems {
				kinds = append(kinds, p.Kind)
			}
			slices.Sort(kinds)
			if !slices.Equal(kinds, c.want) {
				t.Errorf("want %v, got %+v", c.want, problems)
			}
		})
	}
}

// Repairing ends a compaction whose process has died.
func TestRepair(t *testing.T) {
	o := newTable(t)
	o.write(lanes[0], sinktest.Clicks(), 3, parquet.Options{})
	content, err := os.ReadFile(o.files()[1])
	must(t, err)
	o.first, o.content = o.files()[1], content
	o.compact()
	must(t, os.Remove(filepath.Join(o.dir, commit.CompactionsDir, "00000000000000000001.done")))
	o.restore()
	must(t, verify.Repair(t.Context(), verify.Options{Root: store.NewLocal(o.dir, store.System, quiet), Open: store.Open, Log: quiet}))
	if r := o.verify(); !r.OK || len(o.files()) != 1 {
		t.Errorf("%+v, %v", r.Problems, o.files())
	}
}

func (o *table) compaction(n int) string {
	return filepath.Join(o.dir, commit.CompactionsDir, fmt.Sprintf("%020d.json", n))
}

// change writes a record of a compaction anew.
func (o *table) change(n int, f func(*commit.Compaction)) {
	o.t.Helper()
	content, err := os.ReadFile(o.compaction(n))
	must(o.t, err)
	var c commit.Compaction
	must(o.t, json.Unmarshal(content, &c))
	f(&c)
	changed, err := json.Marshal(c)
	must(o.t, err)
	if bytes.Equal(bytes.TrimSpace(changed), bytes.TrimSpace(content)) {
		o.t.Fatal("nothing was changed")
	}
	must(o.t, os.WriteFile(o.compaction(n), changed, 0o600))
}

// restore puts a file there that was replaced.
func (o *table) restore() {
	o.t.Helper()
	must(o.t, os.WriteFile(o.first, o.content, 0o600))
}
