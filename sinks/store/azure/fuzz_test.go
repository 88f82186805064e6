package azure

import (
	"net/http"
	"testing"

	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/bucket"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

func FuzzAnswers(f *testing.F) {
	f.Add(200, "3", `<EnumerationResults><Blobs><Blob><Name>out/_tmp/0123abcd/a/00000</Name><Properties><Content-Length>3</Content-Length><Etag>"1"</Etag></Properties></Blob><BlobPrefix><Name>out/dir/b/</Name></BlobPrefix></Blobs><NextMarker>n</NextMarker></EnumerationResults>`)
	f.Add(200, "9223372036854775807", `<BlockList><UncommittedBlocks><Block><Name>MDAwMDEteA==</Name><Size>3</Size></Block></UncommittedBlocks></BlockList>`)
	f.Add(409, "BlobAlreadyExists", `<Error><Code>BlobAlreadyExists</Code><Message>m</Message></Error>`)
	storetest.FuzzAnswers(f, func(transport http.RoundTripper, requests bucket.Options) (store.Store, error) {
		o := Default()
		o.Endpoint, o.Transport = "http://a.invalid", transport
		o.Attempts, o.Pause, o.Trouble = requests.Attempts, requests.Pause, requests.Trouble
		return Opener(o)("az://account/container/out", quiet)
	})
}
