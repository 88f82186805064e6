package store

import (
	"context"
	"io"
	"time"
)

// Store is a place for files. Keys and names are relative and have slashes. Its methods may be called from several
// goroutines, those of a [File] from one at a time.
//
// What is missing gives an error that is [io/fs.ErrNotExist], what is there already one that is [io/fs.ErrExist].
type Store interface {
	Objects
	Files
	// Location is the path or URL of the place, for messages.
	Location() string
	// Modified returns when an object or file was written, by the clock of the place.
	Modified(ctx context.Context, key string) (time.Time, error)
	// Prepare makes ready for writing: it makes the place if only its last element is missing, and claims an
	// identifier. It is called before the first Create or Begin. An error says what to do about it.
	Prepare(ctx context.Context) error
	// Run is the identifier that Prepare has claimed: letters and digits, unlike that of any other process.
	Run() string
	// Others returns the runs, other than this one, that may be writing. The error is [errors.ErrUnsupported] where that cannot
	// be told.
	Others(ctx context.Context) ([]string, error)
	// Close lets go of what Prepare has claimed. Files that are not published stay where they are.
	Close() error
}

// Objects are small and immutable.
type Objects interface {
	// Create makes an object that must not be there yet. It is durable, whole, when Create returns nil, and
	// nobody ever sees a part of it. After an error that is not [io/fs.ErrExist] it may be there or not.
	Create(ctx context.Context, key string, content []byte) error
	// Read returns the content of an object or file.
	Read(ctx context.Context, key string) ([]byte, error)
	// Open returns an object or file for reading in parts.
	Open(ctx context.Context, key string) (Object, error)
	// List returns what is directly in dir, in ascending order of names, those after the given name only. A dir
	// that is not there is empty.
	List(ctx context.Context, dir, after string) ([]Entry, error)
	// Delete removes an object or a file. One that is not there is no error.
	Delete(ctx context.Context, key string) error
	// Sync makes durable that the objects directly in dir are there, whoever created them.
	Sync(ctx context.Context, dir string) error
}

// Entry is something in a directory.
type Entry struct {
	Name string // within the directory
	Dir  bool
}

// Object is an object or file open for reading.
type Object interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// Files are large, and invisible until they are published.
type Files interface {
	// Begin starts a file that is to have the given name when it is published. Nobody else must use the name;
	// [Store.Run] in it sees to that. A file whose ctx has ended before Finish can only be discarded.
	Begin(ctx context.Context, name string) (File, error)
	// Settle makes sure that finished files survive a crash of the machine unpublished, and that they are still
	// there.
	Settle(ctx context.Context, files []Pending) error
	// Publish gives finished files their names. It may be repeated, also at the same time by other processes:
	// it returns nil when every file has its name durably.
	Publish(ctx context.Context, files []Pending) error
	// Discard removes finished files that are not published.
	Discard(ctx context.Context, files []Pending) error
	// Sweep calls garbage for every unpublished file of other runs, and removes those for which it returns true.
	// A run that Leftover calls dead stays so during the call. What goes wrong with single files is logged: it
	// costs space, and nothing else.
	Sweep(ctx context.Context, garbage func(Leftover) bool) error
}

// File is a file being written. After an error of any method every later one returns the same error, so that an
// encoder that loses errors on the way cannot make a damaged file look complete.
type File interface {
	io.Writer
	// Size is the number of bytes written.
	Size() int64
	// Memory returns the bytes of memory that the file holds.
	Memory() int64
	// Flush gives back as much of the memory as can be done without ending the file.
	Flush() error
	// Err returns the first error.
	Err() error
	// Finish ends the file. It is still invisible, and complete; [Files.Settle] and [Files.Publish] go on with it.
	Finish() (Pending, error)
	// Discard removes the file instead. It does nothing after Finish.
	Discard() error
}

// Pending is a finished file that is to be published. It holds all that another process needs to do so.
type Pending struct {
	Name     string // when published
	Token    string // by which the store finds it until then
	Bytes    int64
	Checksum string // see [NewChecksum]
}

// Leftover is an unpublished file of another run.
type Leftover struct {
	Pending // without its checksum
	Run     string
	// Dead says that the process is known to have ended. Otherwise it may be writing the file.
	Dead bool
	// Modified is when the file was last written to.
	Modified time.Time
}
