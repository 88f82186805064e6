package commit

import (
	"log/slog"
	"sync"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store"
)

// Delivery is what a sink promises.
type Delivery string

// The promises. Each includes that nothing is lost.
const (
	// ExactlyOnce has every position in the output once: the sink keeps the positions.
	ExactlyOnce Delivery = "exactly_once"
	// AtLeastOnce may have positions in it twice after a crash: if positions are kept at all, the source keeps them.
	AtLeastOnce Delivery = "at_least_once"
)

// Check returns an error for what is neither.
func (d Delivery) Check() error {
	if d != ExactlyOnce && d != AtLeastOnce {
		return pipeline.ValueErrorf("delivery", d, "is not known").Advise("use %s or %s", ExactlyOnce, AtLeastOnce)
	}
	return nil
}

// Places are the stores of the directories that data files are in, as records name them. Its methods may be called
// from several goroutines.
type Places struct {
	root string
	open store.Opener
	log  *slog.Logger

	mu    sync.Mutex
	known map[string]store.Store
}

// NewPlaces returns the places around root, whose own name is "". open is asked for those that are not known.
func NewPlaces(root store.Store, open store.Opener, log *slog.Logger) *Places {
	return &Places{root: root.Location(), open: open, log: log, known: map[string]store.Store{"": root}}
}

// Add makes a store known, and returns the name of its place.
func (p *Places) Add(s store.Store) string {
	name := store.Rel(p.root, s.Location())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[name] = s
	return name
}

// Get returns the store of a place.
func (p *Places) Get(name string) (store.Store, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s, ok := p.known[name]; ok {
		return s, nil
	}
	s, err := p.open(store.Join(p.root, name), p.log)
	if err == nil {
		p.known[name] = s
	}
	return s, err
}
