package s3

import (
	"context"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

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
	pages, seen := s3.NewListMultipartUploadsPaginator(s.client, &s3.ListMultipartUploadsInput{Bucket: &s.bucket, Prefix: s.dir(".")}), turns{}
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err == nil {
			err = seen.turn(pages.HasMorePages(), page.NextKeyMarker, page.NextUploadIdMarker)
		}
		if err != nil {
			return s.explain("ListMultipartUploads", "", err)
		}
		for _, u := range page.Uploads {
			s.sweepProbe(ctx, u)
			m := runOfName.FindStringSubmatch(aws.ToString(u.Key))
			if m == nil {
				continue
			}
			if _, ours := runs[m[1]]; ours && !s.sweepUpload(ctx, u, m[1], garbage) {
				left[m[1]]++
			}
		}
	}
	s.sweepClaims(ctx, runs, left)
	return ctx.Err()
}

// claims returns the runs that write here, and when they last said so.
func (s *Store) claims(ctx context.Context) (map[string]time.Time, error) {
	prefix := *s.dir(tmpName)
	runs := map[string]time.Time{}
	pages, seen := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: &prefix}), turns{}
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err == nil {
			err = seen.turn(pages.HasMorePages(), page.NextContinuationToken)
		}
		if err != nil {
			return nil, s.explain("ListObjectsV2", tmpName, err)
		}
		for _, o := range page.Contents {
			run, _, ok := strings.Cut(strings.TrimPrefix(aws.ToString(o.Key), prefix), "/")
			if at := aws.ToTime(o.LastModified); ok && runs[run].Before(at) {
				runs[run] = at
			}
		}
	}
	return runs, nil
}

// sweepUpload returns false if the upload stays.
func (s *Store) sweepUpload(ctx context.Context, u types.MultipartUpload, run string, garbage func(store.Leftover) bool) bool {
	name := strings.TrimPrefix(aws.ToString(u.Key), *s.dir("."))
	f := store.Leftover{
		Pending: store.Pending{Name: path.Base(name), Token: aws.ToString(u.UploadId)}, Run: run, Modified: aws.ToTime(u.Initiated),
	}
	up, err := s.listParts(ctx, store.Pending{Name: name, Token: f.Token})
	if code(err) == codeNoSuchUpload {
		return true
	}
	if err == nil {
		f.Bytes = up.bytes
		if up.modified.After(f.Modified) {
			f.Modified = up.modified
		}
	}
	if !garbage(f) {
		return false
	}
	if err := s.abort(ctx, name, f.Token); err != nil {
		s.log.Warn("cannot abort an unfinished upload of another process", "error", err)
		return false
	}
	return true
}

// sweepProbe removes the upload of a probe that did not come to its end.
func (s *Store) sweepProbe(ctx context.Context, u types.MultipartUpload) {
	name := strings.TrimPrefix(aws.ToString(u.Key), *s.dir("."))
	if !strings.HasPrefix(name, tmpName+"/") || s.now().Sub(aws.ToTime(u.Initiated)) < claimEvery {
		return
	}
	if err := s.abort(ctx, name, aws.ToString(u.UploadId)); err != nil {
		s.log.Warn("cannot abort an unfinished upload of another process", "error", err)
	}
}

// sweepClaims removes the marks of runs that seem to be over, and whatever else they have left beside them.
func (s *Store) sweepClaims(ctx context.Context, runs map[string]time.Time, left map[string]int) {
	for run, at := range runs {
		if left[run] > 0 || s.now().Sub(at) < claimLasts {
			continue
		}
		entries, err := s.List(ctx, path.Join(tmpName, run), "")
		for _, e := range entries {
			if !e.Dir && err == nil {
				err = s.Delete(ctx, path.Join(tmpName, run, e.Name))
			}
		}
		if err != nil {
			s.log.Warn("cannot remove the mark of a process that is over", "key", s.url(path.Join(tmpName, run)), "error", err)
		}
	}
}
