package dedupe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
)

// Sink is a [pipeline.Sink] that marks or drops the duplicates among the rows that it hands to another. Dead letters pass.
type Sink struct {
	layout
	inner  pipeline.Sink
	claims *claims
	state  *state // nil before Start

	duplicates atomic.Int64

	deciding sync.Mutex // held while doubts are resolved, one after the other

	mu     sync.Mutex
	lanes  uint64                      // how many numbers of lanes were given out
	doubts map[pipeline.LaneID][]doubt // commits of which it is not known whether they were made
}

// doubt is a journal whose rows may have been committed or not.
type doubt struct {
	journal journal
	lane    uint64
	claimed []entry
	begin   int64 // position before the rows
}

// New returns a sink around inner. The error is that of [Options.Validate].
func New(inner pipeline.Sink, opts Options) (*Sink, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	near := int64(0)
	if opts.Within != 0 {
		near = parts
	}
	return &Sink{layout: layout{opts: opts}, inner: inner, claims: newClaims(near), doubts: make(map[pipeline.LaneID][]doubt)}, nil
}

// Schema returns the schema of the rows that a sink gets, of those that have schema.
func (o Options) Schema(schema *arrow.Schema) (*arrow.Schema, error) {
	fields, all := slices.Clone(schema.Fields()), schema.Metadata()
	if o.HideKey {
		fields = slices.DeleteFunc(fields, func(f arrow.Field) bool { return f.Name == o.KeyColumn })
	}
	if o.Mode == Drop {
		return arrow.NewSchema(fields, &all), nil
	}
	if schema.HasField(Column) {
		return nil, pipeline.FieldErrorf("mode", "there is a column %s already, which mark would add", pipeline.Column(Column)).Advise("rename that one, or give drop")
	}
	metadata := arrow.NewMetadata([]string{"comment"}, []string{"whether " + o.KeyColumn + " was there before"})
	field := arrow.Field{Name: Column, Type: arrow.FixedWidthTypes.Boolean, Metadata: metadata}
	return arrow.NewSchema(append(fields, field), &all), nil
}

// CheckRows returns what is wrong with the columns of schema, like Validate.
func (o Options) CheckRows(schema *arrow.Schema) error {
	_, _, err := o.columns(schema)
	_, schemaErr := o.Schema(schema)
	return errors.Join(err, schemaErr)
}

func (o Options) columns(schema *arrow.Schema) (key, time int, err error) {
	keys := schema.FieldIndices(o.KeyColumn)
	if len(keys) == 0 || schema.Field(keys[0]).Type.ID() != arrow.BINARY {
		return 0, 0, pipeline.FieldErrorf("", "there is no binary column %q with the keys of rows", pipeline.Column(o.KeyColumn))
	}
	if o.Within == 0 || o.TimeColumn == "" {
		return keys[0], -1, nil
	}
	times := schema.FieldIndices(o.TimeColumn)
	if len(times) == 0 || schema.Field(times[0]).Type.ID() != arrow.TIMESTAMP {
		return 0, 0, pipeline.FieldErrorf("window.by", "there is no column %q with timestamps", pipeline.Column(o.TimeColumn))
	}
	return keys[0], times[0], nil
}

// Start implements [pipeline.Sink]. It opens the state, and decides what a crash has left in doubt: for that it opens
// the lanes in question, and abandons them at once.
func (s *Sink) Start(ctx context.Context, schemas pipeline.Schemas) error {
	err := s.arrange(&schemas)
	if err != nil {
		return err
	}
	if err := s.inner.Start(ctx, schemas); err != nil {
		return err
	}
	if s.state, err = openState(ctx, s.opts); err != nil {
		return fmt.Errorf("dedupe: %w", err)
	}
	if a := s.opts.Approximate; a != nil {
		s.opts.Log.Info("duplicates are found approximately: when so many keys are there, this share of new rows is taken for duplicates",
			"keys", a.Keys, "share", s.opts.FalsePositives())
	}
	var left map[pipeline.LaneID][]journal
	err = s.state.do(ctx, func() (err error) { left, err = s.state.journals(); return err })
	if err != nil {
		return fmt.Errorf("dedupe: reading what was not decided: %w", err)
	}
	for id, journals := range left {
		for _, j := range journals {
			s.doubt(id, doubt{journal: j, begin: math.MaxInt64})
		}
		w, _, err := s.Open(ctx, id)
		if err != nil {
			return fmt.Errorf("dedupe: the last run ended in a commit of %s, whose outcome cannot be read: %w", id, err)
		}
		if err := w.Abandon(); err != nil {
			return err
		}
	}
	return nil
}

// Open implements [pipeline.Sink].
func (s *Sink) Open(ctx context.Context, id pipeline.LaneID) (pipeline.Writer, int64, error) {
	var of string
	inner, next, err := s.inner.Open(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	if err = s.decide(ctx, id, next); err == nil {
		of, err = s.hold(ctx, id, next)
	}
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("dedupe: %w", err), inner.Abandon())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lanes++
	return &writer{marker: marker{layout: &s.layout}, sink: s, inner: inner, id: id, lane: s.lanes, next: next, of: of}, next, nil
}

// hold compares the position of a lane with that of the state, when it is known what has become of its last commit. It
// returns what the positions of the lane are of.
func (s *Sink) hold(ctx context.Context, id pipeline.LaneID, next int64) (of string, err error) {
	if !s.opts.Positions {
		return "", nil
	}
	at, err := s.position(ctx, id)
	if err != nil {
		return "", err
	}
	at.Next = next
	return at.Of, s.state.do(ctx, func() error { return s.state.hold(ctx, id, at, s.outside(ctx)) })
}

// position asks the inner sink how far a lane has come, and in what, as the state keeps it.
func (s *Sink) position(ctx context.Context, id pipeline.LaneID) (pipeline.Mark, error) {
	p, ok := pipeline.As[pipeline.Positions](s.inner)
	if !ok {
		return pipeline.Mark{}, fmt.Errorf("%T does not tell the positions of lanes", s.inner)
	}
	at, err := p.Position(ctx, id)
	at.Of = s.opts.identity(at.Of)
	return at, err
}

// decide resolves the doubts of a lane, now that its position is known.
func (s *Sink) decide(ctx context.Context, id pipeline.LaneID, next int64) error {
	s.deciding.Lock()
	defer s.deciding.Unlock()
	return s.decideIf(ctx, id, next, func(doubt) bool { return true })
}

// decideIf resolves those doubts of a lane for which sure returns true, with s.deciding held.
func (s *Sink) decideIf(ctx context.Context, id pipeline.LaneID, next int64, sure func(doubt) bool) error {
	s.mu.Lock()
	all := s.doubts[id]
	delete(s.doubts, id)
	s.mu.Unlock()
	for i, d := range all {
		made, err := s.made(ctx, id, next, d.journal)
		decide := s.state.forget
		switch {
		case made:
			decide = s.state.promote
		case err == nil && !sure(d):
			s.doubt(id, d)
			continue
		}
		if err == nil {
			err = s.state.do(ctx, func() error { return decide(d.journal) })
		}
		if err != nil {
			s.doubt(id, all[i:]...)
			return err
		}
		s.claims.release(d.lane, d.claimed)
	}
	return nil
}

// settle resolves the doubts of lanes that others have gone on with, which may never be opened here again: their claims
// would stay for ever. Where somebody has committed what follows the last position that was known here, the commit in
// doubt was made or never will be. What cannot be told stays in doubt.
func (s *Sink) settle(ctx context.Context) {
	if !s.opts.Positions {
		return
	}
	s.deciding.Lock()
	defer s.deciding.Unlock()
	s.mu.Lock()
	ids := slices.Collect(maps.Keys(s.doubts))
	s.mu.Unlock()
	for _, id := range ids {
		at, err := s.position(ctx, id)
		if err == nil && at.Next != pipeline.Unknown {
			err = s.decideIf(ctx, id, at.Next, func(d doubt) bool { return at.Next > d.begin })
		}
		if err != nil {
			s.opts.Log.Debug("dedupe: a commit of a lane that is gone stays undecided", "lane", id.String(), "problem", err)
		}
	}
}

func (s *Sink) doubt(id pipeline.LaneID, all ...doubt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doubts[id] = append(s.doubts[id], all...)
}

// ask has the state answer questions, whose order it may change. They are not to be used again after an error.
func (s *Sink) ask(ctx context.Context, asked []question) error {
	return s.state.do(ctx, func() error { return s.state.find(asked) })
}

// Count implements [pipeline.Counter].
func (s *Sink) Count(c *pipeline.Counts) {
	c.Duplicates = &pipeline.DuplicateCounts{Rows: s.duplicates.Load(), Dropped: s.opts.Mode == Drop}
}

// Unwrap returns the sink that it hands its rows to.
func (s *Sink) Unwrap() pipeline.Sink { return s.inner }

// Close implements [pipeline.Sink].
func (s *Sink) Close() error {
	err := s.inner.Close()
	if s.state == nil {
		return err
	}
	if closing := s.state.close(); closing != nil {
		err = errors.Join(err, fmt.Errorf("dedupe: %w", closing))
	}
	return err
}
