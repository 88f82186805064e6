package wire

import (
	"path/filepath"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks"
)

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
	if c.Buckets != nil {
		c.Buckets = c.components.s3()
	}
	if c.Dedupe != nil { // the state of a run is not to know the sample
		c.Dedupe = c.Dedupe.InFolder(filepath.Join(dir, "dedupe"))
	}
	c.Tracing = nil
}
