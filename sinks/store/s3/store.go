package s3

import (
	"context"
	"log/slog"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// service is what messages say of S3.
var service = bucket.Service{
	Name: "S3", Section: "s3", Docs: "docs/s3.md", MaxParts: maxParts,
	Kept: "nothing but urlmill may abort its uploads; a lifecycle rule of the bucket may do so after seven days, see docs/s3.md",
}

// Store is a prefix in a bucket. Make one with an [Opener].
type Store struct {
	*bucket.Store
	client *s3.Client
	opts   Options
}

// Opener returns an opener of places on S3, and of directories for other locations. The stores share their
// connections and the number of parts that are on their way.
func Opener(o Options) store.Opener {
	o = o.withDefaults()
	shared := bucket.NewShared(o.Options)
	api := sync.OnceValues(func() (*s3.Client, error) { return newClient(context.Background(), o) })
	return func(location string, log *slog.Logger) (store.Store, error) {
		if !strings.HasPrefix(location, Scheme) {
			return store.Open(location, log)
		}
		name, prefix, err := ParseLocation(location)
		if err != nil {
			return nil, err
		}
		a, err := api()
		if err != nil {
			return nil, err
		}
		c := &client{Place: bucket.Place{Root: strings.TrimSuffix(Scheme+name, "/"), Prefix: prefix}, api: a, opts: o, bucket: name}
		return &Store{bucket.New(c, c.Place, service, o.Options, log, shared), a, o}, nil
	}
}
