package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/sinks/store/bucket"
)

const (
	// queueBatch is how many messages a request of Amazon SQS is about.
	queueBatch = 10
	// queueWait is how long a request waits for a message.
	queueWait = 20 * time.Second
	// maxHold is the longest time that a message may be kept from others.
	maxHold = 12 * time.Hour
)

// Queue implements [objstore.Notified].
func (o *ReaderOptions) Queue() (key, name string) { return "queue", o.QueueURL }

// Validate implements [objstore.Options].
func (o *ReaderOptions) Validate() error {
	return errors.Join(o.Options.Validate(), bucket.CheckQueue("queue", o.QueueURL, "https://sqs.eu-central-1.amazonaws.com/111122223333/new-logs"))
}

// OpenQueue implements [objstore.Notified].
func (o *ReaderOptions) OpenQueue(name string, log *slog.Logger) (objstore.Queue, error) {
	options := o.Options.withDefaults()
	options.Trouble, options.Log = new(Trouble), log
	if options.Region == "" {
		options.Region = queueRegion(o.QueueURL)
	}
	cfg, expired, err := loadConfig(context.Background(), options)
	if err != nil {
		return nil, err
	}
	if cfg.Region == "" {
		cfg.Region = regionOfOthers
	}
	at, err := url.Parse(o.QueueURL)
	if err != nil {
		return nil, err
	}
	q := &queue{bucket: name, url: o.QueueURL, endpoint: at.Scheme + "://" + at.Host + "/"}
	s := options.service()
	q.Requests = bucket.Requests{
		Place: bucket.Place{Root: o.QueueURL}, Service: s, Options: options.Options, HTTP: options.HTTPClient(options.Transport),
		Sign: signQueue(cfg), Renew: expired, Refused: func(code string) bool { return code == "ExpiredToken" || code == "ExpiredTokenException" },
		Fault: queueFault, Advise: q.advise, Role: "the actions sqs:ReceiveMessage, sqs:DeleteMessage and sqs:ChangeMessageVisibility",
	}
	return q, nil
}

// queueRegion returns the region that the host of a queue names, "" for servers other than Amazon's.
func queueRegion(queue string) string {
	u, err := url.Parse(queue)
	if err != nil {
		return ""
	}
	labels := strings.Split(u.Hostname(), ".")
	switch {
	case len(labels) >= 4 && labels[0] == "sqs" && labels[2] == "amazonaws", len(labels) >= 4 && labels[0] == "sqs-fips":
		return labels[1]
	case len(labels) == 4 && labels[1] == "queue" && labels[2] == "amazonaws": // of old queues
		return labels[0]
	}
	return ""
}

// signQueue returns what signs requests to Amazon SQS.
func signQueue(cfg aws.Config) func(*http.Request) error {
	signer := v4.NewSigner()
	return func(r *http.Request) error {
		credentials, err := cfg.Credentials.Retrieve(r.Context())
		if err != nil {
			return err
		}
		body, err := r.GetBody()
		if err != nil {
			return err
		}
		content, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		return signer.SignHTTP(r.Context(), credentials, r, hex.EncodeToString(sum[:]), "sqs", cfg.Region, time.Now())
	}
}

// queue implements [objstore.Queue] by the JSON protocol of Amazon SQS.
type queue struct {
	bucket.Requests
	bucket   string
	url      string
	endpoint string
}

// call makes a request, and decodes the answer into out unless that is nil.
func (q *queue) call(ctx context.Context, action string, wait time.Duration, in map[string]any, out any) error {
	in["QueueUrl"] = q.url
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	a, err := q.Do(ctx, bucket.Call{
		Operation: action, Method: http.MethodPost, URL: q.endpoint, Body: [][]byte{body}, Wait: wait,
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "X-Amz-Target": {"AmazonSQS." + action}},
	})
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(a.Body, out); err != nil {
		return fmt.Errorf("%s %s: the answer of the server is not JSON: %w", action, q.url, err)
	}
	return nil
}

// badHandle is the code of an answer about a message that does not exist. The rights were looked at before.
const badHandle = "ReceiptHandleIsInvalid"

// Check implements [objstore.Queue]. It asks for what needs the rights, of a message that does not exist.
func (q *queue) Check(ctx context.Context) error {
	const none = "AQEBnone"
	for action, in := range map[string]map[string]any{
		"DeleteMessage":           {"ReceiptHandle": none},
		"ChangeMessageVisibility": {"ReceiptHandle": none, "VisibilityTimeout": 0},
	} {
		err := q.call(ctx, action, 0, in, nil)
		var answer *bucket.StatusError
		if err == nil || errors.As(err, &answer) && (answer.Code == badHandle || answer.Code == "InvalidParameterValue" || answer.Code == "MessageNotInflight") {
			continue
		}
		return err
	}
	return nil
}

// Receive implements [objstore.Queue].
func (q *queue) Receive(ctx context.Context, hold time.Duration) ([]*objstore.Message, error) {
	var answer struct {
		Messages []struct {
			MessageID     string `json:"MessageId"`
			ReceiptHandle string
			Body          string
		}
	}
	err := q.call(ctx, "ReceiveMessage", queueWait, map[string]any{
		"MaxNumberOfMessages": queueBatch, "VisibilityTimeout": int(hold.Seconds()), "WaitTimeSeconds": int(queueWait.Seconds()),
	}, &answer)
	if err != nil {
		return nil, err
	}
	messages := make([]*objstore.Message, 0, len(answer.Messages))
	for _, m := range answer.Messages {
		message := &objstore.Message{ID: m.MessageID, Handle: m.ReceiptHandle}
		message.Keys, message.Alien = decodeEvents([]byte(m.Body), q.bucket)
		messages = append(messages, message)
	}
	return messages, nil
}

// Hold implements [objstore.Queue].
func (q *queue) Hold(ctx context.Context, messages []*objstore.Message, d time.Duration) error {
	return q.batches(ctx, "ChangeMessageVisibilityBatch", messages, map[string]any{"VisibilityTimeout": int(min(d, maxHold).Seconds())})
}

// Delete implements [objstore.Queue].
func (q *queue) Delete(ctx context.Context, messages []*objstore.Message) error {
	return q.batches(ctx, "DeleteMessageBatch", messages, nil)
}

// batches makes requests about messages. One that others have by now is no error: it comes again, or is gone.
func (q *queue) batches(ctx context.Context, action string, messages []*objstore.Message, with map[string]any) error {
	var errs []error
	for len(messages) > 0 {
		n := min(queueBatch, len(messages))
		entries := make([]map[string]any, 0, n)
		for i, m := range messages[:n] {
			entry := map[string]any{"Id": fmt.Sprint(i), "ReceiptHandle": m.Handle}
			for k, v := range with {
				entry[k] = v
			}
			entries = append(entries, entry)
		}
		errs = append(errs, q.call(ctx, action, 0, map[string]any{"Entries": entries}, nil))
		messages = messages[n:]
	}
	return errors.Join(errs...)
}

// queueFault returns the code and the message of an answer that is an error.
func queueFault(h http.Header, body []byte) (code, message string) {
	var answer struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
		Upper   string `json:"Message"`
	}
	_ = json.NewDecoder(bytes.NewReader(body)).Decode(&answer) // what is not JSON says nothing
	code = answer.Type[strings.LastIndexByte(answer.Type, '#')+1:]
	if text, _, ok := strings.Cut(h.Get("X-Amzn-Query-Error"), ";"); ok && code == "" {
		code = text
	}
	code = code[strings.LastIndexByte(code, '.')+1:]
	if answer.Message == "" {
		answer.Message = answer.Upper
	}
	return code, answer.Message
}

// advise says what to do about an error, where Amazon SQS has reasons of its own.
func (q *queue) advise(_ string, err error) string {
	option := q.Section + ".queue"
	var answer *bucket.StatusError
	var credentials *bucket.CredentialsError
	switch {
	case errors.As(err, &answer):
	case errors.As(err, &credentials):
		return "no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, name a profile, or give this machine a role"
	default:
		return "the queue's server cannot be reached: correct " + option + ", or look at the network"
	}
	switch code, text := answer.Code, answer.Message; {
	case code == "QueueDoesNotExist" || code == "NonExistentQueue":
		return "there is no such queue in this region: create it, or correct " + option
	case code == "InvalidAddress":
		return "this is not the URL of a queue in this region: correct " + option
	case code == "QueueDeletedRecently":
		return "the queue was deleted: create it, or take " + option + " out"
	case code == "ExpiredToken" || code == "ExpiredTokenException":
		return "the credentials have expired: " + renewAdvice + " and start again"
	case code == "RequestTimeTooSkewed", code == "RequestExpired", strings.Contains(text, "Signature expired"), strings.Contains(text, "Signature not yet current"):
		return "the clock of this machine is wrong: set it"
	case strings.Contains(text, "Credential should be scoped to a valid region"):
		return "the queue is in another region: correct " + option + ", or set " + q.Option("region")
	case code == "InvalidClientTokenId" || code == "UnrecognizedClientException" || code == "SignatureDoesNotMatch" || code == "InvalidSignatureException" || code == "InvalidAccessKeyId":
		return "the server does not accept the credentials: correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the profile, or the role"
	case code == "OverLimit":
		return "too many messages of the queue are in hand: let one output alone read it"
	case strings.HasPrefix(code, "Kms"):
		return "the key that encrypts the queue cannot be used: allow kms:Decrypt for it"
	case code == "AccessDenied" || code == "AccessDeniedException":
		return "the credentials do not allow this: allow them " + strings.TrimPrefix(q.Role, "the actions ") + " for the queue"
	}
	return ""
}
