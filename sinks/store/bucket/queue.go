package bucket

import (
	"net/url"
	"strings"

	"github.com/urlmill/urlmill/pipeline"
)

// NoNotification is the [objstore.Message.Alien] of a message that is no notification.
const NoNotification = "it is no notification about objects"

// OtherBucket is that of a notification of another bucket.
func OtherBucket(name string) string { return "it is about the bucket " + name }

// CheckQueue returns what is wrong with the URL of a queue, a [*pipeline.FieldError]; "" is none.
func CheckQueue(key, queue, example string) error {
	u, err := url.Parse(queue)
	if queue == "" || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.RawQuery == "" && strings.Trim(u.Path, "/") != "" {
		return nil
	}
	var p pipeline.Problems
	p.Value(key, queue, "is not the URL of a queue").Advise("give one such as %s", example)
	return p.Err()
}
