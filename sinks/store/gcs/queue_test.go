package gcs

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/pubsubtest"
	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/sinks/store/bucket"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// finalized returns the attributes of a notification about an object.
func finalized(bucketID, key string) map[string]string {
	return map[string]string{
		"eventType": "OBJECT_FINALIZE", "bucketId": bucketID, "objectId": key, "objectGeneration": "1", "payloadFormat": "JSON_API_V1",
		"notificationConfig": "projects/_/buckets/logs/notificationConfigs/1", "eventTime": "2026-11-24T00:00:00Z",
	}
}

func TestEvents(t *testing.T) {
	removed := finalized("logs", "a")
	removed["eventType"] = "OBJECT_DELETE"
	for name, tc := range map[string]struct {
		attributes map[string]string
		keys       []string
		alien      string
	}{
		"finalized":    {finalized("logs", "dt=1/a b+%ä.gz"), []string{"dt=1/a b+%ä.gz"}, ""},
		"removed":      {removed, nil, ""},
		"other bucket": {finalized("other", "a"), nil, bucket.OtherBucket("other")},
		"other":        {map[string]string{"eventType": "OBJECT_FINALIZE"}, nil, bucket.NoNotification},
		"empty":        {nil, nil, bucket.NoNotification},
	} {
		if keys, alien := decodeEvent(tc.attributes, "logs"); !slices.Equal(keys, tc.keys) || alien != tc.alien {
			t.Errorf("%s: %q, %q; want %q, %q", name, keys, alien, tc.keys, tc.alien)
		}
	}
}

// newQueue returns a queue with the notifications of the bucket logs.
func newQueue(t *testing.T, o Options, subscription string) objstore.Queue {
	t.Helper()
	r := NewReader()
	o.section = r.section
	r.Options, r.Subscription = o, subscription
	q, err := r.OpenQueue("logs", quiet)
	must(t, err)
	return q
}

func TestQueue(t *testing.T) {
	server := pubsubtest.Start(t)
	t.Setenv(pubsubVariable, server.Host)
	subscription := server.Subscription(t, "logs")
	storetest.Queue(t, newQueue(t, Default(), subscription), func(keys ...string) {
		for _, key := range keys {
			server.Publish(t, finalized("logs", key))
		}
	}, func(text string) { server.Publish(t, map[string]string{"text": text}) })
	server.Delete(t, subscription)
	err := newQueue(t, Default(), subscription).Check(t.Context())
	if err == nil || !strings.Contains(err.Error(), "there is no such subscription: create it, or correct source.file.gcs.subscription") {
		t.Error(err)
	}
}

// What is wrong with a subscription is said with what to do about it. An answer that takes no identifier of a message is none.
func TestQueueErrors(t *testing.T) {
	for code, tc := range map[string]struct {
		status        int
		message, want string
	}{
		"NOT_FOUND":         {404, "Resource not found", "there is no such subscription: create it"},
		"PERMISSION_DENIED": {403, "User not authorized to perform this action.", "give them the role Pub/Sub Subscriber"},
		"SCOPE":             {403, "Request had insufficient authentication scopes.", "give this machine the scope cloud-platform"},
		"UNAUTHENTICATED":   {401, "Request had invalid authentication credentials.", "renew them where they come from"},
		"INVALID_ARGUMENT":  {400, "You have passed an invalid ack ID to the service", ""},
	} {
		t.Run(code, func(t *testing.T) {
			o := Default()
			o.Attempts, o.Pause = 2, func(int) time.Duration { return 0 }
			o.anonymous = true
			o.Transport = storetest.Transport(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: tc.status, Request: r, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(
					`{"error":{"code":1,"message":"` + tc.message + `","status":"` + code + `"}}`))}, nil
			})
			err := newQueue(t, o, "projects/p/subscriptions/logs").Check(t.Context())
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
	r := NewReader()
	r.Subscription = "logs"
	if err := r.Validate(); err == nil || !strings.Contains(err.Error(), "projects/my-project/subscriptions/new-logs") {
		t.Error(err)
	}
}
