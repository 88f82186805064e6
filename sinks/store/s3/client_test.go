package s3

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/urlmill/urlmill/internal/dev/s3test"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/bucket"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

func TestValidate(t *testing.T) {
	must(t, Options{}.Validate())
	err := Options{
		Endpoint: "minio:9000", Addressing: "dns", Encryption: "aes", KMSKey: "k", Checksum: "md5",
		Options: bucket.Options{PartSize: 1 << 20, Parallel: -1, Attempts: -1, Timeout: -1},
	}.Validate()
	var keys []string
	for _, e := range pipeline.FieldErrors(err) {
		keys = append(keys, e.Path)
	}
	want := []string{"endpoint", "addressing", "encryption", "kms_key", "checksum", "part_size", "parallel", "attempts", "timeout"}
	if !slices.Equal(keys, want) {
		t.Errorf("problems of %q, want %q: %v", keys, want, err)
	}
}

func TestParseLocation(t *testing.T) {
	for location, want := range map[string][2]string{
		"s3://bucket": {"bucket", ""}, "s3://bucket/": {"bucket", ""}, "s3://b.c-d/e/f=1/": {"b.c-d", "e/f=1"},
	} {
		bucket, prefix, err := ParseLocation(location)
		if err != nil || bucket != want[0] || prefix != want[1] {
			t.Errorf("%s: %q, %q, %v", location, bucket, prefix, err)
		}
	}
	for _, location := range []string{"s3://", "s3:///x", "s3://b", "s3://bucket/../x", "s3://bucket//x", "s3://bucket/x//", "/x", "s3://a b/x", "s3://user:pw@bucket/x", "s3://lake--use1-az5--x-s3/x"} {
		if _, _, err := ParseLocation(location); err == nil {
			t.Errorf("%s is taken", location)
		}
	}
	if _, err := Opener(Options{})("s3://bucket/../x", quiet); err == nil {
		t.Error("opened")
	}
	s, err := Opener(Options{})(t.TempDir(), quiet)
	if _, ok := s.(*store.Local); !ok || err != nil {
		t.Errorf("%T, %v", s, err)
	}
}

// The environment says what options do not.
func TestEnvironment(t *testing.T) {
	server := &s3test.Server{AccessKey: "key", SecretKey: "secret"}
	server.Setenv(t)
	if _, err := Opener(Options{})("s3://bucket/x", quiet); err == nil || !strings.Contains(err.Error(), "set region") {
		t.Errorf("without a region: %v", err)
	}
	s := open(t, Options{Endpoint: "http://localhost:1"}, "s3://bucket/x")
	if o := s.client.Options(); o.Region != "us-east-1" || !o.UsePathStyle {
		t.Errorf("region %q, path %t", o.Region, o.UsePathStyle)
	}
	t.Setenv("AWS_REGION", "eu-central-1")
	t.Setenv("AWS_ENDPOINT_URL_S3", "http://localhost:2")
	s = open(t, Options{}, "s3://bucket/x")
	if o := s.client.Options(); o.Region != "eu-central-1" || !o.UsePathStyle || *o.BaseEndpoint != "http://localhost:2" {
		t.Errorf("%+v", o)
	}
	c, err := s.client.Options().Credentials.Retrieve(t.Context())
	if err != nil || c.AccessKeyID != "key" || c.SecretAccessKey != "secret" {
		t.Error("the credentials of the environment are not used", err)
	}
}

// Requests ask for what the options say.
func TestRequests(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Options)
		host   string
		want   map[string]string // headers by the operation and the name
	}{
		"encryption": {
			func(o *Options) { o.Encryption, o.KMSKey, o.StorageClass = EncryptionKMS, "alias/mill", "STANDARD_IA" }, "s3.invalid",
			map[string]string{
				"PutObject X-Amz-Server-Side-Encryption": "aws:kms", "PutObject X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id": "alias/mill",
				"CreateMultipartUpload X-Amz-Server-Side-Encryption": "aws:kms", "CreateMultipartUpload X-Amz-Storage-Class": "STANDARD_IA",
				"PutObject X-Amz-Storage-Class": "", // records and marks are small and looked at often
			},
		},
		"checksum": {
			func(o *Options) { o.Encryption = EncryptionS3 }, "s3.invalid",
			map[string]string{
				"PutObject X-Amz-Server-Side-Encryption": "AES256", "CreateMultipartUpload X-Amz-Checksum-Algorithm": "CRC32C",
				"UploadPart X-Amz-Checksum-Crc32c": "cwO+Rg==", "PutObject X-Amz-Checksum-Crc32c": "AAAAAA==", "UploadPart X-Amz-Trailer": "",
			},
		},
		"no checksum": {
			func(o *Options) { o.Checksum = ChecksumNone }, "s3.invalid",
			map[string]string{"CreateMultipartUpload X-Amz-Checksum-Algorithm": "", "UploadPart X-Amz-Checksum-Crc32c": "", "UploadPart X-Amz-Trailer": ""},
		},
		"TLS": {
			func(o *Options) { o.Endpoint = "https://s3.invalid" }, "s3.invalid",
			map[string]string{"UploadPart X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD"},
		},
		"virtual hosts": {
			func(o *Options) { o.Addressing = AddressingHost }, "fake.s3.invalid", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			server, direct := s3test.Direct(t)
			o := options(t, server)
			seen, hosts := map[string]string{}, map[string]bool{}
			o.Transport = storetest.Transport(func(r *http.Request) (*http.Response, error) {
				hosts[r.URL.Host] = true
				for header, values := range r.Header {
					seen[operation(r)+" "+header] = values[0]
				}
				if rest, ok := strings.CutPrefix(r.URL.Host, "fake."); ok { // the server knows paths only
					r = r.Clone(r.Context())
					r.URL.Host, r.URL.Path, r.URL.RawPath, r.Host = rest, "/fake"+r.URL.Path, "", rest
				}
				return direct.RoundTrip(r)
			})
			tc.change(&o)
			s := open(t, o, Scheme+server.Bucket+"/out")
			must(t, s.Prepare(t.Context()), s.Close())
			if len(hosts) != 1 || !hosts[tc.host] {
				t.Errorf("requests went to %v", hosts)
			}
			for header, want := range tc.want {
				if seen[header] != want {
					t.Errorf("%s is %q, want %q", header, seen[header], want)
				}
			}
			if !strings.HasPrefix(seen["UploadPart Authorization"], "AWS4-HMAC-SHA256 Credential=fake/") {
				t.Error("requests are not signed")
			}
		})
	}
}

func TestPauses(t *testing.T) {
	r := newRetryer(Options{Options: bucket.Options{Attempts: 9}}.withDefaults())
	for attempt := 1; attempt < 40; attempt++ {
		if d, err := r.RetryDelay(attempt, nil); err != nil || d < 0 || d > 20*time.Second {
			t.Errorf("attempt %d: %v, %v", attempt, d, err)
		}
	}
	if r.MaxAttempts() != 9 {
		t.Errorf("%d attempts", r.MaxAttempts())
	}
}

// Credentials that have expired are looked up anew, and what was there stays while that fails.
func TestRenewing(t *testing.T) {
	broken := errors.New("half a file")
	answers := []struct {
		key string
		err error
	}{{"", broken}, {"second", nil}}
	loads := 0
	provider, expired := renewing(credentials.NewStaticCredentialsProvider("first", "s", ""), func(context.Context) (aws.CredentialsProvider, error) {
		a := answers[loads]
		loads++
		return credentials.NewStaticCredentialsProvider(a.key, "s", ""), a.err
	})
	for i, want := range []string{"first", "first", "second", "second"} {
		if i == 1 || i == 2 {
			expired()
		}
		c, err := provider.Retrieve(t.Context())
		if err != nil || c.AccessKeyID != want {
			t.Errorf("%d: %s, %v", i, c.AccessKeyID, err)
		}
	}
	if loads != 2 {
		t.Errorf("looked up %d times", loads)
	}
}

// A request that fails and is made again is known as long as that goes on.
func TestTrouble(t *testing.T) {
	var f *storetest.Faulty
	f = newFaulty(t, "PutObject", func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		if _, err := f.Trouble.Get(); (f.Seen.Load() > 1) != (err != nil && strings.Contains(err.Error(), "SlowDown")) {
			t.Errorf("at attempt %d: %v", f.Seen.Load(), err)
		}
		return storetest.Says(503, refusal("SlowDown"))(r, next)
	})
	before := f.Trouble.Retries()
	f.Left.Store(storetest.Attempts - 1)
	must(t, f.Create(t.Context(), "a", nil))
	if since, err := f.Trouble.Get(); err != nil || !since.IsZero() || f.Trouble.Retries() != before+storetest.Attempts-1 {
		t.Errorf("afterwards: %v, %v, %d retries", since, err, f.Trouble.Retries())
	}
	must(t, f.Close())
}
