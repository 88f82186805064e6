package wire

import (
	"path/filepath"
	"slices"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sources"
)

// Identity is that of the rows that c makes, as far as it says.
func (c *Config) Identity() string { return c.Document.Identity() }

// CheckMovable returns why the files of c cannot be written elsewhere and moved as one; an [*config.Error].
func (c *Config) CheckMovable() error {
	_, err := c.moved("")
	return err
}

// MoveTo changes c so that its files go to another folder, and that the group of its source is one that has committed nothing.
func (c *Config) MoveTo(folder, attempt string) error {
	o, err := c.moved(folder)
	if err != nil {
		return err
	}
	c.Sink.Options = o
	if s, ok := c.Source.Options.(sources.Grouped); ok {
		c.Source.Options = s.InGroup("-" + attempt)
	}
	return nil
}

func (c *Config) moved(folder string) (sinks.Options, error) {
	problems := problems{c: c}
	_, path := c.sink()
	m, ok := c.Sink.Options.(sinks.Movable)
	if !ok {
		problems.add(path, "%s has no partitions that could be replaced; only folders have", path)
		return nil, c.Errors(problems.all)
	}
	if c.Sink.Options.Asks().Place == "" {
		problems.add(path, "%s writes to standard output, which has no partitions; give path: FOLDER", path)
	}
	o, err := m.InFolder(folder)
	problems.note(path, err)
	if c.Dedupe != nil {
		problems.add("dedupe", "dedupe cannot replace partitions: its state knows the rows that are to be replaced; take it out")
	}
	if slices.Contains(c.Source.Options.Asks().Paths, "-") {
		problems.add("source", "standard input cannot be read again after a crash, so that partitions cannot be replaced by it; give files")
	}
	return o, c.Errors(problems.all)
}

// IntoFolder changes c so that its sink writes the same files into folders below dir, where they can be measured: in one go
// and without keeping positions. What would go to a topic, a database or standard output becomes NDJSON there. Duplicates are
// looked for among the rows of the sample alone.
func (c *Config) IntoFolder(dir string) {
	trial, ok := c.Sink.Options.(sinks.Trial)
	if !ok { // there is no place for a trial at a broker or in a database
		for _, k := range c.components.Sinks {
			if k.Name == "ndjson" {
				c.Sink.Name, trial = k.Name, k.New().(sinks.Trial)
			}
		}
	}
	c.Sink.Options = trial.IntoFolder(dir)
	c.Pipeline.Roll = pipeline.Roll{}
	c.Buckets = c.components.newBuckets()
	if c.Dedupe != nil { // the state of a run is not to know the sample
		c.Dedupe = c.Dedupe.InFolder(filepath.Join(dir, "dedupe"))
	}
	c.Tracing = nil
}
