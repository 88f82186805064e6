package bucket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Staged keeps account of uploads by objects below _tmp, for services that do not: _tmp/<run>/<name> is an upload, and its
// identifier, for as long as there is an object in it. The first is a mark, and the client may keep parts there.
type Staged struct {
	Put    func(ctx context.Context, key string, content []byte) error
	List   func(ctx context.Context, dir, after string, deep bool, f func(Info)) error
	Head   func(ctx context.Context, key string) (Info, error)
	Delete func(ctx context.Context, key string) error
}

// mark is the name of the first object of an upload, which is before those of all parts.
const mark = "00000"

// PartKey returns the key of a part.
func PartKey(id string, number int32) string { return fmt.Sprintf("%s/%05d", id, number) }

// ID returns the identifier of an upload.
func ID(run, name string) string { return path.Join(tmpName, run, name) }

// Begin is for [Client.Begin].
func (s Staged) Begin(ctx context.Context, run, name string) (id string, again bool, err error) {
	id = ID(run, name)
	return id, false, s.Put(ctx, path.Join(id, mark), nil)
}

// CheckID refuses identifiers that are not of an upload of that name: they come from records that anybody may have written, and what
// is below them is removed.
func CheckID(name, id string) error {
	run, ok := strings.CutPrefix(strings.TrimSuffix(id, "/"+name), tmpName+"/")
	if !ok || !fs.ValidPath(id) || run == "" || strings.Contains(run, "/") || !strings.HasSuffix(id, "/"+name) {
		return fmt.Errorf("%q is not an upload of %s", id, name)
	}
	return nil
}

// RunOf returns the run that has written a data file, "" if the name is none of a data file.
func RunOf(name string) string {
	if m := runOfName.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

// Keys returns what there is of an upload, the mark first, or [ErrNoUpload].
func (s Staged) Keys(ctx context.Context, name, id string) ([]Info, error) {
	if err := CheckID(name, id); err != nil {
		return nil, err
	}
	var all []Info
	if err := s.List(ctx, id, "", false, func(o Info) { all = append(all, o) }); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: %w", id, ErrNoUpload)
	}
	return all, nil
}

// Abort is for [Client.Abort]. The mark goes last, so that what is left of an upload is found.
func (s Staged) Abort(ctx context.Context, name, id string) error {
	if err := CheckID(name, id); err != nil {
		return err
	}
	var all []string
	if err := s.List(ctx, id, "", true, func(o Info) { all = append(all, o.Key) }); err != nil {
		return err
	}
	for i := len(all) - 1; i >= 0; i-- {
		if err := s.Delete(ctx, all[i]); err != nil {
			return err
		}
	}
	return nil
}

// Disturbed removes what is left of an upload whose file is there, as after an answer that was lost, and else says that it cannot be
// completed.
func (s Staged) Disturbed(ctx context.Context, name, id string, size int64, err error) error {
	if o, unknown := s.Head(ctx, name); unknown == nil && o.Size == size {
		return s.Abort(ctx, name, id)
	}
	return errors.Join(ErrDisturbed, err)
}

// Uploads is for [Client.Uploads].
func (s Staged) Uploads(ctx context.Context, dir string, f func(Upload)) error {
	var all []Upload
	if err := s.List(ctx, tmpName, "", true, func(o Info) {
		id := path.Dir(o.Key)
		_, name, ok := strings.Cut(strings.TrimPrefix(id, tmpName+"/"), "/")
		if ok && (dir == "." || strings.HasPrefix(name, dir+"/")) && (len(all) == 0 || all[len(all)-1].ID != id) {
			all = append(all, Upload{Name: name, ID: id, Begun: o.Modified})
		}
	}); err != nil {
		return err
	}
	for _, u := range all {
		f(u)
	}
	return nil
}
