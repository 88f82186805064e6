//go:build !core

package wire

import (
	"log/slog"

	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/sinks/store/s3"
)

func init() { add("s3", func(r *Registry) { r.s3 = newBuckets }) }

func newBuckets(c settings.S3, log *slog.Logger) *buckets {
	options, trouble := s3Options(c), new(s3.Trouble)
	options.Trouble, options.Log = trouble, log
	return &buckets{
		open: s3.Opener(options), validate: options.Validate, trouble: trouble,
		place: func(location string) error {
			_, _, err := s3.ParseLocation(location)
			return err
		},
	}
}

func s3Options(c settings.S3) s3.Options {
	return s3.Options{
		Endpoint: c.Endpoint, Region: c.Region, Addressing: c.Addressing, Profile: c.Profile,
		Encryption: c.Encryption, KMSKey: c.KMSKey, StorageClass: c.StorageClass, Checksum: c.Checksum,
		PartSize: c.PartSize, Parallel: c.Parallel, Attempts: c.Attempts, Timeout: c.Timeout,
	}
}
