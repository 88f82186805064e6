package s3

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// event is any of the messages about objects: of S3 itself, of Amazon EventBridge, or one of these within a message of Amazon SNS.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html
type event struct {
	// S3
	Event   string // s3:TestEvent
	Records []struct {
		EventName string `json:"eventName"`
		S3        struct {
			Bucket struct{ Name string }
			Object struct{ Key string }
		}
	}
	// Amazon EventBridge
	Source     string `json:"source"`
	DetailType string `json:"detail-type"`
	Detail     struct {
		Bucket struct{ Name string }
		Object struct{ Key string }
	} `json:"detail"`
	// Amazon SNS
	Type    string
	Message string
}

// maxWraps bounds messages within messages.
const maxWraps = 3

// decodeEvents returns the keys of the objects of a bucket that a message says are new, and why it is not for readers of the bucket.
func decodeEvents(body []byte, name string) (keys []string, alien string) {
	var e event
	for range maxWraps {
		e = event{}
		if err := json.Unmarshal(body, &e); err != nil {
			return nil, bucket.NoNotification
		}
		if e.Message == "" || e.Type != "Notification" {
			break
		}
		body = []byte(e.Message)
	}
	switch {
	case e.Event == "s3:TestEvent":
		return nil, ""
	case e.Source == "aws.s3" && e.DetailType != "":
		switch {
		case e.Detail.Bucket.Name != name:
			return nil, bucket.OtherBucket(e.Detail.Bucket.Name)
		case e.Detail.Object.Key != "" && (e.DetailType == "Object Created" || e.DetailType == "Object Restore Completed"):
			return []string{e.Detail.Object.Key}, ""
		}
		return nil, ""
	case len(e.Records) == 0:
		return nil, bucket.NoNotification
	}
	for _, r := range e.Records {
		switch key, err := url.QueryUnescape(r.S3.Object.Key); { // a space is a plus sign
		case r.S3.Bucket.Name == "" || r.S3.Object.Key == "" || err != nil:
			alien = bucket.NoNotification
		case r.S3.Bucket.Name != name:
			alien = bucket.OtherBucket(r.S3.Bucket.Name)
		case isNew(strings.TrimPrefix(r.EventName, "s3:")):
			keys = append(keys, key)
		}
	}
	return keys, alien
}

// isNew reports whether an event is that of an object that can be read from now on.
func isNew(name string) bool {
	return strings.HasPrefix(name, "ObjectCreated:") || name == "ObjectRestore:Completed"
}
