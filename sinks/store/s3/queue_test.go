package s3

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
	"github.com/urlmill/urlmill/internal/dev/sqstest"
	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/sinks/store/bucket"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// Messages as S3, Amazon SNS and Amazon EventBridge write them.
var events = []struct {
	name, body string
	keys       []string
	alien      string
}{
	{
		"s3", `{"Records":[{"eventVersion":"2.1","eventSource":"aws:s3","awsRegion":"eu-central-1","eventName":"ObjectCreated:Put","s3":{"s3SchemaVersion":"1.0",
		"bucket":{"name":"logs","arn":"arn:aws:s3:::logs"},"object":{"key":"dt%3D2026-11-24/a+b%2Bc+%C3%A4.gz","size":12,"eTag":"d41d","sequencer":"00"}}}]}`,
		[]string{"dt=2026-11-24/a b+c ä.gz"},
		"",
	},
	{
		"minio", `{"EventName":"s3:ObjectCreated:Put","Key":"logs/a","Records":[{"eventName":"s3:ObjectCreated:Put","s3":{"bucket":{"name":"logs"},"object":{"key":"a"}}}]}`,
		[]string{"a"},
		"",
	},
	{"several", `{"Records":[{"eventName":"ObjectCreated:Copy","s3":{"bucket":{"name":"logs"},"object":{"key":"a"}}},
		{"eventName":"ObjectRestore:Completed","s3":{"bucket":{"name":"logs"},"object":{"key":"b"}}},
		{"eventName":"ObjectRemoved:Delete","s3":{"bucket":{"name":"logs"},"object":{"key":"c"}}}]}`, []string{"a", "b"}, ""},
	{"removed", `{"Records":[{"eventName":"ObjectRemoved:Delete","s3":{"bucket":{"name":"logs"},"object":{"key":"c"}}}]}`, nil, ""},
	{"sns", `{"Type":"Notification","MessageId":"1","TopicArn":"arn:aws:sns:eu-central-1:1:t","Subject":"Amazon S3 Notification",
		"Message":"{\"Records\":[{\"eventName\":\"ObjectCreated:Put\",\"s3\":{\"bucket\":{\"name\":\"logs\"},\"object\":{\"key\":\"a%2Fb\"}}}]}"}`, []string{"a/b"}, ""},
	{
		"eventbridge", `{"version":"0","id":"1","detail-type":"Object Created","source":"aws.s3","account":"1","region":"eu-central-1",
		"detail":{"version":"0","bucket":{"name":"logs"},"object":{"key":"dt=1/a+b%2B.gz","size":5,"etag":"b1","sequencer":"00"},"reason":"PutObject"}}`,
		[]string{"dt=1/a+b%2B.gz"},
		"",
	},
	{
		"eventbridge within sns", `{"Type":"Notification","Message":"{\"source\":\"aws.s3\",\"detail-type\":\"Object Created\",\"detail\":{\"bucket\":{\"name\":\"logs\"},\"object\":{\"key\":\"a\"}}}"}`,
		[]string{"a"},
		"",
	},
	{"tags", `{"source":"aws.s3","detail-type":"Object Tags Added","detail":{"bucket":{"name":"logs"},"object":{"key":"a"}}}`, nil, ""},
	{"test", `{"Service":"Amazon S3","Event":"s3:TestEvent","Time":"2026-11-24T00:00:00.000Z","Bucket":"logs","RequestId":"1","HostId":"2"}`, nil, ""},
	{"test within sns", `{"Type":"Notification","Message":"{\"Service\":\"Amazon S3\",\"Event\":\"s3:TestEvent\",\"Bucket\":\"logs\"}"}`, nil, ""},
	{"other bucket", `{"Records":[{"eventName":"ObjectCreated:Put","s3":{"bucket":{"name":"other"},"object":{"key":"a"}}}]}`, nil, bucket.OtherBucket("other")},
	{"other bucket, eventbridge", `{"source":"aws.s3","detail-type":"Object Created","detail":{"bucket":{"name":"other"},"object":{"key":"a"}}}`, nil, bucket.OtherBucket("other")},
	{"no json", "hello", nil, bucket.NoNotification},
	{"other json", `{"order": 12}`, nil, bucket.NoNotification},
	{"array", `[1]`, nil, bucket.NoNotification},
	{"empty", "", nil, bucket.NoNotification},
	{"bad key", `{"Records":[{"eventName":"ObjectCreated:Put","s3":{"bucket":{"name":"logs"},"object":{"key":"%zz"}}}]}`, nil, bucket.NoNotification},
	{"subscription", `{"Type":"SubscriptionConfirmation","Message":"You have chosen to subscribe","Token":"1"}`, nil, bucket.NoNotification},
	{"wrapped too often", strings.Repeat(`{"Type":"Notification","Message":"`, 2), nil, bucket.NoNotification},
}

func TestEvents(t *testing.T) {
	for _, tc := range events {
		keys, alien := decodeEvents([]byte(tc.body), "logs")
		if !slices.Equal(keys, tc.keys) || alien != tc.alien {
			t.Errorf("%s: %q, %q; want %q, %q", tc.name, keys, alien, tc.keys, tc.alien)
		}
	}
}

// No message stops the source or takes more memory than a multiple of its size.
func FuzzEvents(f *testing.F) {
	for _, tc := range events {
		f.Add([]byte(tc.body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var keys []string
		var alien string
		alloctest.Bound(t, len(body), 64, 256<<10, func() { keys, alien = decodeEvents(body, "logs") })
		if slices.Contains(keys, "") || len(keys) > len(body) {
			t.Errorf("keys %q, %q", keys, alien)
		}
	})
}

// newQueue returns a queue with the notifications of the bucket logs.
func newQueue(t *testing.T, at string, transport http.RoundTripper) objstore.Queue {
	t.Helper()
	r := NewReader()
	r.QueueURL, r.Region, r.Credentials = at, "us-east-1", credentials.NewStaticCredentialsProvider("key", "secret", "")
	r.Transport, r.Attempts = transport, 2
	r.Pause = func(int) time.Duration { return 0 }
	q, err := r.OpenQueue("logs", quiet)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestQueue(t *testing.T) {
	server := sqstest.Start(t)
	at := server.Queue(t, "logs")
	storetest.Queue(t, newQueue(t, at, nil), func(keys ...string) {
		var records []string
		for _, key := range keys {
			records = append(records, fmt.Sprintf(`{"eventName":"ObjectCreated:Put","s3":{"bucket":{"name":"logs"},"object":{"key":%q}}}`, url.QueryEscape(key)))
		}
		server.Send(t, at, `{"Records":[`+strings.Join(records, ",")+`]}`)
	}, func(text string) { server.Send(t, at, text) })
	server.Delete(t, at)
	if err := newQueue(t, at, nil).Check(t.Context()); err == nil || !strings.Contains(err.Error(), "there is no such queue in this region: create it, or correct source.file.s3.queue") {
		t.Error(err)
	}
}

// What is wrong with a queue is said with what to do about it.
func TestQueueErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		status         int
		code, message  string
		want, unwanted string
	}{
		"no queue":   {400, "com.amazonaws.sqs#QueueDoesNotExist", "The specified queue does not exist.", "there is no such queue in this region: create it", ""},
		"rights":     {403, "com.amazon.coral.service#AccessDeniedException", "User is not authorized", "allow them sqs:ReceiveMessage, sqs:DeleteMessage and sqs:ChangeMessageVisibility", ""},
		"expired":    {403, "com.amazon.coral.service#ExpiredTokenException", "The security token included in the request is expired", "the credentials have expired: renew them", ""},
		"skew":       {403, "com.amazon.coral.service#InvalidSignatureException", "Signature expired: 20261124T000000Z is now earlier than 20261124T010000Z", "the clock of this machine is wrong: set it", ""},
		"early":      {403, "InvalidSignatureException", "Signature not yet current: 1 is still later than 2", "the clock of this machine is wrong: set it", ""},
		"region":     {403, "com.amazon.coral.service#InvalidSignatureException", "Credential should be scoped to a valid region.", "the queue is in another region: correct source.file.s3.queue, or set source.file.s3.region", ""},
		"secret":     {403, "SignatureDoesNotMatch", "The request signature we calculated does not match", "the server does not accept the credentials", "sekrit"},
		"key":        {403, "UnrecognizedClientException", "The security token included in the request is invalid.", "the server does not accept the credentials", ""},
		"encryption": {400, "com.amazonaws.sqs#KmsAccessDenied", "no", "allow kms:Decrypt", ""},
		"trouble":    {503, "", "", "the server cannot take so many requests", ""},
		"no json":    {418, "", "<html>", "the server refuses this", ""},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t, "https://sqs.eu-central-1.amazonaws.com/1/logs", storetest.Transport(func(r *http.Request) (*http.Response, error) {
				if !strings.Contains(r.Header.Get("Authorization"), "/us-east-1/sqs/aws4_request") || !strings.Contains(r.Header.Get("Authorization"), "x-amz-target") {
					t.Errorf("signed by %q", r.Header.Get("Authorization"))
				}
				return &http.Response{StatusCode: tc.status, Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader(fmt.Sprintf(`{"__type":%q,"message":%q}`, tc.code, tc.message)))}, nil
			}))
			for what, err := range map[string]error{"check": q.Check(t.Context()), "receive": second(q.Receive(t.Context(), time.Minute))} {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("%s: %v, want %q", what, err, tc.want)
				}
			}
		})
	}
	none := newQueue(t, "https://sqs.eu-central-1.amazonaws.com/1/logs", storetest.Transport(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route") }))
	if err := none.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "correct source.file.s3.queue") {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestQueueRegion(t *testing.T) {
	for queue, want := range map[string]string{
		"https://sqs.eu-central-1.amazonaws.com/1/q":       "eu-central-1",
		"https://sqs.cn-north-1.amazonaws.com.cn/1/q":      "cn-north-1",
		"https://sqs-fips.us-gov-west-1.amazonaws.com/1/q": "us-gov-west-1",
		"https://eu-west-1.queue.amazonaws.com/1/q":        "eu-west-1",
		"http://127.0.0.1:9324/000000000000/q":             "",
	} {
		if got := queueRegion(queue); got != want {
			t.Errorf("%s: %q, want %q", queue, got, want)
		}
	}
}
