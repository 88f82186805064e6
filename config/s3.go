package config

import (
	"regexp"
	"strings"
	"time"
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

func s3Schema(s *S3) object {
	return object{
		fields: []field{
			{name: "endpoint", value: text(&s.Endpoint, "https://minio.example.com:9000")},
			{name: "region", value: text(&s.Region, "eu-central-1")},
			{name: "addressing", value: names(&s.Addressing, "path", "host")},
			{name: "profile", value: text(&s.Profile, "urlmill")},
			{name: "encryption", value: names(&s.Encryption, "s3", "kms")},
			{name: "kms_key", value: text(&s.KMSKey, "alias/urlmill")},
			{name: "storage_class", value: names(&s.StorageClass, "STANDARD", "STANDARD_IA", "ONEZONE_IA", "INTELLIGENT_TIERING",
				"REDUCED_REDUNDANCY", "GLACIER_IR")},
			{name: "checksum", value: names(&s.Checksum, "crc32c", "none")},
			{name: "part_size", value: size(&s.PartSize, 5<<20, 1<<30)},
			{name: "parallel", value: integer(&s.Parallel, 1, 256)},
			{name: "attempts", value: integer(&s.Attempts, 1, 100)},
			{name: "timeout", value: duration(&s.Timeout, time.Second, maxTimeout)},
		},
		check: func(d *decoder, path string) {
			if key := join(path, "kms_key"); d.given(key) && s.Encryption != "kms" {
				d.conflict(key, []string{join(path, "encryption")}, "kms_key has no effect without encryption: kms")
			}
		},
	}
}

// bucketName matches names of buckets, also those of old buckets and of servers that allow more.
var bucketName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$`)

// isS3 tells whether a folder of a sink is a place on S3.
func isS3(folder string) bool { return strings.HasPrefix(folder, "s3://") }

// checkPlace reports a folder of a sink that is a URL, but not one that files can be written to.
func checkPlace(d *decoder, at, folder string) {
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
		d.conflict(at, nil, "%s is a URL, but not of the form s3://bucket/prefix; give one that is, or a folder", leaf(at))
	}
}

// checkS3 reports settings for S3 when no folder is there.
func checkS3(d *decoder, path string, s *Sink) {
	at := join(path, "s3")
	if !d.given(at) {
		return
	}
	for _, folder := range s.folders() {
		if isS3(folder) {
			return
		}
	}
	d.conflict(at, nil, "%s has no effect, as no folder of the sink is on S3; give path: s3://bucket/prefix, or take it out", at)
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
