package file

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

const (
	// DefaultMaxRecordBytes is the default of Options.MaxRecordBytes.
	DefaultMaxRecordBytes = 16 << 20
	// MaxMaxRecordBytes bounds Options.MaxRecordBytes, so that a row of that size stays below the 1 GiB that files take,
	// even where every byte becomes a U+FFFD.
	MaxMaxRecordBytes = 128 << 20
	// Stdin is the path that stands for standard input.
	Stdin = "-"
)

// What is done with a file whose content has changed, where the sink has positions in it.
const (
	// Stop is to read the others, and to end with a [*ChangedError].
	Stop = "stop"
	// Whole is to read it from its beginning, as a new file.
	Whole = "whole"
	// Skip is to leave it out.
	Skip = "skip"
)

// Options configures the source.
type Options struct {
	// Paths lists what to read, in this order, each file once: paths of files, of directories, which are
	// read with all below them, glob patterns, or - for standard input.
	//
	// In a pattern * ? and [...] mean what path/filepath.Match says, and ** as a whole segment means any
	// number of directories. A path that exists is taken as it is, whatever characters it has. What lies in
	// a directory is read in the order of the names. Wildcards and directories leave out names that begin
	// with a dot or an underscore, unless the pattern's segment begins so as well; directories leave out
	// what is no regular file, and do not follow symbolic links to other directories.
	Paths []string
	// Parallel is how many files are read side by side, GOMAXPROCS by default.
	Parallel int
	// MaxRecordBytes is the longest record, DefaultMaxRecordBytes by default. What is longer is cut there
	// and has the fault record-too-large.
	MaxRecordBytes int
	// OnChanged says what to do with a file that is not the one any more that was read under its path, Stop by default.
	OnChanged string
	// Stdin is what - reads, os.Stdin by default.
	Stdin io.Reader

	// These are for paths that are addresses of objects, such as s3://bucket/prefix.

	// Poll is how often new objects are looked for; with 0, the source ends when all that there are have been read.
	Poll time.Duration
	// Relist is how often all keys are listed when that takes many requests, DefaultRelist by default. Between, only keys behind the greatest one are.
	Relist time.Duration
	// Shard is the share of the objects that this process reads, such as 1/4; "" is all of them, and Auto what falls to it, as they
	// are divided among the processes that run.
	Shard string
	// Partitions are conditions that the directories KEY=VALUE of objects have to hold, such as dt>=2026-11-20, all of them.
	Partitions []string
	// ClaimTTL is after what time without a word of a process others take its share over, DefaultClaimTTL by default.
	ClaimTTL time.Duration

	kinds   []objstore.Kind
	buckets map[string]objstore.Options // by the names of kinds
	shard   share
	sample  bool // a trial
}

// share is the lanes of a process: those with a number that leaves the rest of when it is divided by n.
type share struct{ rest, n int }

func (s share) has(slot int) bool { return s.n == 0 || slot%s.n == s.rest }

// parseShard returns the share that a text such as 1/4 means. Auto may become any, and is all of them at first.
func parseShard(text string) (share, bool) {
	var i, n int
	if text == "" || text == Auto {
		return share{}, true
	}
	if _, err := fmt.Sscanf(text, "%d/%d", &i, &n); err != nil || fmt.Sprintf("%d/%d", i, n) != text || i < 1 || i > n || n > objectLanes {
		return share{}, false
	}
	return share{i - 1, n}, true
}

// cut cuts the address of objects into the kind of its store, its bucket and its keys; ok is false for other paths.
func (o *Options) cut(path string) (kind objstore.Kind, name, keys string, ok bool) {
	scheme, name, keys, ok := cutObject(path)
	for _, k := range o.kinds {
		if !ok || k.Scheme != scheme && (k.Plain == "" || k.Plain != scheme) {
			continue
		}
		k.Scheme = scheme
		for range k.Depth - 1 {
			next, rest, _ := strings.Cut(keys, "/")
			name, keys = strings.TrimSuffix(name+"/"+next, "/"), rest
		}
		return k, name, keys, true
	}
	return objstore.Kind{}, "", "", false
}

// objects reports whether objects are read and not files.
func (o *Options) objects() bool {
	return slices.ContainsFunc(o.Paths, func(path string) bool { _, _, _, ok := o.cut(path); return ok })
}

// notified returns the kind of the store of the objects and the key of its option that names a queue, and the queue, "" for none.
func (o *Options) notified() (kind objstore.Kind, key, queue string) {
	for _, path := range o.Paths {
		if kind, _, _, ok := o.cut(path); ok {
			if n, ok := o.buckets[kind.Name].(objstore.Notified); ok {
				key, queue = n.Queue()
			}
			return kind, key, queue
		}
	}
	return kind, "", ""
}

func (o *Options) queue() string {
	_, _, queue := o.notified()
	return queue
}

// validateObjects adds what is wrong with the options for objects.
func (o *Options) validateObjects(p *pipeline.Problems) {
	root := ""
	for i, path := range o.Paths {
		kind, name, keys, ok := o.cut(path)
		if !ok {
			p.Value(pathKey(i), path, "is a file, and other paths are objects").Advise("read files and objects by two pipelines")
			continue
		}
		if err := o.buckets[kind.Name].CheckBucket(name); err != nil {
			p.Add(pathKey(i), "%w", err)
		} else if _, err := places(path, keys); err != nil {
			p.Value(pathKey(i), path, "%w", err)
		} else if c, ok := o.buckets[kind.Name].(objstore.KeyChecker); ok && c.CheckKeys(keys) != nil {
			p.Value(pathKey(i), path, "%w", c.CheckKeys(keys))
		}
		if root == "" {
			root = kind.Scheme + name
		}
		if root != kind.Scheme+name {
			p.Value(pathKey(i), path, "is in another bucket than %s", root).Advise("read each bucket by a pipeline of its own")
		}
	}
	for _, k := range o.kinds {
		p.Join(pipeline.Under(k.Name, o.buckets[k.Name].Validate()))
	}
	for i, text := range o.Partitions {
		if _, err := parseCondition(text); err != nil {
			p.Value(fmt.Sprintf("partitions[%d]", i), text, "%w", err).Advise("%s", conditionAdvice)
		}
	}
	if _, ok := parseShard(o.Shard); !ok {
		p.Value("shard", o.Shard, "is no share").Advise("give %s, which divides the objects among the processes that run, or one such as 1/4, which is the first of four; "+
			"there may be up to %d", Auto, objectLanes)
	}
	if kind, key, queue := o.notified(); queue != "" && o.Shard != "" && o.Shard != Auto {
		p.Value("shard", o.Shard, "cannot share a queue (%s.%s): a message would be deleted by the wrong process", kind.Name, key).
			Advise("give shard: %s, with which processes hand on what they hear, or take %s.%s out", Auto, kind.Name, key)
	}
	if o.Poll < 0 || o.Relist < 0 || o.ClaimTTL < 0 {
		p.Add("poll", "poll, relist and claim_ttl cannot be negative")
	}
}

// Validate returns every problem of o, joined, each a [*pipeline.FieldError]. It does not look at the files; New does.
func (o Options) Validate() error {
	var p pipeline.Problems
	if len(o.Paths) == 0 {
		p.Add("paths", "empty").Advise("give at least one file, directory or pattern, or - for standard input")
	}
	queue, objects := o.validateNoQueue(&p), o.objects()
	if objects && !queue {
		o.validateObjects(&p)
	}
	for i, path := range o.Paths {
		if objects || queue {
			break
		}
		if path == "" {
			p.Add(pathKey(i), "empty").Advise("give a file, directory or pattern, or - for standard input")
		} else if reason, advice := elsewhere(path); reason != "" {
			p.Value(pathKey(i), path, "%s", reason).Advise("%s", advice)
		}
	}
	if o.Parallel < 0 {
		p.Value("parallel", o.Parallel, "is negative").Advise("leave it out to read as many files at a time as there are processors")
	}
	if o.MaxRecordBytes < 0 || o.MaxRecordBytes > MaxMaxRecordBytes {
		p.Value("max_record_bytes", o.MaxRecordBytes, "is not between 1 and %d", MaxMaxRecordBytes)
	}
	switch o.OnChanged {
	case "", Stop, Whole, Skip:
	default:
		p.Value("on_changed", o.OnChanged, "is not known").Advise("use %s, %s or %s", Stop, Whole, Skip)
	}
	return p.Err()
}

// queueForm is how addresses of queues begin that stores write notifications into.
var queueForm = regexp.MustCompile(`^https://(?:(sqs)\.[^/]+\.amazonaws\.com(?:\.cn)?|[^/]+\.queue\.core\.[^/]+)/`)

// validateNoQueue reports whether a path is the queue with the notifications of a bucket, and adds what would be right.
func (o *Options) validateNoQueue(p *pipeline.Problems) (is bool) {
	for i, path := range o.Paths {
		m := queueForm.FindStringSubmatch(path)
		if m == nil {
			continue
		}
		scheme, key := "az://account/container/prefix", "azure.queue"
		if m[1] != "" {
			scheme, key = "s3://bucket/prefix", "s3.queue"
		}
		p.Value(pathKey(i), path, "is a queue, which names objects and has none").
			Advise("give the path of the objects, such as %s; with the queue as source.file.%s, urlmill run reads new ones as they come, and urlmill parse reads what is there", scheme, key)
		is = true
	}
	return is
}

// elsewhere returns what is wrong with a path that is the address of a place elsewhere, and what would be right.
func elsewhere(path string) (reason, advice string) {
	for scheme, where := range map[string]string{"s3://": "S3", "gs://": "Google Cloud Storage", "az://": "Azure Blob Storage"} {
		if strings.HasPrefix(path, scheme) {
			return "is on " + where + ", which this urlmill is built without", "take a release, or build one that has everything with make build"
		}
	}
	reason, advice = config.Misplaced(path, false)
	if reason != "" && !strings.HasPrefix(strings.ToLower(path), "file:") {
		advice = "copy it here, or pipe it into standard input, which is the path -"
	}
	return reason, advice
}

// pathKey is where a configuration has Options.Paths[i].
func pathKey(i int) string { return fmt.Sprintf("paths[%d]", i) }

// New finds the files and checks that they can be read, so that a mistake in a path is known before anything has
// been done. The error has every problem, joined, each a [*pipeline.FieldError].
func New(o Options, f codec.Factory, log *slog.Logger) (*Source, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o, log = o.withDefaults(log)
	inputs, err := find(o.Paths, o.Stdin, log)
	if err != nil {
		return nil, err
	}
	s := &Source{o: o, codec: f, log: log, inputs: inputs}
	for _, in := range inputs {
		if in.stream {
			s.endless = true
		}
		s.total.Add(in.size)
	}
	return s, nil
}

// withDefaults returns o with what is not set, and a log.
func (o Options) withDefaults(log *slog.Logger) (Options, *slog.Logger) {
	o.shard, _ = parseShard(o.Shard)
	if o.OnChanged == "" {
		o.OnChanged = Stop
	}
	if o.Relist == 0 {
		if o.Relist = DefaultRelist; o.queue() != "" {
			o.Relist = DefaultRelistNotified
		}
	}
	if o.ClaimTTL == 0 {
		o.ClaimTTL = DefaultClaimTTL
	}
	if o.Parallel == 0 {
		o.Parallel = runtime.GOMAXPROCS(0)
	}
	if o.MaxRecordBytes == 0 {
		o.MaxRecordBytes = DefaultMaxRecordBytes
	}
	if o.Stdin == nil {
		o.Stdin = os.Stdin
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return o, log
}
