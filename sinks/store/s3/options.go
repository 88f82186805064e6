package s3

import (
	"cmp"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// Scheme begins the locations of this package: s3://bucket/prefix.
const Scheme = store.S3

const (
	minPartSize = 5 << 20 // smaller ones are refused by S3, but for the last
	maxPartSize = 1 << 30
	maxParts    = 10000
)

// Options are how to reach a bucket and what to do there. Credentials are not among them: they come from where AWS's
// own tools look for them. The zero value is Amazon S3 with the region of the environment.
type Options struct {
	bucket.Options
	// Endpoint is the URL of a server other than Amazon's.
	Endpoint string
	// Region is by default that of the environment or the profile, and us-east-1 with an Endpoint.
	Region string
	// Addressing is where requests name the bucket: "path", or "host" for virtual hosts. The default is the first
	// for servers other than Amazon's, and the second for those.
	Addressing string
	// Profile is a section of the shared configuration files.
	Profile string
	// Encryption is "", which leaves it to the bucket, "s3" or "kms"; KMSKey is the key for the latter, by default
	// the account's own for S3.
	Encryption string
	KMSKey     string
	// CustomerKey is 32 bytes in base64 by which the server encrypts and decrypts objects, and that it does not keep (SSE-C).
	CustomerKey config.Secret
	// StorageClass of data files, such as STANDARD_IA. The default is the server's, mostly STANDARD.
	StorageClass string
	// Checksum of parts and objects that the server verifies: "crc32c", the default, or "none" for servers that
	// cannot.
	Checksum string

	// section is where the options of a source are, "" for those of a sink.
	section string

	// Transport sends requests, and Credentials sign them. Tests put others in place of the usual ones.
	Transport   http.RoundTripper
	Credentials aws.CredentialsProvider
}

// DefaultChecksum is the default of Options.Checksum.
const DefaultChecksum = ChecksumCRC32C

// Values of [Options].
const (
	ChecksumCRC32C = "crc32c"
	ChecksumNone   = "none"
	EncryptionS3   = "s3"
	EncryptionKMS  = "kms"
	AddressingPath = "path"
	AddressingHost = "host"
)

func (o Options) withDefaults() Options {
	o.Checksum, o.Options = cmp.Or(o.Checksum, DefaultChecksum), o.Options.WithDefaults()
	return o
}

// Validate checks the options that a user gives. It returns every problem, joined, each a [*pipeline.FieldError].
func (o Options) Validate() error {
	o = o.withDefaults()
	var p pipeline.Problems
	bucket.CheckEndpoint(&p, o.Endpoint, "https://minio.example.com:9000")
	switch o.Addressing {
	case "", AddressingPath, AddressingHost:
	default:
		p.Value("addressing", o.Addressing, "is not known").Advise("use %s or %s", AddressingPath, AddressingHost)
	}
	switch o.Encryption {
	case "", EncryptionS3, EncryptionKMS:
	default:
		p.Value("encryption", o.Encryption, "is not known").Advise("use %s or %s", EncryptionS3, EncryptionKMS)
	}
	if o.KMSKey != "" && o.Encryption != EncryptionKMS {
		p.Add("kms_key", "has no effect without encryption: %s", EncryptionKMS)
	}
	if err := o.checkCustomerKey(o.Endpoint); err != nil {
		p.Add("customer_key", "%w", err)
	} else if o.CustomerKey != "" && o.Encryption != "" {
		p.Add("customer_key", "cannot be given together with encryption").Advise("take one of them out")
	}
	if o.Checksum != ChecksumCRC32C && o.Checksum != ChecksumNone {
		p.Value("checksum", o.Checksum, "is not known").Advise("use %s or %s", ChecksumCRC32C, ChecksumNone)
	}
	if o.PartSize < minPartSize || o.PartSize > maxPartSize {
		p.Value("part_size", o.PartSize, "is out of range").Advise("give 5 MiB to 1 GiB")
	}
	if o.Parallel < 1 {
		p.Value("parallel", o.Parallel, "is too few").Advise("give at least 1")
	}
	if o.Attempts < 1 {
		p.Value("attempts", o.Attempts, "is too few").Advise("give at least 1")
	}
	if o.Timeout < 0 {
		p.Value("timeout", o.Timeout, "is negative").Advise("give more than nothing")
	}
	return p.Err()
}

// bucketName matches names of buckets, also those of old buckets and other servers.
var bucketName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$`)

// directoryBucket ends the names of directory buckets.
const directoryBucket = "--x-s3"

// ParseLocation takes s3://bucket/prefix apart. The prefix may be empty and has no slash at its ends.
func ParseLocation(location string) (name, prefix string, err error) {
	rest, ok := strings.CutPrefix(location, Scheme)
	name, prefix, _ = strings.Cut(rest, "/")
	prefix = strings.TrimSuffix(prefix, "/")
	if !ok || !bucketName.MatchString(name) || prefix != "" && (!fs.ValidPath(prefix) || path.Clean(prefix) == ".") {
		return "", "", fmt.Errorf("%q is not a place on S3; give %sbucket/prefix, with a name of letters, digits, dots and hyphens for the bucket", location, Scheme)
	}
	if strings.HasSuffix(name, directoryBucket) {
		return "", "", fmt.Errorf("%s is a directory bucket (S3 Express One Zone), which does not list its keys in order; give a bucket of the usual kind", name)
	}
	return name, prefix, nil
}

// sse returns the encryption to ask for.
func (o Options) sse() (types.ServerSideEncryption, *string) {
	switch o.Encryption {
	case EncryptionS3:
		return types.ServerSideEncryptionAes256, nil
	case EncryptionKMS:
		return types.ServerSideEncryptionAwsKms, optional(o.KMSKey)
	}
	return "", nil
}

// checksumAlgorithm returns that of parts.
func (o Options) checksumAlgorithm() types.ChecksumAlgorithm {
	if o.Checksum == ChecksumNone {
		return ""
	}
	return types.ChecksumAlgorithmCrc32c
}

// optional returns nil for "".
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
