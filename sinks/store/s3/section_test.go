package s3

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/sinks/store/bucket"
)

func TestSection(t *testing.T) {
	o := Default()
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
	text := `{endpoint: http://a, region: r, addressing: host, profile: p, encryption: kms, kms_key: k, storage_class: GLACIER_IR, checksum: none,
		part_size: 16MiB, parallel: 2, attempts: 3, timeout: 5s}`
	if _, err := config.Parse("", []byte(text), config.Env{}, o.Section()); err != nil {
		t.Fatal(err)
	}
	want := Options{
		Endpoint: "http://a", Region: "r", Addressing: "host", Profile: "p", Encryption: "kms", KMSKey: "k", StorageClass: "GLACIER_IR",
		Checksum: "none", Options: bucket.Options{PartSize: 16 << 20, Parallel: 2, Attempts: 3, Timeout: 5 * time.Second},
	}
	if diff := cmp.Diff(want, o, cmpopts.IgnoreUnexported(Options{})); diff != "" {
		t.Error(diff)
	}
	o.Encryption = "s3"
	if err := o.Validate(); err == nil || err.Error() != "kms_key: has no effect without encryption: kms" {
		t.Error(err)
	}
	if CheckPlace("s3://a-bucket/b") != nil || CheckPlace("s3://a-bucket//b") == nil {
		t.Error("places are not told apart")
	}
}
