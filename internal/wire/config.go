package wire

import (
	"errors"
	"log/slog"
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/admin"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/enrich"
	"github.com/urlmill/urlmill/pipeline/privacy"
	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sources"
	"github.com/urlmill/urlmill/sources/codec"
)

// Config is a whole configuration. The options of components are theirs: here is which ones were chosen.
type Config struct {
	Source  Chosen[sources.Options]
	Codec   Chosen[codec.Options] // none for that of the source, or else lines
	Columns Columns
	Enrich  enrich.Options
	Privacy *privacy.Options // nil: nothing is removed
	OnError pipeline.OnError
	// OnFieldError says what becomes of rows with a carried field that is not of its type.
	OnFieldError pipeline.OnFieldError
	Dedupe       Dedupe // nil: duplicates are not looked for
	Sink         Chosen[sinks.Options]
	Buckets      map[string]Buckets // by the names of their parts, for those that the binary has
	// Pipeline has batches, workers and limits; a limit of Roll that is 0 is none.
	Pipeline pipeline.Options
	Rate     float64 // records a second over all lanes; 0: no limit
	// MemoryLimit bounds the memory of the whole process; 0: 80 % of the container's, or else half of the machine's.
	MemoryLimit int64
	Log         Log
	Admin       *admin.Options // nil: no listener
	Tracing     Tracing        // nil: no spans

	*config.Document // nil for one that was not read

	components Components
}

// Chosen is a kind of component with its options; zero when none is chosen.
type Chosen[O any] struct {
	Name    string
	Options O
}

// Log says what is logged, to standard error.
type Log struct {
	Level  slog.Level
	Format string // "text" or "json"
}

// New returns a configuration with the defaults of all that it can leave out, without a source and a sink.
func (r Components) New() *Config {
	c := &Config{
		OnError: pipeline.Keep,
		Pipeline: pipeline.Options{
			BatchRows: 8192, BatchBytes: 4 << 20, DrainTimeout: 20 * time.Second,
			Roll: pipeline.Roll{Bytes: 512 << 20, Every: time.Minute},
		},
		Log:        Log{Level: slog.LevelInfo, Format: "text"},
		Buckets:    r.newBuckets(),
		components: r,
	}
	return c
}

// Load reads the configuration in a file; see [config.Load].
func (r Components) Load(path string, env config.Env) (*Config, error) {
	return r.read(func(root config.Section) (*config.Document, error) { return config.Load(path, env, root) })
}

// Parse reads a configuration; see [config.Parse].
func (r Components) Parse(file string, data []byte, env config.Env) (*Config, error) {
	return r.read(func(root config.Section) (*config.Document, error) { return config.Parse(file, data, env, root) })
}

func (r Components) read(decode func(config.Section) (*config.Document, error)) (*Config, error) {
	c := r.New()
	d, err := decode(c.Section())
	c.Document = d
	var bad, more *config.Error
	if d != nil && errors.As(err, &bad) && errors.As(Check(c), &more) {
		err = c.Errors(append(bad.Problems, more.Problems...)) // all at once
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// sectioned are the options of a component.
type sectioned interface{ Section() config.Section }

// comparableSectioned are those that may be left out, and are nil then.
type comparableSectioned interface {
	comparable
	sectioned
}

// choice is the field of a kind of component below path, which becomes the chosen one when it is there.
func choice[O sectioned](r Components, c *Chosen[O], path, name, doc string, make func() O) config.Field {
	return config.Field{Name: name, Doc: doc, Value: config.Part(
		func() bool { return c.Name == name },
		func() { *c = Chosen[O]{name, make()} },
		func() config.Section {
			options := c.Options
			if c.Name != name {
				options = make()
			}
			s := options.Section()
			r.refuse(&s, config.Join(path, name))
			return s
		},
	)}
}

// part is the field of a component of which there is one kind, and which may be left out.
func part[O comparableSectioned](p *O, name, doc, fixed string, make func() O) config.Field {
	there := func() bool { var none O; return *p != none }
	return config.Field{Name: name, Doc: doc, Fixed: fixed, Value: config.Part(there, func() { *p = make() }, func() config.Section {
		if there() {
			return (*p).Section()
		}
		return make().Section()
	})}
}

// names returns those of fields.
func names(fields []config.Field) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.Name
	}
	return out
}
