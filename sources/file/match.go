package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/urlmill/urlmill/pipeline"
)

// lookups is how many files are looked at side by side before lanes are handed out: the sink may be far away.
const lookups = 16

// known is a lane that the sink has heard of.
type known struct {
	id      pipeline.LaneID
	once    sync.Once
	next    int64 // [pipeline.Unknown] for a lane that somebody has begun and not committed to
	mark    *mark // nil for such a lane, and for one of an urlmill that wrote none down
	err     error
	claimed bool // by a file of this run
}

// matcher finds the lanes that files were read as before.
type matcher struct {
	source    *Source
	positions pipeline.Positions
	byPath    map[string][]*known
	byPrint   map[string][]*known
	taken     map[pipeline.LaneID]bool
	inputs    []candidate
}

// candidate is an input, with the lanes of a file that was read under its path.
type candidate struct {
	input
	same    []*known // begins with what was read
	changed []*known // does not
	err     error
}

// Resume implements [pipeline.Resumer]. With a sink that keeps positions and knows its lanes, a file is known by its content.
func (s *Source) Resume(p pipeline.Positions) {
	if _, ok := p.(pipeline.Lister); ok {
		s.positions = p
	}
}

// match gives every input the lane that it goes on in, or a new one. It returns those that are to be read, and what is wrong
// with others.
func (s *Source) match(ctx context.Context) (inputs []input, problems []error, err error) {
	m := &matcher{
		source: s, positions: s.positions,
		byPath: map[string][]*known{}, byPrint: map[string][]*known{}, taken: map[pipeline.LaneID]bool{},
	}
	if err := m.list(ctx); err != nil {
		return nil, nil, err
	}
	if err := m.look(ctx); err != nil {
		return nil, nil, err
	}
	// Whoever has kept its name comes first, then those that have got another: only then it is known whose content has
	// changed, and whose is found under another name.
	for i := range m.inputs {
		m.inputs[i].claim(m.inputs[i].same)
	}
	for i := range m.inputs {
		if err := m.moved(ctx, &m.inputs[i]); err != nil {
			return nil, nil, err
		}
	}
	for i := range m.inputs {
		c := &m.inputs[i]
		read := c.err == nil && m.settle(c)
		if c.err != nil {
			problems = append(problems, c.err)
		}
		if read {
			inputs = append(inputs, c.input)
		} else {
			s.read.Add(c.size)
		}
	}
	return inputs, problems, nil
}

// list asks for the lanes that there are.
func (m *matcher) list(ctx context.Context) error {
	ids, err := m.positions.(pipeline.Lister).Lanes(ctx)
	if err != nil {
		return fmt.Errorf("the lanes of the output: %w", err)
	}
	for _, id := range ids {
		k := &known{id: id}
		m.taken[id] = true
		if path, err := filepath.Abs(id.Stream); err == nil && id.Stream != Stdin {
			m.byPath[path] = append(m.byPath[path], k)
		}
		if print := printOf(id.Session); print != "" {
			m.byPrint[print] = append(m.byPrint[print], k)
		}
	}
	return nil
}

// load asks what is known of a lane, once.
func (m *matcher) load(ctx context.Context, k *known) error {
	k.once.Do(func() {
		var at pipeline.Mark
		if at, k.err = m.positions.Position(ctx, k.id); k.err != nil {
			return
		}
		// What a lane at 0 has begun with was never committed, and its mark says how far it would have come.
		if k.next = at.Next; k.next == 0 {
			k.next = pipeline.Unknown
		} else if at.Of != "" && k.next != pipeline.Unknown {
			k.mark, k.err = parseMark(at.Of)
		}
		if k.err != nil {
			k.err = fmt.Errorf("%s: %w", k.id, k.err)
		}
	})
	return k.err
}

// look looks at all inputs, and at the lanes of their paths.
func (m *matcher) look(ctx context.Context) error {
	m.inputs = make([]candidate, len(m.source.inputs))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	turns := make(chan struct{}, lookups)
	for i := range m.inputs {
		c := &m.inputs[i]
		if c.input = m.source.inputs[i]; c.info == nil {
			continue
		}
		turns <- struct{}{}
		group.Go(func() {
			defer func() { <-turns }()
			if err := m.lookAt(ctx, c); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// lookAt sorts the lanes of the path of an input.
func (m *matcher) lookAt(ctx context.Context, c *candidate) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	listed := c.size
	c.err = c.identify()
	m.source.total.Add(c.size - listed)
	if c.err != nil {
		return nil
	}
	path, err := filepath.Abs(c.path)
	if err != nil {
		path = c.path
	}
	lanes := m.byPath[path]
	if c.real != path {
		lanes = append(lanes[:len(lanes):len(lanes)], m.byPath[c.real]...)
	}
	for _, k := range lanes {
		if err := m.load(ctx, k); err != nil {
			return err
		}
		if k.mark != nil && k.mark.path != c.real {
			continue // the path has led to another file
		}
		same, err := c.compare(ctx, k, nil)
		switch {
		case err != nil && ctx.Err() != nil:
			return err
		case err != nil:
			c.err = c.readError(err)
			return nil
		case same:
			c.same = append(c.same, k)
		case k.next != pipeline.Unknown: // of another file nothing was delivered
			c.changed = append(c.changed, k)
		}
	}
	return nil
}

// claim takes the lane that has come furthest, of those that nobody has.
func (c *candidate) claim(lanes []*known) {
	for _, k := range lanes {
		if !k.claimed && (c.lane == nil || k.next > c.lane.next) {
			c.lane = k
		}
	}
	if c.lane != nil {
		c.lane.claimed = true
	}
}

// moved looks for the lane of an input that was read under another name.
func (m *matcher) moved(ctx context.Context, c *candidate) error {
	if c.info == nil || c.lane != nil || c.err != nil {
		return nil
	}
	var lanes []*known
	for _, print := range c.prints.all() {
		for _, k := range m.byPrint[print] {
			if k.claimed {
				continue
			}
			if err := m.load(ctx, k); err != nil {
				return err
			}
			if k.mark == nil {
				continue
			}
			was, err := c.was(ctx, k)
			if err != nil {
				if ctx.Err() != nil {
					return err
				}
				c.err = c.readError(err)
				return nil
			}
			if was {
				lanes = append(lanes, k)
			}
		}
	}
	if c.claim(lanes); c.lane != nil && c.lane.id.Stream != c.path {
		m.source.log.Info("a file is known under another name, and goes on as that", "path", c.path, "as", c.lane.id.Stream)
	}
	return nil
}

// was reports whether the input is the file that a lane was read from, which had another path then. A copy that lies beside
// its original is a file of its own. So is what has no more in common with a file that is gone than a few bytes.
func (in *input) was(ctx context.Context, k *known) (bool, error) {
	same, err := in.compare(ctx, k, nil)
	if err != nil || !same {
		return false, err
	}
	info, err := os.Stat(k.mark.path)
	if err == nil && os.SameFile(info, in.info) {
		return true, nil
	}
	if k.mark.n < mostPrint && !in.looks(k.mark) {
		return false, nil
	}
	switch {
	case isMissing(err):
		return true, nil
	case err != nil:
		return false, nil // nobody can tell
	case !info.Mode().IsRegular():
		return true, nil
	}
	there := input{path: k.mark.path}
	if err := there.identify(); err != nil {
		return isMissing(err), nil
	}
	same, err = there.compare(ctx, k, nil)
	return !same, err
}

// settle decides how an input is read, and reports whether it is.
func (m *matcher) settle(c *candidate) bool {
	if c.info == nil {
		return true
	}
	c.matched = true
	if k := c.lane; k != nil && !c.odd(k) {
		c.id = k.id
		c.done = k.mark != nil && k.mark.ended && k.mark.n == c.size
		return true
	}
	if err := c.changedSince(); err != nil {
		switch m.source.o.OnChanged {
		case Whole:
			m.source.log.Info("a file has changed, and is read from its beginning", "path", c.path, "why", err.Why)
		case Skip:
			m.source.log.Warn("a file has changed, and is left out", "path", c.path, "why", err.Why)
			return false
		default:
			c.err = err
			return false
		}
	}
	c.lane = nil
	c.id = m.fresh(&c.input)
	return true
}

// changedSince returns what is to be said of an input that is not the file any more that was read under its path, nil for a
// new file.
func (c *candidate) changedSince() *ChangedError {
	if k := c.lane; k != nil {
		return &ChangedError{Path: c.path, Next: k.next, Why: fmt.Sprintf(
			"record %d, the last that was read of it, had no line end and was taken for whole, and the file goes on there now", k.next-1)}
	}
	var last *known
	for _, k := range c.changed {
		if !k.claimed && (last == nil || k.next > last.next) {
			last = k
		}
	}
	switch {
	case last == nil:
		return nil
	case last.mark == nil:
		return &ChangedError{Path: c.path, Next: last.next, Why: "its size or time of change is another than when it was read, " +
			"and the urlmill that read it wrote nothing else down"}
	case c.size < last.mark.n:
		return &ChangedError{Path: c.path, Next: last.next, Why: fmt.Sprintf("it has %d bytes, and %d were read of it", c.size, last.mark.n)}
	case last.mark.whole:
		return &ChangedError{Path: c.path, Next: last.next, Why: "its content is not that which was read, and a table means something only as a whole"}
	}
	return &ChangedError{Path: c.path, Next: last.next, Why: fmt.Sprintf("its first %d bytes are not those that were read of it", last.mark.n)}
}

// fresh returns a lane that nobody has had.
func (m *matcher) fresh(in *input) pipeline.LaneID {
	print := in.prints.name(in.prints.n - 1)
	id := pipeline.LaneID{Stream: in.path, Session: print}
	for i := 2; m.taken[id]; i++ {
		id.Session = fmt.Sprintf("%sv%d", print, i)
	}
	m.taken[id] = true
	return id
}

// identify looks at what a file is now, how it begins, and at its true path.
func (in *input) identify() error {
	file, err := os.Open(in.path)
	if err != nil {
		return in.readError(err)
	}
	defer file.Close()
	if in.info, err = file.Stat(); err != nil {
		return in.readError(err)
	}
	in.size = in.info.Size()
	if in.prints, err = readPrints(file); err != nil {
		return in.readError(err)
	}
	if in.real, err = filepath.Abs(in.path); err == nil {
		if real, err := filepath.EvalSymlinks(in.real); err == nil {
			in.real = real
		}
	}
	return nil
}

func (in *input) readError(err error) error {
	return &ReadError{Path: in.path, Format: "text", Size: in.size, Err: err}
}

// compare reports whether the file begins with what was read in a lane. It reads what has to be read for that, from r, or
// from the file where r is nil.
func (in *input) compare(ctx context.Context, k *known, r io.ReaderAt) (bool, error) {
	print := printOf(k.id.Session)
	if k.mark == nil && (print == "" || k.next != pipeline.Unknown) {
		return k.id.Session == version(in.info), nil // of old, the session was all that there was
	}
	if print != "" && !in.begins(print) {
		return false, nil
	}
	m := k.mark
	if m == nil || in.looks(m) && !m.recent {
		return true, nil
	}
	if in.size < m.n || m.whole && in.size != m.n {
		return false, nil
	}
	if r == nil {
		file, err := os.Open(in.path)
		if err != nil {
			return false, err
		}
		defer file.Close()
		r = file
	}
	sum, err := hash(ctx, r, m.n)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil // it has become shorter
	}
	return err == nil && sum == m.sum, err
}

// odd reports whether the last record of a lane, which had no line end, has become longer in a file that begins with it.
func (in *input) odd(k *known) bool { return k.mark != nil && k.mark.open && in.size > k.mark.n }

// looks reports whether size and time of change are those that the mark has.
func (in *input) looks(m *mark) bool {
	return in.size == m.size && in.info.ModTime().UnixNano() == m.time
}

// begins reports whether the beginning of the file has, or has had, a name.
func (in *input) begins(print string) bool {
	if print == noPrint {
		return true
	}
	k := int(print[0] - 'a')
	return k < in.prints.n && in.prints.name(k) == print
}

// confirm checks that what was opened is what was looked at before, or at least that all holds for it that was found out since then.
// It returns what was opened.
func (in *input) confirm(ctx context.Context, file *os.File) (os.FileInfo, error) {
	info, err := file.Stat()
	if err != nil || in.info == nil {
		return info, err
	}
	it := os.SameFile(info, in.info)
	switch {
	case it && info.Size() == in.size && info.ModTime().Equal(in.info.ModTime()):
		return info, nil
	case it && info.Size() < in.size:
		return info, &ChangedError{Path: in.path, Why: fmt.Sprintf("it has been cut from %d to %d bytes since it was looked at", in.size, info.Size()), Now: true}
	case !in.matched:
		return info, nil
	}
	opened := input{path: in.path, size: info.Size(), info: info}
	if opened.prints, err = readPrints(file); err != nil {
		return info, err
	}
	same := opened.begins(in.prints.name(in.prints.n - 1))
	if k := in.lane; k != nil {
		same, err = opened.compare(ctx, k, file)
		same = same && !opened.odd(k)
	}
	if err == nil && !same {
		err = &ChangedError{Path: in.path, Why: "it has been replaced since it was looked at", Now: true}
	}
	return info, err
}
