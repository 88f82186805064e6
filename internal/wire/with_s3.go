//go:build !core

package wire

import (
	"log/slog"

	"github.com/urlmill/urlmill/internal/bucket"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/s3"
)

func init() {
	add("s3", func(r *Components) {
		r.s3 = func() Buckets { return &buckets{s3.Default()} }
		r.buckets = append(r.buckets, bucket.Kind{
			Scheme: s3.Scheme, Name: "s3", Doc: "How to reach the bucket of paths that are s3://bucket/prefix.",
			New: func() bucket.Options { return s3.NewReader() },
		})
	})
}

// buckets implements [Buckets].
type buckets struct{ s3.Options }

func (b *buckets) CheckPlace(location string) error {
	_, _, err := s3.ParseLocation(location)
	return err
}

func (b *buckets) Open(log *slog.Logger) (store.Opener, Trouble) {
	o, trouble := b.Options, new(s3.Trouble)
	o.Trouble, o.Log = trouble, log
	return s3.Opener(o), trouble
}

func (b *buckets) Memory() int64 { return int64(b.Parallel) * b.PartSize }
