package wire

import (
	"log/slog"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// Buckets are the options of places of a service.
type Buckets interface {
	// Section returns the section that they are bound to.
	Section() config.Section
	// Validate returns what is wrong with them, each a [*pipeline.FieldError].
	Validate() error
	// CheckPlace returns what is wrong with a location.
	CheckPlace(location string) error
	// Open returns what opens them. Requests that fail and are made again are noted in t.
	Open(log *slog.Logger, t *bucket.Trouble) store.Opener
	// Environ sets what a command without a configuration has from the environment.
	Environ()
	// Memory is what parts on their way take, in bytes.
	Memory() int64
}

// storeKind is a service that folders may be at.
type storeKind struct {
	name, what   string // of its part
	scheme, form string // of its locations
	doc          string // of its section
}

// stores has all of them, in the order of the reference.
var stores = []storeKind{
	{"s3", "S3", store.S3, "s3://bucket/prefix", "How to reach the buckets of folders that are s3://bucket/prefix."},
	{"gcs", "Google Cloud Storage", store.GCS, "gs://bucket/prefix", "How to reach the buckets of folders that are gs://bucket/prefix."},
	{"azure", "Azure Blob Storage", store.Azure, "az://account/container/prefix", "How to reach the accounts of folders that are az://account/container/prefix."},
}

// storeOf returns the service of a location, and false for a directory.
func storeOf(location string) (storeKind, bool) {
	scheme := store.Scheme(location)
	for _, k := range stores {
		if k.scheme == scheme {
			return k, true
		}
	}
	return storeKind{}, false
}

// newBuckets returns the defaults of all services that the binary has.
func (r Components) newBuckets() map[string]Buckets {
	all := map[string]Buckets{}
	for name, n := range r.stores {
		all[name] = n()
	}
	return all
}

// checkPlace returns what is wrong with the name of a folder in a bucket.
func (c *Config) checkPlace(location string) error {
	if k, ok := storeOf(location); ok && c.Buckets[k.name] != nil {
		return c.Buckets[k.name].CheckPlace(location)
	}
	return nil
}

// OpenStores returns what opens folders: directories, and places in buckets as the environment says.
func (r Components) OpenStores(log *slog.Logger) store.Opener {
	all := r.newBuckets()
	for _, b := range all {
		b.Environ()
	}
	return openWith(all, log, new(bucket.Trouble))
}

// openWith returns what opens folders.
func openWith(all map[string]Buckets, log *slog.Logger, t *bucket.Trouble) store.Opener {
	openers := map[string]store.Opener{}
	for name, b := range all {
		openers[name] = b.Open(log, t)
	}
	return func(location string, log *slog.Logger) (store.Store, error) {
		k, ok := storeOf(location)
		switch {
		case !ok:
			return store.Open(location, log)
		case openers[k.name] == nil:
			return nil, errWithout(k.name)
		}
		return openers[k.name](location, log)
	}
}
