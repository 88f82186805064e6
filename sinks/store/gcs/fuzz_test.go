package gcs

import (
	"net/http"
	"testing"

	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/bucket"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

func FuzzAnswers(f *testing.F) {
	f.Add(200, "", `{"nextPageToken":"t","prefixes":["out/dir/b/"],"items":[{"name":"out/_tmp/0123abcd/a/00001","size":"3","generation":"1","crc32c":"x","updated":"2026-01-02T03:04:05Z"}]}`)
	f.Add(200, "", `{"name":"out/a","size":"9223372036854775807","generation":"1","metadata":{"urlmill-create":"x"}}`)
	f.Add(412, "", `{"error":{"code":412,"message":"m","errors":[{"reason":"conditionNotMet"}]}}`)
	storetest.FuzzAnswers(f, func(transport http.RoundTripper, requests bucket.Options) (store.Store, error) {
		o := Default()
		o.Endpoint, o.Transport = "http://a.invalid", transport
		o.Attempts, o.Pause, o.Trouble = requests.Attempts, requests.Pause, requests.Trouble
		return Opener(o)("gs://bucket/out", quiet)
	})
}
