package settings

import (
	"regexp"
	"strings"
	"time"

	"github.com/urlmill/urlmill/config"
)

// S3 is how to reach the buckets of a sink whose folders are URLs, s3://bucket/prefix. Credentials come from where AWS's
// own tools look for them.
type S3 struct {
	Endpoint     string // URL of a server other than Amazon's
	Region       string // "": that of the environment
	Addressing   string // "path" or "host"; "": the first with Endpoint, the second without
	Profile      string // of the shared configuration files
	Encryption   string // "s3" or "kms"; "": what the bucket says
	KMSKey       string
	StorageClass string // of data files; "": the server's own
	Checksum     string // "crc32c" or "none"
	PartSize     int64
	Parallel     int // parts on their way at a time
	Attempts     int // of each request
	Timeout      time.Duration
}

// DefaultS3 returns the defaults for places on S3.
func DefaultS3() S3 {
	return S3{Checksum: "crc32c", PartSize: 8 << 20, Parallel: 4, Attempts: 8, Timeout: 30 * time.Second}
}

func s3Schema(s *S3) config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "endpoint", Doc: "URL of a server other than Amazon's.", Value: config.Text(&s.Endpoint, "https://minio.example.com:9000")},
			{Name: "region", Doc: "Region of the bucket. Not set: that of the environment or profile.", Value: config.Text(&s.Region, "eu-central-1")},
			{Name: "addressing", Doc: "Where requests name the bucket. Not set: path with endpoint, else host.", Value: config.Names(&s.Addressing, "path", "host")},
			{Name: "profile", Doc: "Section of AWS's configuration files.", Value: config.Text(&s.Profile, "urlmill")},
			{Name: "encryption", Doc: "Encryption at rest. Not set: what the bucket says.", Value: config.Names(&s.Encryption, "s3", "kms")},
			{Name: "kms_key", Doc: "Key for encryption: kms. Not set: the account's key for S3.", Value: config.Text(&s.KMSKey, "alias/urlmill")},
			{Name: "storage_class", Doc: "Class of data files. Not set: the server's own.", Value: config.Names(&s.StorageClass, "STANDARD", "STANDARD_IA", "ONEZONE_IA", "INTELLIGENT_TIERING",
				"REDUCED_REDUNDANCY", "GLACIER_IR")},
			{Name: "checksum", Doc: "What the server verifies parts and objects by; none is for servers that cannot.", Value: config.Names(&s.Checksum, "crc32c", "none")},
			{Name: "part_size", Doc: "Size of the parts of an upload.", Value: config.Size(&s.PartSize, 5<<20, 1<<30)},
			{Name: "parallel", Doc: "Parts on their way at a time, in the whole process.", Value: config.Int(&s.Parallel, 1, 256)},
			{Name: "attempts", Doc: "How often a request is made before the process stops.", Value: config.Int(&s.Attempts, 1, 100)},
			{Name: "timeout", Doc: "Limit of one attempt with its answer.", Value: config.Duration(&s.Timeout, time.Second, maxTimeout)},
		},
		Check: func(d *config.Check) {
			if key := "kms_key"; d.Given(key) && s.Encryption != "kms" {
				d.Conflict(key, []string{"encryption"}, "kms_key has no effect without encryption: kms")
			}
		},
	}
}

// bucketName matches names of buckets, also those of old buckets and of servers that allow more.
var bucketName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$`)

// isS3 reports whether a folder of a sink is a place on S3.
func isS3(folder string) bool { return strings.HasPrefix(folder, "s3://") }

// checkPlace reports a folder of a sink that is a URL, but not one that files can be written to.
func checkPlace(d *config.Check, at, folder string) {
	scheme, rest, isURL := strings.Cut(folder, "://")
	if !isURL {
		return
	}
	bucket, prefix, _ := strings.Cut(rest, "/")
	prefix = strings.TrimSuffix(prefix, "/")
	bad := !bucketName.MatchString(bucket)
	for part := range strings.SplitSeq(prefix, "/") {
		bad = bad || part == "" && prefix != "" || part == "." || part == ".."
	}
	if scheme != "s3" || bad {
		d.Conflict(at, nil, "%s is a URL, but not of the form s3://bucket/prefix; give one that is, or a folder", at[strings.LastIndexByte(at, '.')+1:])
	}
}

// checkS3 reports settings for S3 when no folder is there.
func checkS3(d *config.Check, s *Sink) {
	at := "s3"
	if !d.Given(at) {
		return
	}
	for _, folder := range s.folders() {
		if isS3(folder) {
			return
		}
	}
	d.Conflict(at, nil, "%s has no effect, as no folder of the sink is on S3; give path: s3://bucket/prefix, or take it out", d.Path(at))
}

// folders returns the folders that the sink writes to.
func (s *Sink) folders() []string {
	switch {
	case s.Parquet != nil:
		return append(s.Parquet.Late.folders(), s.Parquet.Path, s.Parquet.DeadLetters)
	case s.ArrowIPC != nil:
		return append(s.ArrowIPC.Late.folders(), s.ArrowIPC.Path, s.ArrowIPC.DeadLetters)
	case s.NDJSON != nil:
		return append(s.NDJSON.Late.folders(), s.NDJSON.Path, s.NDJSON.DeadLetters)
	}
	return nil
}

func (l *Late) folders() []string {
	if l == nil {
		return nil
	}
	return []string{l.Path}
}
