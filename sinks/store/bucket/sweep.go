package bucket

import (
	"context"
	"errors"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/urlmill/urlmill/sinks/store"
)

// runOfName finds the run in the name of a file, which ends with it and a number.
var runOfName = regexp.MustCompile(`-([0-9a-f]{8})\d+\.[^./]+$`)

// Sweep implements [store.Files]. No run is ever called dead: a process that does not answer may be asleep, and a
// request that it made may still be on its way. Uploads below the prefix are only looked at if a claim says that they
// belong here, and not to another output that is somewhere below.
func (s *Store) Sweep(ctx context.Context, garbage func(store.Leftover) bool) error {
	runs, err := s.claims(ctx)
	if err != nil {
		return err
	}
	delete(runs, s.Run())
	left := map[string]int{}
	if err := s.client.Uploads(ctx, ".", func(u Upload) {
		s.sweepProbe(ctx, u)
		m := runOfName.FindStringSubmatch(u.Name)
		if m == nil {
			return
		}
		if _, ours := runs[m[1]]; ours && !s.sweepUpload(ctx, u, m[1], garbage) {
			left[m[1]]++
		}
	}); err != nil {
		return err
	}
	s.sweepClaims(ctx, runs, left)
	return ctx.Err()
}

// claims returns the runs that write here, and when they last said so.
func (s *Store) claims(ctx context.Context) (map[string]time.Time, error) {
	runs := map[string]time.Time{}
	err := s.client.List(ctx, tmpName, "", true, func(o Info) {
		run, _, ok := strings.Cut(strings.TrimPrefix(o.Key, tmpName+"/"), "/")
		if ok && runs[run].Before(o.Modified) {
			runs[run] = o.Modified
		}
	})
	return runs, err
}

// sweepUpload returns false if the upload stays.
func (s *Store) sweepUpload(ctx context.Context, u Upload, run string, garbage func(store.Leftover) bool) bool {
	f := store.Leftover{Pending: store.Pending{Name: path.Base(u.Name), Token: u.ID}, Run: run, Modified: u.Begun}
	up, err := s.client.Parts(ctx, u.Name, u.ID)
	if errors.Is(err, ErrNoUpload) {
		return true
	}
	if err == nil {
		f.Bytes = up.bytes()
		if up.Modified.After(f.Modified) {
			f.Modified = up.Modified
		}
	}
	return garbage(f) && s.abortOf(ctx, u)
}

// abortOf removes an upload of another process, and returns false if it cannot.
func (s *Store) abortOf(ctx context.Context, u Upload) bool {
	err := s.client.Abort(ctx, u.Name, u.ID)
	if err != nil {
		s.log.Warn("cannot abort an unfinished upload of another process", "error", err)
	}
	return err == nil
}

// sweepProbe removes the upload of a probe that did not come to its end.
func (s *Store) sweepProbe(ctx context.Context, u Upload) {
	if strings.HasPrefix(u.Name, tmpName+"/") && s.Now().Sub(u.Begun) >= claimEvery {
		s.abortOf(ctx, u)
	}
}

// sweepClaims removes the marks of runs that seem to be over, and whatever else they have left beside them.
func (s *Store) sweepClaims(ctx context.Context, runs map[string]time.Time, left map[string]int) {
	for run, at := range runs {
		if left[run] > 0 || s.Now().Sub(at) < claimLasts {
			continue
		}
		entries, err := s.List(ctx, path.Join(tmpName, run), "")
		for _, e := range entries {
			if !e.Dir && err == nil {
				err = s.Delete(ctx, path.Join(tmpName, run, e.Name))
			}
		}
		if err != nil {
			s.log.Warn("cannot remove the mark of a process that is over", "key", s.URL(path.Join(tmpName, run)), "error", err)
		}
	}
}
