package commit

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store"
)

// KeptDir is the directory of files that records name beside those with rows, with a directory for each lane: the keys of rows that
// dedupe knows. Records name the last of them; which others count stands in that one, in the words of the component.
const KeptDir = "_seen"

// keptExt is what the names of those files end with.
const keptExt = "keys"

// Kept is the file of another component that a record names, as [pipeline.Kept].
type Kept struct {
	Name     string `json:"name"` // in the directory of the lane
	Bytes    int64  `json:"bytes"`
	Checksum string `json:"checksum"`
	Next     int64  `json:"next"`
}

// check returns what is wrong with the file that a record names.
func (k *Kept) check(r *Record) error {
	if k == nil {
		return nil
	}
	if _, _, ok := ParseFileName(k.Name); !ok || path.Ext(k.Name) != "."+keptExt || k.Bytes < 0 || k.Next > r.Next {
		return fmt.Errorf("%q is not the name of a file of keys for positions up to %d", k.Name, r.Next)
	}
	return store.CheckChecksum(k.Checksum)
}

// Key returns where the file is, for a lane by its name in the chain.
func (k *Kept) Key(lane string) string { return path.Join(KeptDir, lane, k.Name) }

// Kept returns the file that the last record names, nil if it names none.
func (l *Lane) Kept() *pipeline.Kept { return (*pipeline.Kept)(l.kept) }

// Keep has the next records name another file.
func (l *Lane) Keep(k pipeline.Kept) { l.kept = (*Kept)(&k) }

// KeptFiles returns the place of the files that records of the lane name.
func (l *Lane) KeptFiles() pipeline.KeptFiles {
	return &keptFiles{chain: l.chain, id: l.id, dir: path.Join(KeptDir, l.name)}
}

// keptFiles implements [pipeline.KeptFiles] by objects and files of the output.
type keptFiles struct {
	chain *Chain
	id    pipeline.LaneID
	dir   string
}

func (k *keptFiles) name(next int64) string {
	return FileName(k.id, max(next, 0), k.chain.root.Run(), k.chain.files.Add(1), keptExt)
}

func (k *keptFiles) Create(ctx context.Context, next int64, content []byte) (pipeline.Kept, error) {
	sum := store.NewChecksum()
	_, _ = sum.Write(content) // never fails
	kept := pipeline.Kept{Name: k.name(next), Bytes: int64(len(content)), Checksum: sum.String()}
	return kept, k.chain.root.Create(ctx, path.Join(k.dir, kept.Name), content)
}

func (k *keptFiles) Begin(ctx context.Context, next int64) (pipeline.KeptFile, error) {
	f, err := k.chain.root.Begin(ctx, path.Join(k.dir, k.name(next)))
	if err != nil {
		return nil, err
	}
	return &keptFile{File: f, root: k.chain.root}, nil
}

func (k *keptFiles) Open(ctx context.Context, name string) (pipeline.KeptObject, error) {
	return k.chain.root.Open(ctx, path.Join(k.dir, name))
}

func (k *keptFiles) List(ctx context.Context) ([]pipeline.KeptName, error) {
	entries, err := k.chain.root.List(ctx, k.dir, "")
	if err != nil {
		return nil, err
	}
	var names []pipeline.KeptName
	for _, e := range entries {
		if _, next, ok := ParseFileName(e.Name); ok && !e.Dir && path.Ext(e.Name) == "."+keptExt {
			names = append(names, pipeline.KeptName{Name: e.Name, Next: next})
		}
	}
	return names, nil
}

func (k *keptFiles) Modified(ctx context.Context, name string) (time.Time, error) {
	return k.chain.root.Modified(ctx, path.Join(k.dir, name))
}

func (k *keptFiles) Delete(ctx context.Context, name string) error {
	return k.chain.root.Delete(ctx, path.Join(k.dir, name))
}

// keptFile implements [pipeline.KeptFile].
type keptFile struct {
	store.File
	root store.Store
}

// Finish publishes the file before a record names it, unlike those with rows: readers of the output never look here, and no record
// may name a file that a process has yet to publish, as the state of a lane has to be whole when it is opened.
func (k *keptFile) Finish(ctx context.Context) (pipeline.Kept, error) {
	p, err := k.File.Finish()
	if err != nil {
		return pipeline.Kept{}, errors.Join(err, k.Discard())
	}
	files := []store.Pending{p}
	if err := k.root.Settle(ctx, files); err != nil {
		return pipeline.Kept{}, errors.Join(err, k.root.Discard(context.WithoutCancel(ctx), files))
	}
	if err := k.root.Publish(ctx, files); err != nil {
		return pipeline.Kept{}, err
	}
	return pipeline.Kept{Name: path.Base(p.Name), Bytes: p.Bytes, Checksum: p.Checksum}, nil
}
