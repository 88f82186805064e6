package settings

import (
	"log/slog"
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
)

// Config is a whole configuration.
type Config struct {
	Source   Source
	Columns  Columns
	OnError  pipeline.OnError
	Dedupe   *Dedupe // nil: duplicates are not looked for
	Sink     Sink
	Pipeline Pipeline
	// MemoryLimit bounds the memory of the whole process; 0: 80 % of the container's, or else half of the machine's.
	MemoryLimit int64
	Log         Log
	Admin       *Admin   // nil: no listener
	Tracing     *Tracing // nil: no spans

	*config.Document // nil for one that was not read
}

// Load reads the configuration in a file; see [config.Load].
func Load(path string, env config.Env) (*Config, error) {
	return read(func(root config.Section) (*config.Document, error) { return config.Load(path, env, root) })
}

// Parse reads a configuration; see [config.Parse].
func Parse(file string, data []byte, env config.Env) (*Config, error) {
	return read(func(root config.Section) (*config.Document, error) { return config.Parse(file, data, env, root) })
}

func read(decode func(config.Section) (*config.Document, error)) (*Config, error) {
	c := Default()
	d, err := decode(c.Section())
	if err != nil {
		return nil, err
	}
	c.Document = d
	return &c, nil
}

// Standard returns the section of all keys, bound to their defaults.
func Standard() config.Section {
	c := Default()
	return c.Section()
}

// WithLive returns c with what can change while a pipeline runs as other has it. The result shares the rest with c.
func (c *Config) WithLive(other *Config) *Config {
	next := *c
	next.Log.Level = other.Log.Level
	next.Columns.TrackingRules, next.Columns.PublicSuffixList = other.Columns.TrackingRules, other.Columns.PublicSuffixList
	next.Pipeline.Rate = other.Pipeline.Rate
	if g, o := c.Source.Generate, other.Source.Generate; g != nil && o != nil {
		generate := *g
		generate.Rate = o.Rate
		next.Source.Generate = &generate
	}
	return &next
}

// Source is where records come from: exactly one of Kafka, File and Generate is set.
type Source struct {
	Kafka    *Kafka
	File     *File
	Generate *Generate
	Codec    Codec
}

// Start policies of a consumer group.
const (
	StartEarliest  = "earliest"  // from the oldest record, where the group has no position yet
	StartLatest    = "latest"    // from records to come, where the group has no position yet
	StartCommitted = "committed" // where the group stopped, another word for StartEarliest
	StartTime      = "time"      // from the first record at or after a time, where the group has no position yet
)

// Start says where reading begins.
type Start struct {
	Policy string
	Time   time.Time // for StartTime, in UTC
}

// Kafka reads topics as a member of a consumer group.
type Kafka struct {
	Brokers  []string
	Topics   []string
	Group    string
	ClientID string
	Start    Start
	TLS      TLS
	SASL     *SASL

	Isolation   string // of transactions: "read_committed" or "read_uncommitted"
	OnAhead     string // the group has committed more than the output holds: "stop", "rewind" or "skip"
	OnTruncated string // retention has deleted what was not read yet: "stop" or "skip"
	OnRecreated string // the topic is another one than the output has read: "stop" or "restart"
	OnCorrupt   string // a batch cannot be read: "stop" or "dead_letter"

	SessionTimeout    time.Duration
	HeartbeatInterval time.Duration
	RebalanceTimeout  time.Duration
	DialTimeout       time.Duration
	MaxWait           time.Duration
	MinBytes          int
	MaxBytes          int
	FetchMemory       int // for what all partitions have fetched and not read yet
	MaxRecordBytes    int
	ConnectTimeout    time.Duration // for a broker to be there at the start; 0: for ever
	TopicTimeout      time.Duration // for missing topics to be created at the start; 0: for ever
}

// TLS secures connections to brokers.
type TLS struct {
	Enabled            bool
	CAFile             string
	CertFile           string
	KeyFile            string
	ServerName         string
	InsecureSkipVerify bool
}

// SASL authenticates at brokers.
type SASL struct {
	Mechanism string // "plain", "scram-sha-256" or "scram-sha-512"
	Username  string
	Password  config.Secret
}

// File reads files.
type File struct {
	Paths          []string // paths, globs, directories, and "-" for standard input
	Parallel       int      // files at a time; 0: as many as there are CPUs
	MaxRecordBytes int
	OnChanged      string // a file is not the one any more that was read under its path: "stop", "whole" or "skip"
}

// Generate makes up a clickstream.
type Generate struct {
	Records int64 // 0: without end
	Seed    uint64
	Lanes   int
	Rate    float64 // records per second over all lanes; 0: as fast as they are taken
	Format  string  // "ndjson" or "lines"
	Profile string  // "clickstream" or "crawl"
	// Repeats is the share of records that repeat the page of an earlier one, at most RepeatsWithin records back; 0: what
	// the profile has.
	Repeats       float64
	RepeatsWithin int64
}

// Codec takes records apart. At most one is set; none stands for Lines.
type Codec struct {
	Lines     *Lines
	NDJSON    *NDJSON
	AccessLog *AccessLog
	Delimited *Delimited
	Parquet   *ParquetTable
	Avro      *SchemaRecords
	Protobuf  *SchemaRecords
	// JSONSchema are records of JSON behind the header of a registry.
	JSONSchema *SchemaRecords
}

// AccessLog are lines of an access log. One of Format, Nginx and Apache is set.
type AccessLog struct {
	Format string // one of accesslog.Formats, or "caddy"
	Nginx  string // as in the directive log_format
	Apache string // as in the directive LogFormat
	Base   string // origin of requests whose log does not say the host
	Scheme string // "https" or "http"
	Fields []string
}

// Delimited are lines of values with a separator between.
type Delimited struct {
	Separator string   // one byte
	Columns   []string // nil: the first line has them
	URL, Base string   // names of columns
	Carry     []CarryColumn
}

// ParquetTable are the rows of Parquet files.
type ParquetTable struct {
	URL, Base string // names of columns
	Carry     []CarryColumn
}

// CarryColumn is a value that goes along with its URL.
type CarryColumn struct {
	Name   string
	Column string // "" for Name
	Type   pipeline.FieldType
	Time   string // as in Carry
}

// Lines are records that are a URL and nothing else.
type Lines struct {
	SkipEmpty bool
	Trim      bool
}

// NDJSON are records that are a JSON value each.
type NDJSON struct {
	URL  string // JSON pointer
	Base string // JSON pointer, or "" for none
	// Host points to the host of a URL that begins with a slash; Scheme is "http", "https" or a JSON pointer.
	Host, Scheme string
	Carry        []Carry
	// SkipEmpty leaves empty records out.
	SkipEmpty bool
}

// Carry is a field that goes along with its URL.
type Carry struct {
	Name    string
	Pointer string
	Type    pipeline.FieldType
	// Time is how a timestamp is written: "rfc3339", or as a number of "s", "ms", "us" or "ns" since 1970.
	Time string
}

// Columns picks and renames columns.
type Columns struct {
	Include []string // nil: all that there are
	Exclude []string
	Rename  map[string]string
	// Profile is the set of names that the URL's columns have: one of urlcols.Profiles.
	Profile string
	// Canonical adds the canonical form and its key.
	Canonical *Canonical
	// Promote makes columns of parameters.
	Promote []Promote
	// Tracking is "keep" or "separate": whether tracking parameters stand in params or in tracking_params.
	Tracking string
	// TrackingRules is a file of tracking rules, "" for those that are built in.
	TrackingRules string
	// PublicSuffixList is a file of the list's format, "" for the list that is built in.
	PublicSuffixList string
	// Params is the type of the column params: "list" or "map".
	Params string
	// Also are other URLs of the record.
	Also []Also
}

// Canonical is a canonical form and its steps, by the names of package canon.
type Canonical struct {
	Form          string
	With, Without []string
}

// Promote is a parameter that has a column of its own.
type Promote struct {
	Param string
	Or    []string // what to look for where it is not there
	Name  string   // "" for that of the parameter
	Take  string   // "first", "last" or "all"
}

// Also is a carried field that is a URL as well.
type Also struct {
	Field   string
	Prefix  string   // "" for the field's name and an underscore
	Include []string // nil: urlcols.AlsoDefault
}

// Sink is where rows go: exactly one of the pointers is set.
type Sink struct {
	Parquet    *Parquet
	ArrowIPC   *ArrowIPC
	NDJSON     *NDJSONOut
	Kafka      *KafkaOut
	Postgres   *Postgres
	ClickHouse *ClickHouse
	DuckDB     *DuckDB
	Roll       Roll
	S3         S3 // for folders that are s3://bucket/prefix
}

// What files of a sink promise after a crash.
const (
	ExactlyOnce = "exactly_once"  // every record is in them once
	AtLeastOnce = "at_least_once" // records may be in them twice
)

// Output is where a sink writes: to files in the folder Path, or to standard output.
type Output struct {
	Path        string
	Stdout      bool
	DeadLetters string // folder of the dead letters, "" where they go to a topic
	Delivery    string // "exactly_once" or "at_least_once"; "" for the first with Path, for the second with Stdout
	PartitionBy []string
	Late        *Late
	// DeadLetterTopic takes the dead letters instead of a folder.
	DeadLetterTopic *KafkaTopic
}

// Late says where rows go that come too late for the directory of their time.
type Late struct {
	Path  string
	After time.Duration
}

// DefaultLate returns what is not said of late rows.
func DefaultLate() Late { return Late{After: 24 * time.Hour} }

// Parquet writes Parquet files.
type Parquet struct {
	Path             string
	DeadLetters      string
	Compression      string // "none", "snappy", "gzip" or "zstd"
	CompressionLevel int    // 0: the codec's own default
	RowGroupRows     int
	RowGroupBytes    int64
	PageVersion      int    // 1 or 2: that of data pages; some readers know only 1
	Encodings        string // "all", or "plain" for readers that do not know the delta encodings
	// BloomFilters are columns, such as host or params.list.element.key, or "none" alone. Nil: those of host,
	// registrable_domain and url_key that are there.
	BloomFilters []string
	Delivery     string // "exactly_once" or "at_least_once"
	// PartitionBy makes directories of columns and of what is computed from them: "country", "date(timestamp)",
	// "hour(timestamp)", "bucket(16, host)", each with a name of its own on request: "day=date(timestamp)".
	PartitionBy []string
	Late        *Late
	// SortBy are columns by which the rows of each row group are sorted.
	SortBy []string
	// DeadLetterTopic takes the dead letters instead of a folder.
	DeadLetterTopic *KafkaTopic
	// Iceberg makes a table of the files; nil: none.
	Iceberg *Iceberg
}

// ArrowIPC writes Arrow IPC files or one stream.
type ArrowIPC struct {
	Output
	Compression string // "none", "lz4" or "zstd"
	// Dictionaries are columns of text that a stream writes as growing dictionaries.
	Dictionaries []string
}

// NDJSONOut writes a JSON config.Section a line.
type NDJSONOut struct{ Output }

// Roll says when files are finished and positions committed: as soon as one of the limits is reached. 0 turns a
// limit off.
type Roll struct {
	Rows  int64
	Bytes int64
	Every time.Duration
}

// Pipeline tunes the way between source and sink.
type Pipeline struct {
	BatchRows    int
	BatchBytes   int // less by default where memory_limit is small
	Workers      int // goroutines that parse and write; 0: as many as there are CPUs
	Buffers      int // batches in flight in one lane; 0: two more than workers
	DrainTimeout time.Duration
	Rate         float64 // records a second over all lanes; 0: no limit
}

// Log says what is logged, to standard error.
type Log struct {
	Level  slog.Level
	Format string // "text" or "json"
}

// Admin is the listener for metrics, probes and the status page.
type Admin struct {
	Listen string
	Token  config.Secret
	TLS    AdminTLS
	PProf  bool
	// StuckAfter is how old a row may be that is read and not committed before the process is not ready.
	StuckAfter time.Duration
	// MaxLag is how many records all partitions together may be behind; 0: any number.
	MaxLag int64
	// Linger is how long the listener stays after a failure, for others to see it.
	Linger time.Duration
}

// AdminTLS is the certificate of the listener.
type AdminTLS struct{ CertFile, KeyFile string }

// DefaultAdmin returns the defaults of the listener.
func DefaultAdmin() Admin { return Admin{Listen: "127.0.0.1:8717", StuckAfter: 5 * time.Minute} }

// DefaultDelimited returns the defaults of a delimited codec.
func DefaultDelimited() Delimited { return Delimited{Separator: ","} }

// DefaultCarryColumn returns the defaults of a carried value.
func DefaultCarryColumn() CarryColumn { return CarryColumn{Time: "rfc3339"} }

// Default returns the defaults of everything that a configuration can leave out, without a source and a sink.
func Default() Config {
	return Config{
		OnError: pipeline.Keep,
		Sink:    Sink{Roll: Roll{Bytes: 512 << 20, Every: time.Minute}, S3: DefaultS3()},
		Pipeline: Pipeline{
			BatchRows:    8192,
			BatchBytes:   4 << 20,
			DrainTimeout: 20 * time.Second,
		},
		Log: Log{Level: slog.LevelInfo, Format: "text"},
	}
}

// DefaultKafka returns the defaults of a Kafka source.
func DefaultKafka() Kafka {
	return Kafka{
		ClientID:          "urlmill",
		Start:             Start{Policy: StartCommitted},
		Isolation:         "read_committed",
		OnAhead:           "stop",
		OnTruncated:       "stop",
		OnRecreated:       "stop",
		OnCorrupt:         "stop",
		SessionTimeout:    30 * time.Second,
		HeartbeatInterval: 3 * time.Second,
		RebalanceTimeout:  60 * time.Second,
		DialTimeout:       10 * time.Second,
		MaxWait:           500 * time.Millisecond,
		MinBytes:          1,
		MaxBytes:          1 << 20,
		FetchMemory:       256 << 20,
		MaxRecordBytes:    16 << 20,
		TopicTimeout:      15 * time.Second,
	}
}

// DefaultFile returns the defaults of a file source.
func DefaultFile() File { return File{MaxRecordBytes: 16 << 20, OnChanged: "stop"} }

// DefaultCarry returns the defaults of a carried field.
func DefaultCarry() Carry { return Carry{Type: pipeline.String, Time: "rfc3339"} }

// DefaultGenerate returns the defaults of the generator.
func DefaultGenerate() Generate {
	return Generate{Seed: 1, Lanes: 4, Format: "ndjson", Profile: "clickstream", RepeatsWithin: 1 << 17}
}

// DefaultArrowIPC returns the defaults of an Arrow IPC sink.
func DefaultArrowIPC() ArrowIPC { return ArrowIPC{Compression: "none"} }

// DefaultParquet returns the defaults of a Parquet sink.
func DefaultParquet() Parquet {
	return Parquet{
		Compression: "zstd", CompressionLevel: 1, RowGroupRows: 128 << 10, RowGroupBytes: 64 << 20,
		PageVersion: 1, Encodings: "all", Delivery: ExactlyOnce,
	}
}
