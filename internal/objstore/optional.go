package objstore

import (
	"context"
	"hash"
	"log/slog"
)

// What options and stores may have beside [Options] and [Store]; package file of sources asks for it.

// Notified is implemented by [Options] of a kind whose stores write into queues which objects are new.
type Notified interface {
	// Queue returns the key of the option that names a queue, and the queue, "" for none.
	Queue() (key, name string)
	// OpenQueue returns the queue with the notifications of a bucket, without a request to it.
	OpenQueue(bucket string, log *slog.Logger) (Queue, error)
}

// Summer is a [Store] that keeps checksums of whole objects, for those that are read in parts.
type Summer interface {
	// Sum returns the checksum of an object and what computes it, nil for an object that has none.
	Sum(ctx context.Context, o Object) (want []byte, sum hash.Hash, err error)
}

// Whole is a [Store] that may not be able to send parts of objects.
type Whole interface {
	// Whole reports whether an object was seen of which the store sends all bytes or none.
	Whole() bool
}

// KeyChecker is implemented by [Options] of a kind whose stores cannot list everything.
type KeyChecker interface {
	// CheckKeys returns what is wrong with the part of an address behind the bucket.
	CheckKeys(keys string) error
}
