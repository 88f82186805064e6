//go:build !core

package wire

import (
	"log/slog"

	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/bucket"
	"github.com/urlmill/urlmill/sinks/store/s3"
)

func init() {
	add("s3", func(r *Components) {
		r.stores["s3"] = func() Buckets { return &s3Buckets{s3.Default()} }
		r.buckets = append(r.buckets, objstore.Kind{
			Scheme: s3.Scheme, Name: "s3", Doc: "How to reach the bucket of paths that are s3://bucket/prefix.",
			New: func() objstore.Options { return s3.NewReader() },
		})
	})
}

// s3Buckets implements [Buckets].
type s3Buckets struct{ s3.Options }

func (b *s3Buckets) CheckPlace(location string) error { return s3.CheckPlace(location) }

func (b *s3Buckets) Open(log *slog.Logger, t *bucket.Trouble) store.Opener {
	o := b.Options
	o.Trouble, o.Log = t, log
	return s3.Opener(o)
}
