package filesink

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
)

// Keys of the options.
const (
	pathKey   = "path"
	deadKey   = "dead_letters"
	lateKey   = "late"
	stdoutKey = "stdout"
)

// defaultAfter is [Late.After] where a configuration does not say it.
const defaultAfter = 24 * time.Hour

// FilesWith returns the options of a sink whose dead letters may go to another place than a folder; letters is nil if there is none.
func FilesWith(letters *sinks.Letters) Files { return Files{kind: letters} }

// Fields returns the fields that are bound to f: first that of the dead letters, then those of how files are divided and
// committed.
func (f *Files) Fields() []config.Field {
	return []config.Field{
		{Name: deadKey, Doc: "Where records without a valid URL go with on_error: dead_letter.", Value: f.deadLetters()},
		{Name: "delivery", Doc: "Whether files hold every record once whatever dies, or may hold some twice after a crash. What goes to standard output or a topic is at_least_once.", Value: config.Names(&f.Delivery, commit.ExactlyOnce, commit.AtLeastOnce)},
		{Name: "partition_by", Doc: "Directories in Hive's form, by columns, month(column), date(column), hour(column) and bucket(N, column).", Value: config.Texts(&f.PartitionBy, `["date(timestamp)", registrable_domain]`)},
		{Name: lateKey, Doc: "Rows that come too late for the directory of their time, by date(column) and hour(column) of partition_by, go into files of their own: one for each commit, instead of one for each old directory.", Value: config.Given(&f.Late, func() Late { return Late{After: defaultAfter} }, (*Late).section)},
	}
}

// Aliases returns what other programs call the keys that sinks of files share, together with those of own.
func Aliases(own map[string]string) map[string]string {
	all := map[string]string{
		"dir": pathKey, "directory": pathKey, "folder": pathKey, "output": pathKey, "location": pathKey, "file": pathKey, "paths": pathKey,
		"partition.cols": "partition_by", "partition.columns": "partition_by", "partitions": "partition_by", "partitioning": "partition_by",
		"partitioned.by": "partition_by",
	}
	maps.Copy(all, own)
	return all
}

func (f *Files) deadLetters() config.Value {
	const folder = "/var/lib/urlmill/dead"
	kind := f.kind
	if kind == nil {
		return config.Text(&f.DeadLetters, folder)
	}
	there := func() bool { return f.letters != nil }
	return config.TextOr(&f.DeadLetters, config.Field{
		Name: kind.Name, Doc: kind.Doc,
		Value: config.Part(there, func() { f.letters = kind.New() }, func() config.Section {
			if there() {
				return f.letters.Section()
			}
			return kind.New().Section()
		}),
	}, "a folder such as "+folder+", or "+kind.Want)
}

func (l *Late) section() config.Section {
	return config.Section{Fields: []config.Field{
		{Name: pathKey, Doc: "Folder, or s3://bucket/prefix or the like (docs/s3.md, docs/gcs.md, docs/azure.md), for them, beside that of the other rows.", Value: config.Text(&l.Path, "/var/lib/urlmill/clicks-late"), Example: "path: out-late"},
		{Name: "after", Doc: "How far the time of a row is before the newest directory of its partition or file.", Value: config.Duration(&l.After, 0, 10*365*24*time.Hour)},
	}}
}

// Section is that of a format which can be written to standard output as well. Its own fields come last.
func (f *Files) Section(path *string, stdout *bool, own ...config.Field) config.Section {
	return config.Section{
		Fields: slices.Concat([]config.Field{
			{Name: pathKey, Doc: "Folder, or s3://bucket/prefix or the like (docs/s3.md, docs/gcs.md, docs/azure.md), for files; or give stdout.", Value: config.Text(path, "/var/lib/urlmill/clicks")},
			{Name: stdoutKey, Doc: "Whether rows go to standard output instead.", Value: config.Bool(stdout)},
		}, f.Fields(), own),
		Aliases: Aliases(nil),
		Check: func(c *config.Check) {
			if *path == "" && !*stdout {
				c.Conflict("", []string{pathKey, stdoutKey}, "%s does not say where to; add path: out, or stdout: true", c.Path(""))
			}
		},
	}
}

// folders returns those that are written to, with that of the rows.
func (f *Files) folders(path string) []sinks.Folder {
	all := []sinks.Folder{{Key: pathKey, Path: path}, {Key: config.Join(lateKey, pathKey), Path: f.Late.Path}, {Key: deadKey, Path: f.DeadLetters}}
	return slices.DeleteFunc(all, func(at sinks.Folder) bool { return at.Path == "" })
}

// Asks returns what the options ask of the rest; path is "" for standard output.
func (f *Files) Asks(path string) sinks.Asks {
	a := sinks.Asks{
		Place: store.Place(path), Positions: path != "" && f.Delivery != commit.AtLeastOnce,
		Keeps: path != "" && f.Delivery != commit.AtLeastOnce, Folders: f.folders(path), Partitioned: len(f.PartitionBy) > 0,
		DeadLetters: sinks.DeadLetters{Key: deadKey, Given: f.DeadLetters != "" || f.letters != nil, Want: "the folder for the dead letters there"},
	}
	if f.letters != nil {
		topic := f.letters.Topic()
		topic.Key = f.lettersKey()
		a.Topics = append(a.Topics, topic)
	}
	return a
}

func (f *Files) lettersKey() string { return config.Join(deadKey, f.kind.Name) }

// With fills in what a process has for its sink.
func (f *Files) With(e sinks.Env) {
	f.Provenance, f.Stores, f.FileBytes, f.Memory, f.checkPlace = e.Provenance, e.Stores, e.FileBytes, e.OpenFiles, e.CheckPlace
	if f.letters != nil {
		f.box = f.letters.With(e)
	}
}

// Open opens what takes the dead letters, if that is no folder.
func (f *Files) Open() error {
	if f.box == nil {
		return nil
	}
	stream, err := f.box.Open()
	if err != nil {
		return pipeline.Under(f.lettersKey(), err)
	}
	f.DeadLetterStream = stream
	return nil
}

// validatePlaces returns what is wrong with folders in buckets, with such as lie in each other, and with the other place for dead
// letters.
func (o Options) validatePlaces() error {
	var p pipeline.Problems
	for _, at := range o.folders(o.Path) {
		if reason, advice := config.Misplaced(at.Path, true); reason != "" {
			p.Value(at.Key, at.Path, "%s", reason).Advise("%s", advice)
		}
		if o.checkPlace != nil && store.Scheme(at.Path) != "" {
			p.Join(pipeline.Under(at.Key, o.checkPlace(at.Path)))
		}
	}
	if within(o.Path, o.DeadLetters) {
		p.Add(deadKey, "lies in path, where it would be read as rows").Advise("give a folder beside it")
	}
	for _, other := range []sinks.Folder{{Key: pathKey, Path: o.Path}, {Key: deadKey, Path: o.DeadLetters}} {
		if within(other.Path, o.Late.Path) || within(o.Late.Path, other.Path) {
			p.Add(config.Join(lateKey, pathKey), "it and %s lie in each other", other.Key).Advise("give a folder beside it")
		}
	}
	if o.box != nil {
		p.Join(pipeline.Under(o.lettersKey(), o.box.Validate()))
	}
	return p.Err()
}

// within reports whether a folder is another one, or lies in it. "" is none.
func within(outer, inner string) bool {
	if outer == "" || inner == "" {
		return false
	}
	rel, err := filepath.Rel(filepath.Clean(outer), filepath.Clean(inner))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// CheckMovable returns what keeps the files from being written elsewhere first and moved as one.
func (f *Files) CheckMovable() error {
	var p pipeline.Problems
	if f.Delivery == commit.AtLeastOnce {
		p.Add("delivery", "files can be replaced as one with exactly_once alone").Advise("leave it out")
	}
	if len(f.PartitionBy) == 0 {
		p.Add("partition_by", "missing").Advise("say which folders are replaced, such as [date(timestamp)]")
	}
	if f.Late != (Late{}) {
		p.Add(lateKey, "puts rows into another folder, where they cannot be replaced").Advise("leave it out")
	}
	if f.DeadLetters != "" {
		p.Add(deadKey, "names a folder, where they cannot be replaced").Advise("leave it out, with on_error: keep")
	}
	return p.Err()
}

// IntoFolder changes f so that everything goes to folders below dir, once and for all, and returns that of the rows.
func (f *Files) IntoFolder(dir string) (rows string) {
	f.Delivery, f.DeadLetters, f.letters = commit.AtLeastOnce, filepath.Join(dir, "dead"), nil
	if f.Late != (Late{}) {
		f.Late.Path = filepath.Join(dir, "late")
	}
	return filepath.Join(dir, "rows")
}
