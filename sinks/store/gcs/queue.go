package gcs

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store/bucket"
)

const (
	pubsubEndpoint = "https://pubsub.googleapis.com"
	// pubsubVariable names a server other than Google's for all of its libraries.
	pubsubVariable = "PUBSUB_EMULATOR_HOST"
	// queueBatch is how many messages a request is about, and queueWait how long the service may wait for some.
	queueBatch = 100
	queueWait  = 90 * time.Second
	// maxHold is the longest time that a message may be kept from others.
	maxHold = 600 * time.Second
)

// subscriptionName matches names of subscriptions.
var subscriptionName = regexp.MustCompile(`^projects/[^/]+/subscriptions/[A-Za-z][A-Za-z0-9._~+%-]{2,254}$`)

// Queue implements [objstore.Notified].
func (o *ReaderOptions) Queue() (key, name string) { return "subscription", o.Subscription }

// Validate implements [objstore.Options].
func (o *ReaderOptions) Validate() error {
	var p pipeline.Problems
	p.Join(o.Options.Validate())
	if o.Subscription != "" && !subscriptionName.MatchString(o.Subscription) {
		p.Value("subscription", o.Subscription, "is not the name of a subscription").Advise("give one such as projects/my-project/subscriptions/new-logs")
	}
	return p.Err()
}

// OpenQueue implements [objstore.Notified].
func (o *ReaderOptions) OpenQueue(name string, log *slog.Logger) (objstore.Queue, error) {
	options := o.Options
	options.Options = options.WithDefaults()
	options.Log, options.Trouble = log, new(bucket.Trouble)
	endpoint := pubsubEndpoint
	if at := os.Getenv(pubsubVariable); at != "" {
		endpoint = "http://" + strings.TrimPrefix(at, "http://")
	}
	s, tokens := service, newTokens(options, endpoint, queueScope)
	s.Section = options.section
	return &queue{bucket: name, url: endpoint + "/v1/" + o.Subscription, Requests: bucket.Requests{
		Place: bucket.Place{Root: o.Subscription}, Service: s, Options: options.Options, HTTP: options.HTTPClient(options.Transport),
		Sign: tokens.sign, Renew: tokens.renew(), Fault: fault, Advise: options.adviseQueue, Role: "the role Pub/Sub Subscriber",
	}}, nil
}

// adviseQueue says what to do about an error, where Pub/Sub has reasons of its own.
func (o Options) adviseQueue(op string, err error) string {
	var answer *bucket.StatusError
	var credentials *bucket.CredentialsError
	switch {
	case errors.As(err, &credentials):
		return o.advise("")(op, err)
	case !errors.As(err, &answer):
		return "Pub/Sub cannot be reached: look at the network, or correct " + pubsubVariable
	case answer.Status == http.StatusNotFound:
		return "there is no such subscription: create it, or correct " + o.section + ".subscription"
	case strings.Contains(answer.Message, "ACCESS_TOKEN_SCOPE_INSUFFICIENT"), strings.Contains(answer.Message, "insufficient authentication scopes"):
		return "the credentials are not for Pub/Sub: give this machine the scope cloud-platform"
	}
	return ""
}

// queue implements [objstore.Queue] by the REST interface of Pub/Sub.
type queue struct {
	bucket.Requests
	bucket string
	url    string
}

func (q *queue) call(ctx context.Context, action string, wait time.Duration, in any) (*bucket.Answer, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	return q.Do(ctx, bucket.Call{
		Operation: action, Method: http.MethodPost, URL: q.url + ":" + action, Header: http.Header{"Content-Type": {"application/json"}}, Body: [][]byte{body}, Wait: wait,
	})
}

// Check implements [objstore.Queue]. What a message that does not exist may be asked for, all messages may.
func (q *queue) Check(ctx context.Context) error {
	_, err := q.call(ctx, "acknowledge", 0, map[string]any{"ackIds": []string{"none"}})
	var answer *bucket.StatusError
	if errors.As(err, &answer) && answer.Status == http.StatusBadRequest {
		return nil
	}
	return err
}

// Receive implements [objstore.Queue].
func (q *queue) Receive(ctx context.Context, hold time.Duration) ([]*objstore.Message, error) {
	once := *q
	once.Attempts = 1 // that nothing comes is no failure
	answer, err := decode[struct {
		Received []struct {
			AckID   string `json:"ackId"`
			Message struct {
				ID         string            `json:"messageId"`
				Attributes map[string]string `json:"attributes"`
			} `json:"message"`
		} `json:"receivedMessages"`
	}](once.call(ctx, "pull", queueWait, map[string]any{"maxMessages": queueBatch}))
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return nil, nil
	case err != nil:
		return nil, err
	}
	messages := make([]*objstore.Message, 0, len(answer.Received))
	for _, r := range answer.Received {
		m := &objstore.Message{ID: r.Message.ID, Handle: r.AckID}
		m.Keys, m.Alien = decodeEvent(r.Message.Attributes, q.bucket)
		messages = append(messages, m)
	}
	if len(messages) == 0 {
		return nil, nil
	}
	return messages, q.Hold(ctx, messages, hold) // the subscription's own time may be short
}

// Hold implements [objstore.Queue].
func (q *queue) Hold(ctx context.Context, messages []*objstore.Message, d time.Duration) error {
	return q.batches(ctx, "modifyAckDeadline", messages, map[string]any{"ackDeadlineSeconds": int(min(d, maxHold).Seconds())})
}

// Delete implements [objstore.Queue].
func (q *queue) Delete(ctx context.Context, messages []*objstore.Message) error {
	return q.batches(ctx, "acknowledge", messages, map[string]any{})
}

func (q *queue) batches(ctx context.Context, action string, messages []*objstore.Message, in map[string]any) error {
	var errs []error
	for len(messages) > 0 {
		n := min(queueBatch, len(messages))
		ids := make([]string, 0, n)
		for _, m := range messages[:n] {
			ids = append(ids, m.Handle)
		}
		in["ackIds"] = ids
		_, err := q.call(ctx, action, 0, in)
		errs = append(errs, err)
		messages = messages[n:]
	}
	return errors.Join(errs...)
}

// decodeEvent returns the key of the object of a bucket that a message says is new, and why it is not for readers of the bucket.
// https://cloud.google.com/storage/docs/pubsub-notifications
func decodeEvent(attributes map[string]string, name string) (keys []string, alien string) {
	switch key, of := attributes["objectId"], attributes["bucketId"]; {
	case attributes["eventType"] == "" || key == "" || of == "":
		return nil, bucket.NoNotification
	case of != name:
		return nil, bucket.OtherBucket(of)
	case attributes["eventType"] == "OBJECT_FINALIZE":
		return []string{key}, ""
	}
	return nil, ""
}
