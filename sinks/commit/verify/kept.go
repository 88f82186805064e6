package verify

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
)

// findKept adds the files that lanes keep beside those with rows, such as the keys that dedupe knows, to those that are to be checked.
// The last record of a lane names one of them, which lists the others. One that no list has does no harm.
func (v *verifier) findKept(ctx context.Context) error {
	for _, r := range v.kept {
		all := []pipeline.Kept{pipeline.Kept(*r.Kept)}
		if v.Kept != nil {
			o, err := v.Root.Open(ctx, r.Kept.Key(r.Lane))
			if isMissing(err) { // checkFile says so
				o = nil
			} else if err != nil {
				return err
			}
			if o != nil {
				listed, err := v.Kept(o, all[0])
				if err != nil {
					v.problem(WrongChecksum, v.keptFile(r, all[0]), "it cannot be read: %v", err)
				} else {
					all = listed
				}
				if err := errors.Join(o.Close(), ctx.Err()); err != nil {
					return fmt.Errorf("%s: %w", r.Kept.Key(r.Lane), err)
				}
			}
		}
		for _, k := range all {
			v.files = append(v.files, v.keptFile(r, k))
		}
	}
	return nil
}

func (v *verifier) keptFile(r *commit.Record, k pipeline.Kept) named {
	f := commit.File{Name: path.Join(commit.KeptDir, r.Lane, k.Name), Bytes: k.Bytes, Checksum: k.Checksum}
	return named{File: f, lane: r.Lane, first: r.First, next: r.Next}
}
