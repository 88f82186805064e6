package commit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store"
)

// formatVersion is the version of the format of all objects of a chain. Fields may be added without a new one.
const formatVersion = 1

// Record is a commit: what has become of the positions from First up to Next. It is written once and never changed, and it is
// read for ever: a field keeps its name and meaning, and a new one is optional.
type Record struct {
	Version int `json:"version"`
	// Lane is the lane's directory, and Stream what it stands for.
	Lane      string `json:"lane"`
	Stream    string `json:"stream"`
	Partition int32  `json:"partition"`
	First     int64  `json:"first"`
	Next      int64  `json:"next"`
	// From, if not 0, is the position that was read first, when that is beyond First: those between were left out
	// because the configuration says so, or because the source does not have them any more.
	From int64 `json:"from,omitempty"`
	// Of is the identity of what the positions are of, as in [pipeline.Mark].
	Of string `json:"of,omitempty"`
	// Files may be empty: positions need not hold rows.
	Files []File `json:"files"`
	// Kept is the file of another component that belongs to the rows up to here, nil without one; see [pipeline.Keeper].
	Kept *Kept `json:"kept,omitempty"`
	Origin
}

// Origin says where a record comes from.
type Origin struct {
	Run  string    `json:"run"` // of the store
	Time time.Time `json:"time"`
	Provenance
}

// Provenance says how rows were made.
type Provenance struct {
	Urlmill string `json:"urlmill"`          // version
	Config  string `json:"config,omitempty"` // hash of the configuration
	PSL     string `json:"psl,omitempty"`    // version of the public suffix list
	// Standard is the state of the URL Standard by which URLs were parsed, a month.
	Standard string `json:"standard,omitempty"`
	// Unicode is the version of Unicode by which domains were mapped and checked.
	Unicode string `json:"unicode,omitempty"`
	// Acquisition is a hash of the rules and lists that the acquisition columns were made by.
	Acquisition string `json:"acquisition,omitempty"`
	// Clients is a hash of the rules for user agents, and of the names, sizes and times of the files of addresses and bots' ranges.
	Clients string `json:"clients,omitempty"`
	// Replay is what dead letters are known by that a replay has made, to the replays after it; "" for a run that is none.
	Replay string `json:"replay,omitempty"`
	// Versions, if not nil, is asked for PSL, Acquisition and Clients whenever something is written, since lists can be replaced.
	Versions func() (psl, acquisition, clients string) `json:"-"`
}

// Now returns the provenance of what is written now.
func (p Provenance) Now() Provenance {
	if p.Versions != nil {
		p.PSL, p.Acquisition, p.Clients = p.Versions()
		p.Versions = nil
	}
	return p
}

// File is a data file of a commit.
type File struct {
	Table string `json:"table"`         // "rows" or "dead_letters"
	Place string `json:"dir,omitempty"` // directory, relative to that of the records; "" for the same
	Name  string `json:"name"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"`
	// Checksum is that of the whole file, as in [store.Checksum].
	Checksum string `json:"checksum"`
	// Token is where the file is until it has its name, in the words of its store. It is in the record so that any process
	// can publish the file, long after the one that wrote it has died.
	Token string `json:"token"`
}

// NewFile returns the entry of a finished file.
func NewFile(t pipeline.Table, place string, rows int64, p store.Pending) File {
	return File{Table: t.String(), Place: place, Name: p.Name, Rows: rows, Bytes: p.Bytes, Checksum: p.Checksum, Token: p.Token}
}

// Pending returns what a store needs to publish the file.
func (f File) Pending() store.Pending {
	return store.Pending{Name: f.Name, Token: f.Token, Bytes: f.Bytes, Checksum: f.Checksum}
}

// start is the object that begins a chain.
type start struct {
	Version   int    `json:"version"`
	Lane      string `json:"lane"`
	Stream    string `json:"stream"`
	Partition int32  `json:"partition"`
	// Prefix is what the names of the lane's files begin with.
	Prefix string `json:"file_prefix"`
	Start  int64  `json:"start"`
	Of     string `json:"of,omitempty"`
	Origin
}

// encode returns v as a line of JSON. The same value gives the same bytes, by which a process recognizes its own record
// ([Lane.whose]) and a walk compares a record with the one in a checkpoint.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // the types of this package can all be encoded
	}
	return b.Bytes()
}

// DamagedError is the error of an object of a chain that cannot be what was written there.
type DamagedError struct {
	Key string
	Why string
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the commit record %s is damaged: %s; restore it from a backup, or deliver to another directory", e.Key, e.Why)
}

// decodeRecord decodes a record that was found under the key at, which stands for position first of a lane. What is accepted
// here is followed without further checks: reading goes on at Next, and Files are published. So a record that contradicts its
// place or itself is an error, and none is repaired by guessing.
func decodeRecord(at, lane string, first int64, content []byte) (*Record, error) {
	r := new(Record)
	if err := json.Unmarshal(content, r); err != nil {
		return nil, &DamagedError{at, err.Error()}
	}
	if err := checkOwner(at, r.Version, r.Lane, lane); err != nil {
		return nil, err
	}
	// A record of no positions would be its own successor, and the walk along the chain would not end.
	if r.First != first || r.Next <= r.First || r.From != 0 && (r.From <= r.First || r.From > r.Next) {
		return nil, &DamagedError{at, fmt.Sprintf("positions %d to %d from %d do not fit the name", r.First, r.Next, r.From)}
	}
	for _, f := range r.Files {
		if f.Name == "" || f.Token == "" || f.Rows < 0 || f.Bytes < 0 {
			return nil, &DamagedError{at, "a file has no name, or fewer than no bytes"}
		}
		if !fs.ValidPath(f.Name) {
			return nil, &DamagedError{at, fmt.Sprintf("%q is not the name of a file in a directory", f.Name)}
		}
		if err := store.CheckChecksum(f.Checksum); err != nil {
			return nil, &DamagedError{at, err.Error()}
		}
	}
	if err := r.Kept.check(r); err != nil {
		return nil, &DamagedError{at, err.Error()}
	}
	return r, nil
}

// readRecord returns the record of a lane that begins at a position; the error is [fs.ErrNotExist] if there is none.
func readRecord(ctx context.Context, s store.Objects, lane string, first int64) (*Record, error) {
	at := recordKey(path.Join(Dir, lane), first)
	content, err := s.Read(ctx, at)
	if err != nil {
		return nil, err
	}
	return decodeRecord(at, lane, first, content)
}

// checkOwner checks that an object can be read by this version and belongs to the lane in whose directory it is. It may belong
// to another one on a file system that ignores the case of names, where two lanes can share a directory.
func checkOwner(at string, version int, lane, want string) error {
	if err := checkVersion(at, version); err != nil || lane == want {
		return err
	}
	return &DamagedError{at, fmt.Sprintf("it belongs to the lane %s and not to %s, so that a directory was moved or copied, "+
		"or the file system does not tell upper from lower case; move it back to %s", lane, want, path.Join(Dir, lane))}
}

// checkVersion checks that an object can be read by this version.
func checkVersion(at string, version int) error {
	if version > formatVersion {
		return fmt.Errorf("the commit record %s has version %d of the format, and this urlmill knows %d: use a newer one", at, version, formatVersion)
	}
	if version != formatVersion {
		return &DamagedError{at, fmt.Sprintf("it has version %d of the format", version)}
	}
	return nil
}

// readStart returns the start of a lane; the error is [fs.ErrNotExist] if there is none.
func readStart(ctx context.Context, s store.Objects, lane string) (*start, error) {
	at := path.Join(Dir, lane, startName)
	content, err := s.Read(ctx, at)
	if err != nil {
		return nil, err
	}
	return decodeStart(at, lane, content)
}

func decodeStart(at, lane string, content []byte) (*start, error) {
	s := new(start)
	if err := json.Unmarshal(content, s); err != nil {
		return nil, &DamagedError{at, err.Error()}
	}
	if err := checkOwner(at, s.Version, s.Lane, lane); err != nil {
		return nil, err
	}
	if s.Start < 0 {
		return nil, &DamagedError{at, fmt.Sprintf("it starts at %d", s.Start)}
	}
	return s, nil
}
