package azure

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
	"github.com/urlmill/urlmill/internal/dev/azuretest"
	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/sinks/store/bucket"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

const (
	gridEvent = `{"topic":"/subscriptions/1/resourceGroups/g/providers/Microsoft.Storage/storageAccounts/Account","subject":"/blobServices/default/containers/logs/blobs/%s",
		"eventType":"Microsoft.Storage.%s","eventTime":"2026-11-24T00:00:00Z","id":"1","data":{"api":"PutBlob","eTag":"0x8D","contentLength":12,"blobType":"BlockBlob",
		"url":"https://account.blob.core.windows.net/logs/a"},"dataVersion":"","metadataVersion":"1"}`
	cloudEvent = `{"specversion":"1.0","type":"Microsoft.Storage.%[2]s","source":"/subscriptions/1/resourceGroups/g/providers/Microsoft.Storage/storageAccounts/account",
		"id":"1","time":"2026-11-24T00:00:00Z","subject":"/blobServices/default/containers/logs/blobs/%[1]s","data":{"api":"PutBlob"}}`
)

// Messages as Event Grid writes them.
var events = []struct {
	name, text string
	keys       []string
	alien      string
}{
	{"grid", fmt.Sprintf(gridEvent, "dt=1/a b+%25.gz", "BlobCreated"), []string{"dt=1/a b+%25.gz"}, ""},
	{"grid, base64", base64.StdEncoding.EncodeToString(fmt.Appendf(nil, gridEvent, "a", "BlobCreated")), []string{"a"}, ""},
	{"cloud", fmt.Sprintf(cloudEvent, "b/c", "BlobCreated"), []string{"b/c"}, ""},
	{"cloud, base64", base64.StdEncoding.EncodeToString(fmt.Appendf(nil, cloudEvent, "b", "BlobCreated")), []string{"b"}, ""},
	{"array", "[" + fmt.Sprintf(gridEvent, "a", "BlobCreated") + "," + fmt.Sprintf(gridEvent, "b", "BlobDeleted") + "]", []string{"a"}, ""},
	{"deleted", fmt.Sprintf(cloudEvent, "b", "BlobDeleted"), nil, ""},
	{"other container", strings.Replace(fmt.Sprintf(gridEvent, "a", "BlobCreated"), "containers/logs", "containers/other", 1), nil, bucket.OtherBucket("Account/other")},
	{"other account", strings.Replace(fmt.Sprintf(cloudEvent, "a", "BlobCreated"), "storageAccounts/account", "storageAccounts/other", 1), nil, bucket.OtherBucket("other/logs")},
	{"other event", `{"type":"Microsoft.Resources.ResourceWriteSuccess","subject":"x"}`, nil, bucket.NoNotification},
	{"no json", "hello", nil, bucket.NoNotification},
	{"empty", "", nil, bucket.NoNotification},
	{"no events", "[]", nil, bucket.NoNotification},
}

func TestEvents(t *testing.T) {
	for _, tc := range events {
		keys, alien := decodeEvents(tc.text, "account", "logs")
		if !slices.Equal(keys, tc.keys) || alien != tc.alien {
			t.Errorf("%s: %q, %q; want %q, %q", tc.name, keys, alien, tc.keys, tc.alien)
		}
	}
}

// No message stops the source or takes more memory than a multiple of its size.
func FuzzEvents(f *testing.F) {
	for _, tc := range events {
		f.Add(tc.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var keys []string
		var alien string
		alloctest.Bound(t, len(text), 256, 256<<10, func() { keys, alien = decodeEvents(text, "account", "logs") })
		if slices.Contains(keys, "") || len(keys) > len(text) {
			t.Errorf("keys %q, %q", keys, alien)
		}
	})
}

// newQueue returns a queue with the notifications of the container account/logs.
func newQueue(t *testing.T, o Options, at string) objstore.Queue {
	t.Helper()
	r := NewReader()
	o.section = r.section
	r.Options, r.QueueURL = o, at
	q, err := r.OpenQueue("account/logs", quiet)
	must(t, err)
	return q
}

func TestQueue(t *testing.T) {
	server := azuretest.Start(t)
	at, send := server.Queue(t, "logs")
	o := Default()
	storetest.Queue(t, newQueue(t, o, at), func(keys ...string) {
		for _, key := range keys {
			send(base64.StdEncoding.EncodeToString(fmt.Appendf(nil, gridEvent, key, "BlobCreated")))
		}
	}, send)
	err := newQueue(t, o, strings.Replace(at, "/logs", "/nowhere", 1)).Check(t.Context())
	if err == nil || !strings.Contains(err.Error(), "there is no such queue: create it, or correct source.file.azure.queue") {
		t.Error(err)
	}
}

// What is wrong with a queue is said with what to do about it.
func TestQueueErrors(t *testing.T) {
	for code, tc := range map[string]struct {
		status int
		want   string
	}{
		"QueueNotFound":                   {404, "there is no such queue: create it, or correct source.file.azure.queue"},
		"QueueBeingDeleted":               {409, "there is no such queue"},
		"AuthorizationPermissionMismatch": {403, "give them the role Storage Queue Data Contributor"},
		"AuthenticationFailed":            {403, "correct AZURE_STORAGE_KEY"},
		"AuthorizationFailure":            {403, "see its networking rules"},
	} {
		t.Run(code, func(t *testing.T) {
			server, direct := azuretest.Direct()
			o := options(server, storetest.Transport(func(r *http.Request) (*http.Response, error) { return says(tc.status, code)(r, direct) }))
			o.Attempts = 2
			if err := newQueue(t, o, "http://store.invalid/account/logs").Check(t.Context()); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}
