package commit

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"sync"

	"github.com/urlmill/urlmill/sinks/store"
)

// outputsDir is the directory with what ties an output to places outside of it, such as that of its dead letters: the output
// has its identifier there, and each of the places an object named after that.
const outputsDir = "_outputs"

var idKey = path.Join(outputsDir, "own.json")

// identity is the object with the identifier of an output.
type identity struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
}

// claim is the object by which a place says that files of an output are in it.
type claim struct {
	Version int `json:"version"`
	// Output is where the output was at the time, for people.
	Output string `json:"output"`
}

func claimKey(id string) string { return path.Join(outputsDir, id+".json") }

// ForeignPlaceError is the error of a place outside of an output that records name. Records can be damaged or forged, and what
// they make a process move and remove must not be somebody else's: neither the configuration names the place, nor does the
// place say that files of the output are in it.
type ForeignPlaceError struct {
	Location string
	store    store.Store
}

func (e *ForeignPlaceError) Error() string {
	return fmt.Sprintf("commit records name %s, which is outside of the output, and nothing there says that it belongs to the output, "+
		"so that nothing is moved or removed there: if it does, start the pipeline once with a configuration that names it "+
		"(dead_letters, or late.path); if not, somebody has changed the records: restore %s from a backup", e.Location, Dir)
}

// Waiting reports whether a file waits there to be published. It looks for the file's temporary name, and for nothing else.
func (e *ForeignPlaceError) Waiting(ctx context.Context, f File) (bool, error) {
	err := e.store.Settle(ctx, []store.Pending{f.Pending()})
	var gone *store.GoneError
	if errors.As(err, &gone) {
		return false, nil
	}
	return err == nil, err
}

// Places are the stores of the directories that data files are in, as records name them. Its methods may be called
// from several goroutines.
type Places struct {
	root store.Store
	open store.Opener
	log  *slog.Logger

	mu    sync.Mutex
	known map[string]store.Store
}

// NewPlaces returns the places around root, whose own name is "". open is asked for those that are not known.
func NewPlaces(root store.Store, open store.Opener, log *slog.Logger) *Places {
	return &Places{root: root, open: open, log: log, known: map[string]store.Store{"": root}}
}

// Add makes a store known that the configuration names, and returns the name of its place.
func (p *Places) Add(s store.Store) string {
	name := store.Rel(p.root.Location(), s.Location())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[name] = s
	return name
}

// Claim has the places that are known and outside of the output say that files of it are in them. It comes before the first
// record that names one: [Places.Get] of a process without the configuration relies on it. All stores are prepared.
func (p *Places) Claim(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, s := range p.known {
		if inside(name) {
			continue
		}
		id, err := p.id(ctx)
		if errors.Is(err, fs.ErrNotExist) {
			var random [16]byte
			_, _ = rand.Read(random[:]) // never fails
			err = create(ctx, p.root, idKey, identity{formatVersion, hex.EncodeToString(random[:])})
			if err == nil {
				id, err = p.id(ctx) // of the process that was first
			}
		}
		if err == nil {
			err = create(ctx, s, claimKey(id), claim{formatVersion, store.Rel(s.Location(), p.root.Location())})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// create creates an object unless it is there. Most starts find it, and reading costs less than a creation that is refused.
func create(ctx context.Context, s store.Objects, key string, v any) error {
	if _, err := s.Read(ctx, key); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.Create(ctx, key, encode(v)); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// id returns the identifier of the output; the error is [fs.ErrNotExist] if it has none.
func (p *Places) id(ctx context.Context) (string, error) {
	content, err := p.root.Read(ctx, idKey)
	if err != nil {
		return "", err
	}
	var i identity
	if err := json.Unmarshal(content, &i); err != nil {
		return "", &DamagedError{idKey, err.Error()}
	}
	if err := checkVersion(idKey, i.Version); err != nil {
		return "", err
	}
	if b, err := hex.DecodeString(i.ID); err != nil || len(b) != 16 {
		return "", &DamagedError{idKey, fmt.Sprintf("%q is no identifier", i.ID)}
	}
	return i.ID, nil
}

// inside reports whether a place is the output itself or a directory in it.
func inside(name string) bool { return name == "" || fs.ValidPath(name) }

// Get returns the store of a place. One outside of the output that is not known has to claim its files, or the error is a
// [*ForeignPlaceError].
func (p *Places) Get(ctx context.Context, name string) (store.Store, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s, ok := p.known[name]; ok {
		return s, nil
	}
	s, err := p.open(store.Join(p.root.Location(), name), p.log)
	if err == nil && !inside(name) {
		err = p.claimed(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	p.known[name] = s
	return s, nil
}

// claimed returns a [*ForeignPlaceError] for a place that does not say that files of the output are in it.
func (p *Places) claimed(ctx context.Context, s store.Store) error {
	id, err := p.id(ctx)
	if err == nil {
		_, err = s.Read(ctx, claimKey(id))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &ForeignPlaceError{s.Location(), s}
	}
	return err
}
