//go:build !core

package wire

import (
	"log/slog"

	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/azure"
	"github.com/urlmill/urlmill/sinks/store/bucket"
)

func init() {
	add("azure", func(r *Components) {
		r.stores["azure"] = func() Buckets { return &azureBuckets{azure.Default()} }
		r.buckets = append(r.buckets, objstore.Kind{
			Scheme: azure.Scheme, Depth: 2, Name: "azure", Doc: "How to reach the container of paths that are az://account/container/prefix.",
			New: func() objstore.Options { return azure.NewReader() },
		})
	})
}

// azureBuckets implements [Buckets].
type azureBuckets struct{ azure.Options }

func (b *azureBuckets) CheckPlace(location string) error { return azure.CheckPlace(location) }

func (b *azureBuckets) Open(log *slog.Logger, t *bucket.Trouble) store.Opener {
	o := b.Options
	o.Trouble, o.Log = t, log
	return azure.Opener(o)
}
