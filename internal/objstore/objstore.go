// Package objstore has the contract by which objects are read from a store: list the keys from one on, and read the bytes of an
// object as it was when it was listed. Stores implement it beside their sinks, and the source of files reads from it; neither
// knows the other.
package objstore

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/urlmill/urlmill/config"
)

// Object is an object as a listing shows it.
type Object struct {
	Key  string
	Size int64
	// ETag is the store's name of this content under this key: another content has another one.
	ETag string
}

// Store is a bucket. Its methods may be called from several goroutines. They make requests again that may succeed then; their
// errors are final, and say what to do.
type Store interface {
	// List returns the objects, at most limit and at most a page of the store, whose keys begin with prefix and come after the key
	// after, in the order of the bytes of their keys. more reports whether there may be others behind them. The slice is the
	// caller's.
	List(ctx context.Context, prefix, after string, limit int) (page []Object, more bool, err error)
	// Dirs calls each with the directories below prefix, a page at a time and in the order of the bytes of their names, until it returns
	// false: what keys that begin with prefix have up to the next slash behind it, with the slash. A page may be empty.
	Dirs(ctx context.Context, prefix string, each func(dirs []string) bool) error
	// Stat returns the object of a key as a listing shows it, or [io/fs.ErrNotExist].
	Stat(ctx context.Context, key string) (Object, error)
	// Open returns the bytes of an object from off on, n of them, or all with n < 0. The error is [ErrChanged] if the store has
	// another content under the key, [io/fs.ErrNotExist] or [ErrChanged] if it has none, and [ErrUnreadable] if this object alone cannot
	// be read. The reader may end too early; then Open is called again with what is missing. It does not outlive ctx.
	Open(ctx context.Context, o Object, off, n int64) (io.ReadCloser, error)
}

// Queue has messages in which a store says that objects are new. What it says are hints: a message may be late, come twice, or never. Its
// methods may be called from several goroutines, but each message belongs to one at a time. Their errors say what to do.
type Queue interface {
	// Check finds out whether the queue is there and can be used. It changes nothing.
	Check(ctx context.Context) error
	// Receive returns messages, which no other receiver sees for hold. It may wait for some seconds, and return none.
	Receive(ctx context.Context, hold time.Duration) ([]*Message, error)
	// Hold keeps messages from other receivers for d from now on; with 0 they are anybody's at once.
	Hold(ctx context.Context, messages []*Message, d time.Duration) error
	// Delete removes messages.
	Delete(ctx context.Context, messages []*Message) error
}

// Message is a message of a [Queue]. One without keys that is not alien says nothing that a reader needs to know.
type Message struct {
	// ID and Handle are the queue's own names of the message, and of its having been received.
	ID, Handle string
	// Keys are those of objects of the bucket that are new.
	Keys []string
	// Alien says why the message is not meant for a reader of the bucket, such as that it is no notification; "" if it is.
	Alien string
}

// ErrChanged is the error of an object that is not the one any more that was listed.
var ErrChanged = errors.New("the store has another content under this key now")

// ErrUnreadable is the error of an object that cannot be read while others can: because of its own rights or key of encryption, or
// because it is archived.
var ErrUnreadable = errors.New("the object cannot be read")

// Options are those of a kind of store, bound to a section of the configuration of a source.
type Options interface {
	// CheckBucket returns what is wrong with the name of a bucket.
	CheckBucket(name string) error
	// Validate returns every problem, joined, each a [*pipeline.FieldError], without touching anything outside.
	Validate() error
	// Section returns the section that they are bound to.
	Section() config.Section
	// Open returns a bucket, without a request to it, and what is known of the requests that fail.
	Open(name string, log *slog.Logger) (Store, Trouble, error)
}

// Trouble is what is known of requests that fail and are made again. It is safe for concurrent use.
type Trouble interface {
	// Get returns since when requests have been failing, and the error; the zero time while none is.
	Get() (since time.Time, err error)
	// Retries returns how many were made again.
	Retries() int64
}

// Kind is a kind of store.
type Kind struct {
	// Scheme begins the addresses of its objects, such as s3://.
	Scheme string
	// Plain is another scheme of the same kind, "" for none; the name of a bucket given to [Options.Open] then has the scheme.
	Plain string
	// Depth is how many segments of an address name a bucket, such as 2 where an account is before it.
	Depth int
	// Name is that of the section of its options, and Doc a sentence about it.
	Name, Doc string
	// New returns its options with their defaults.
	New func() Options
}
