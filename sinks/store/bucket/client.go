package bucket

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path"
	"strings"
	"time"
)

// Client does in one bucket what a vendor's protocol can. Its keys are relative to the place. An error says what was done, and
// what to do about it; it is one of [io/fs] and this package where a method says so. The methods may be called from several
// goroutines, and repeat requests that failed for a reason that may pass.
type Client interface {
	// Check finds out whether the bucket is there.
	Check(ctx context.Context) error
	// Create makes an object that must not be there: the error is [fs.ErrExist] if it is, also if an attempt has made it whose answer
	// was lost, and [errors.ErrUnsupported] where the server does not know such a request. Creation is kept with the object.
	Create(ctx context.Context, key string, content []byte, creation string) error
	// Put makes an object, whether or not it is there.
	Put(ctx context.Context, key string, content []byte) error
	// Head returns what is known of an object, or [fs.ErrNotExist].
	Head(ctx context.Context, key string) (Info, error)
	// Read returns the content of an object, or [fs.ErrNotExist].
	Read(ctx context.Context, key string) ([]byte, error)
	// ReadAt fills p with bytes of a version of an object, which has as many.
	ReadAt(ctx context.Context, key, version string, p []byte, off int64) error
	// List calls f with every object whose key begins with dir and a slash and is greater than after. Without deep, those further below
	// are one directory each. Directories may come after objects.
	List(ctx context.Context, dir, after string, deep bool, f func(Info)) error
	// Delete removes an object. One that is not there is no error.
	Delete(ctx context.Context, key string) error

	// Begin starts an upload, which is invisible until it is completed, and survives the process. Again says that it may have started
	// others, whose identifiers are not known.
	Begin(ctx context.Context, run, name string) (id string, again bool, err error)
	// Send sends a part. The first has the number 1. The error may be [ErrNoUpload].
	Send(ctx context.Context, name, id string, number int32, content []byte) (Part, error)
	// Parts returns the parts of an upload, in their order, or [ErrNoUpload].
	Parts(ctx context.Context, name, id string) (Uploaded, error)
	// Complete makes an upload the object of that name, which appears whole; size is that of all parts. The error is [ErrNoUpload]
	// or [ErrDisturbed] if another process may have done so, and [ErrUncertain] if the server does not say whether it did.
	Complete(ctx context.Context, name, id string, parts []Part, size int64) error
	// Abort removes an upload. One that is not there is no error.
	Abort(ctx context.Context, name, id string) error
	// Uploads calls f with every upload of the place; those below dir only.
	Uploads(ctx context.Context, dir string, f func(Upload)) error
}

// Errors of a [Client].
var (
	ErrNoUpload  = errors.New("no such upload")
	ErrDisturbed = errors.New("parts of the upload are missing")
	ErrUncertain = errors.New("the answer has no end")
)

// Info is what is known of an object, or of a directory.
type Info struct {
	Key      string // relative to the place
	Dir      bool
	Size     int64
	Version  string // of the content, for [Client.ReadAt]
	Creation string // of [Client.Create]; from Head alone
	Sum      string // of the content, by which parts are compared; "" where they are no objects
	Modified time.Time
}

// Part is a part of an upload.
type Part struct {
	Number int32
	Size   int64
	Tag    string // of its content and, where it is an object, of that
	Sum    string // that completing it asks for, or ""
}

// Uploaded is what the server has of an upload.
type Uploaded struct {
	Parts    []Part
	Modified time.Time // of the part that came last
}

// bytes returns the size of all parts.
func (u Uploaded) bytes() (n int64) {
	for _, p := range u.Parts {
		n += p.Size
	}
	return n
}

// Upload is an upload that is not completed.
type Upload struct {
	Name, ID string
	Begun    time.Time
}

// Service is what messages call a vendor's service, and where its options are.
type Service struct {
	Name    string // such as S3
	Section string // of the sink, or the path of a source's, such as source.file.s3
	Docs    string // the page, such as docs/s3.md
	// MaxParts is how many parts an upload may have.
	MaxParts int
	// NoEmptyParts says that a part has at least a byte, so that an empty file has none.
	NoEmptyParts bool
	// Kept says what may remove uploads that are not completed, besides urlmill.
	Kept string
}

// reads reports whether the options are those of a source.
func (s Service) reads() bool { return strings.Contains(s.Section, ".") }

// Option names an option as messages do.
func (s Service) Option(name string) string {
	if s.reads() {
		return s.Section + "." + name
	}
	return name + " in the section " + s.Section + " of the sink"
}

// Relief says how to make fewer requests.
func (s Service) Relief() string {
	if s.reads() {
		return "lower source.file.parallel, or list less often (source.file.poll)"
	}
	return "lower " + s.Option("parallel") + ", or commit less often (sink.roll)"
}

// Place is a prefix in a bucket.
type Place struct {
	Root   string // of the bucket, such as s3://bucket
	Prefix string // without a slash at its end; "" for the whole bucket
}

// Location is the URL of the place.
func (p Place) Location() string { return p.URL("") }

// URL returns where a key is, for messages.
func (p Place) URL(key string) string {
	if at := path.Join(p.Prefix, key); at != "" {
		return p.Root + "/" + at
	}
	return p.Root
}

// Key returns the whole key of one that is relative to the place.
func (p Place) Key(key string) string { return path.Join(p.Prefix, key) }

// Dir returns what the whole keys of everything in a directory begin with.
func (p Place) Dir(dir string) string {
	if at := path.Join(p.Prefix, dir); at != "." && at != "" {
		return at + "/"
	}
	return ""
}

// Options are those that all services have.
type Options struct {
	// PartSize is the size of parts in bytes. A file of up to as much is held in memory until it is finished, and a larger one's last
	// part.
	PartSize int64
	// Parallel is how many parts may be on their way at a time. Writing waits for one of them.
	Parallel int
	// Attempts is how often a request is made before it has failed.
	Attempts int
	// Timeout is the limit of one attempt.
	Timeout time.Duration

	// Trouble gets to know what fails and is tried again; nil for nobody who asks. Log is told of it.
	Trouble *Trouble
	Log     *slog.Logger

	// Pause says how long to wait after a failed attempt. Tests put another in place of the usual one.
	Pause func(attempt int) time.Duration
}

// Explained is an error with what to do about it.
type Explained struct {
	Text  string
	Kind  error // of io/fs or this package, or nil
	Cause error
}

func (e *Explained) Error() string { return e.Text }

// Unwrap returns the cause, and the kind.
func (e *Explained) Unwrap() []error {
	if e.Kind == nil {
		return []error{e.Cause}
	}
	return []error{e.Kind, e.Cause}
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
