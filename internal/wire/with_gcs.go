//go:build !core

package wire

import (
	"log/slog"

	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/bucket"
	"github.com/urlmill/urlmill/sinks/store/gcs"
)

func init() {
	add("gcs", func(r *Components) {
		r.stores["gcs"] = func() Buckets { return &gcsBuckets{gcs.Default()} }
		r.buckets = append(r.buckets, objstore.Kind{
			Scheme: gcs.Scheme, Depth: 1, Name: "gcs", Doc: "How to reach the bucket of paths that are gs://bucket/prefix.",
			New: func() objstore.Options { return gcs.NewReader() },
		})
	})
}

// gcsBuckets implements [Buckets].
type gcsBuckets struct{ gcs.Options }

func (b *gcsBuckets) CheckPlace(location string) error { return gcs.CheckPlace(location) }

func (b *gcsBuckets) Open(log *slog.Logger, t *bucket.Trouble) store.Opener {
	o := b.Options
	o.Trouble, o.Log = t, log
	return gcs.Opener(o)
}
