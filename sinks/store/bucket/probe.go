package bucket

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/urlmill/urlmill/sinks/store"
)

// probeContent is what the upload of a probe has in it.
const probeContent = "urlmill looks whether uploads can be published here\n"

// probe makes an upload in the way of a data file, and looks at every step whether the server does what it has to. That
// two processes cannot create the same object is for [commit.Chain.Probe] to find out.
func (s *Store) probe(ctx context.Context, run string) error {
	name := path.Join(tmpName, run, "probe")
	id, err := s.createUpload(ctx, run, name)
	if err != nil {
		return err
	}
	f := &file{store: s, name: name, upload: id, ctx: ctx}
	part, err := f.sendPart(1, []byte(probeContent))
	pending := store.Pending{Name: name, Token: id, Bytes: int64(len(probeContent))}
	if err == nil {
		err = s.probeUpload(ctx, pending, []Part{part})
	}
	last := context.WithoutCancel(ctx)
	if err != nil {
		return errors.Join(err, s.client.Abort(last, name, id), s.Delete(last, name))
	}
	return s.Delete(last, name)
}

// probeUpload looks at an upload that has its only part, and publishes it.
func (s *Store) probeUpload(ctx context.Context, f store.Pending, parts []Part) error {
	up, err := s.client.Parts(ctx, f.Name, f.Token)
	if err != nil && !errors.Is(err, ErrNoUpload) {
		return err
	}
	if up.bytes() != f.Bytes || !same(parts, up.Parts) {
		return s.unfit("does not say of an upload which parts it has, so that nobody could complete one after a crash")
	}
	if err := s.published(ctx, f); err == nil {
		return s.unfit("shows files before they are complete")
	} else if !isMissing(err) {
		return err
	}
	found := false
	if err := s.client.Uploads(ctx, path.Dir(f.Name), func(u Upload) { found = found || u.ID == f.Token }); err != nil {
		return err
	}
	if !found {
		s.log.Warn("the server does not list unfinished uploads, so that those of processes that were killed stay; give the bucket a lifecycle rule that aborts them after seven days",
			"location", s.Location())
	}
	for _, what := range []string{"completes no upload", "completes no upload that was completed, so that nobody could do it again after a crash"} {
		if err := s.publish(ctx, f); err != nil {
			return errors.Join(s.unfit(what), err)
		}
	}
	if err := s.published(ctx, f); err != nil {
		return errors.Join(s.unfit("does not have a file after it was completed twice"), err)
	}
	return nil
}

func (s *Store) unfit(what string) error {
	return fmt.Errorf("the %s server of %s %s: nothing can be delivered there safely; give another one (%s lists servers that were tried), or a directory",
		s.service.Name, s.Location(), what, s.service.Docs)
}
