package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/leaktest"
	"github.com/urlmill/urlmill/internal/dev/testproc"
	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/pipeline"
)

// answer returns an answer to a produce request with an error.
func answer(req kmsg.Request, err *kerr.Error) kmsg.Response {
	p := kmsg.NewProduceResponseTopicPartition()
	p.ErrorCode = err.Code
	topic := kmsg.NewProduceResponseTopic()
	topic.Topic, topic.Partitions = "t", append(topic.Partitions, p)
	resp := req.ResponseKind().(*kmsg.ProduceResponse)
	resp.Topics = append(resp.Topics, topic)
	return resp
}

// values reads n records and returns how often each value is there.
func values(t *testing.T, k *kfake.Cluster, n int) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for _, r := range read(t, k, n) {
		seen[string(r.Value)]++
	}
	return seen
}

// TestErrorsAreRetried answers requests with errors that pass.
func TestErrorsAreRetried(t *testing.T) {
	leaktest.Check(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	for _, code := range []*kerr.Error{kerr.NotLeaderForPartition, kerr.LeaderNotAvailable, kerr.NotEnoughReplicas, kerr.NotEnoughReplicasAfterAppend, kerr.RequestTimedOut, kerr.UnknownTopicOrPartition, nil} {
		k.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
			if code == nil {
				return nil, errors.New("hang up"), true
			}
			return answer(req, code), nil, true
		})
	}
	w := open(t, begin(t, Options{Target: target(k)}, pipeline.Schemas{rowSchema}), 0)
	write(t, w, pipeline.Rows, rows(t, numbered(0, 50)...), 50)
	for _, row := range numbered(0, 50) {
		if values(t, k, 50)[row] != 1 {
			t.Fatalf("%s is not there once", row)
		}
	}
}

// TestLostAcknowledgement breaks the connection after the broker has taken the records: they are there twice, and that
// is what at least once says.
func TestLostAcknowledgement(t *testing.T) {
	leaktest.Check(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	var first atomic.Bool
	k.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		if !first.CompareAndSwap(false, true) {
			return nil, nil, false
		}
		records := req.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records
		again := kmsg.NewPtrProduceRequest()
		again.Acks, again.TimeoutMillis = -1, 10_000
		p := kmsg.NewProduceRequestTopicPartition()
		p.Records = records
		topic := kmsg.NewProduceRequestTopic()
		topic.Topic, topic.Partitions = "t", append(topic.Partitions, p)
		topic.TopicID = k.TopicInfo("t").TopicID
		again.Topics = append(again.Topics, topic)
		done := make(chan error, 1)
		k.SleepControl(func() {
			resp, err := again.RequestWith(context.Background(), client)
			if err == nil {
				err = kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
			}
			done <- err
		})
		if err := <-done; err != nil {
			t.Errorf("taking the records: %v", err)
		}
		return nil, errors.New("hang up"), true
	})
	w := open(t, begin(t, Options{Target: target(k)}, pipeline.Schemas{rowSchema}), 0)
	write(t, w, pipeline.Rows, rows(t, numbered(0, 50)...), 50)
	for _, row := range numbered(0, 50) {
		if values(t, k, 100)[row] != 2 {
			t.Fatalf("%s is not there twice", row)
		}
	}
}

// TestFatalErrors answers with errors that do not pass: the write fails, with what to do.
func TestFatalErrors(t *testing.T) {
	leaktest.Check(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	s := begin(t, Options{Target: target(k)}, pipeline.Schemas{rowSchema})
	for code, word := range map[*kerr.Error]string{
		kerr.TopicAuthorizationFailed: "Write and Describe", kerr.MessageTooLarge: "max.message.bytes", kerr.PolicyViolation: "policy",
	} {
		k.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
			return answer(req, code), nil, true
		})
		err := open(t, s, 0).Write(t.Context(), pipeline.Rows, rows(t, numbered(0, 3)...), pipeline.Span{First: 0, Next: 3})
		if err == nil || !strings.Contains(err.Error(), word) || !strings.Contains(err.Error(), `topic "t"`) {
			t.Errorf("%v: %v", code, err)
		}
	}
	huge := fmt.Sprintf(`{"host":%q,"n":1,"list":null}`, strings.Repeat("x", 1_100_000))
	err := open(t, s, 0).Write(t.Context(), pipeline.Rows, rows(t, huge), pipeline.Span{First: 0, Next: 1})
	if err == nil || !strings.Contains(err.Error(), "larger than max_message_bytes, 1000000") {
		t.Errorf("%v", err)
	}
}

// TestForbidden logs in as a user who may do nothing: the message names the topic, once, and what the user needs.
func TestForbidden(t *testing.T) {
	leaktest.Check(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"), kfake.EnableSASL(), kfake.EnableACLs(),
		kfake.Superuser("PLAIN", "root", "s3cret"), kfake.User("PLAIN", "ann", "s3cret"))
	o := Options{Target: target(k)}
	o.SASL = kafkaconn.SASL{Mechanism: kafkaconn.MechanismPlain, Username: "ann", Password: "s3cret"}
	err := create(t, o).Start(t.Context(), pipeline.Schemas{rowSchema})
	if err == nil || !strings.Contains(err.Error(), "Write and Describe") || strings.Count(err.Error(), `topic "t"`) != 1 {
		t.Error(err)
	}
}

func TestMissingTopic(t *testing.T) {
	leaktest.Check(t)
	k := kafkatest.Fake(t, kfake.AllowAutoTopicCreation())
	o := Options{Target: target(k)}
	o.StartTimeout = 1
	err := create(t, o).Start(t.Context(), pipeline.Schemas{rowSchema})
	if err == nil || !strings.Contains(err.Error(), `topic "t": it does not exist`) || !strings.Contains(err.Error(), "--create --topic t") {
		t.Error(err)
	}
}

func TestNoBroker(t *testing.T) {
	leaktest.Check(t)
	o := Options{Target: Target{Brokers: []string{"127.0.0.1:1"}, Topic: "t", StartTimeout: 1}}
	if err := create(t, o).Start(t.Context(), pipeline.Schemas{rowSchema}); err == nil || !strings.Contains(err.Error(), "no broker of 127.0.0.1:1") {
		t.Error(err)
	}
	o.StartTimeout = time.Hour
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	time.AfterFunc(50*time.Millisecond, func() { cancel(stop) })
	if err := create(t, o).Start(ctx, pipeline.Schemas{rowSchema}); !errors.Is(err, stop) {
		t.Error(err)
	}
}

// TestListenerThatHangsUp talks to listeners that want something else, and close the connection or say nothing. Waiting does
// not help, so the start fails at once, with what to change.
func TestListenerThatHangsUp(t *testing.T) {
	leaktest.Check(t)
	caFile, server := kafkatest.Certificate(t)
	encrypted := kafkatest.Fake(t, kfake.SeedTopics(1, "t"), kfake.TLS(&tls.Config{Certificates: []tls.Certificate{server}, MinVersion: tls.VersionTLS12}))
	login := kafkatest.Fake(t, kfake.SeedTopics(1, "t"), kfake.EnableSASL(), kfake.Superuser("PLAIN", "ann", "s3cret"))
	open := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	with := func(k *kfake.Cluster, c kafkaconn.TLS, s kafkaconn.SASL) Options {
		o := Options{Target: target(k)}
		o.TLS, o.SASL, o.StartTimeout = c, s, time.Hour
		return o
	}
	plain := func(password string) kafkaconn.SASL {
		return kafkaconn.SASL{Mechanism: kafkaconn.MechanismPlain, Username: "ann", Password: config.Secret(password)}
	}
	trusting := kafkaconn.TLS{Enabled: true, CAFile: caFile}
	deaf := with(open, trusting, kafkaconn.SASL{})
	deaf.DialTimeout = time.Second // it waits for the rest of what the handshake looks like to it
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"plain text to TLS": {with(encrypted, kafkaconn.TLS{}, kafkaconn.SASL{}), "enable TLS"},
		"TLS to plain text": {deaf, "disable TLS"},
		"no login":          {with(login, kafkaconn.TLS{}, kafkaconn.SASL{}), "set SASL mechanism"},
		"wrong password":    {with(login, kafkaconn.TLS{}, plain("wr0ng")), "check SASL"},
		"right password":    {with(login, kafkaconn.TLS{}, plain("s3cret")), ""},
		"right authority":   {with(encrypted, trusting, kafkaconn.SASL{}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := create(t, test.options).Start(t.Context(), pipeline.Schemas{rowSchema})
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), `kafka: writing to topic "t": `)):
				t.Errorf("%v", err)
			}
		})
	}
}

// TestBrokerRestarts writes while the broker is down: the rows wait for it.
func TestBrokerRestarts(t *testing.T) {
	leaktest.Check(t)
	dir, port := t.TempDir(), kfake.Ports(testproc.Ports(t, 1)...)
	k := kafkatest.Fake(t, port, kfake.DataDir(dir), kfake.SyncWrites(), kfake.SeedTopics(2, "t"))
	w := open(t, begin(t, Options{Target: target(k), Key: "n"}, pipeline.Schemas{rowSchema}), 0)
	write(t, w, pipeline.Rows, rows(t, numbered(0, 100)...), 100)
	k.Close()
	written := make(chan error, 1)
	go func() {
		written <- w.Write(t.Context(), pipeline.Rows, rows(t, numbered(100, 200)...), pipeline.Span{First: 100, Next: 200})
	}()
	select {
	case err := <-written:
		t.Fatalf("nobody took it: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	k = kafkatest.Fake(t, port, kfake.DataDir(dir), kfake.SyncWrites())
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	seen := values(t, k, 200)
	for _, row := range numbered(0, 200) {
		if seen[row] == 0 {
			t.Fatalf("%s is lost", row)
		}
	}
}

// TestCancelEndsWaiting cancels a write that no broker answers.
func TestCancelEndsWaiting(t *testing.T) {
	leaktest.Check(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	asked, release := kafkatest.Hold(t, k, kmsg.Produce)
	w := open(t, begin(t, Options{Target: target(k)}, pipeline.Schemas{rowSchema}), 0)
	ctx, cancel := context.WithCancelCause(t.Context())
	lost := errors.New("lost")
	go func() {
		<-asked
		cancel(lost)
	}()
	err := w.Write(ctx, pipeline.Rows, rows(t, numbered(0, 3)...), pipeline.Span{First: 0, Next: 3})
	release()
	if !errors.Is(err, lost) {
		t.Error(err)
	}
	if err := w.Abandon(); err != nil {
		t.Error(err)
	}
}

// TestReal produces to Apache Kafka with every compression, in both formats.
func TestReal(t *testing.T) {
	leaktest.Check(t)
	c := kafkatest.Start(t, kafkatest.Options{})
	for _, format := range []string{JSON, Arrow} {
		for _, compression := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
			topic := format + "." + compression
			c.CreateTopic(t, topic, 2)
			o := Options{Target: Target{Brokers: []string{c.Addr()}, Topic: topic, Compression: compression}, Format: format}
			w := open(t, begin(t, o, pipeline.Schemas{rowSchema}), 0)
			write(t, w, pipeline.Rows, rows(t, numbered(0, 3000)...), 3000)
			client := c.Client(t, kgo.ConsumeTopics(topic))
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			for next := 0; next < 3000; {
				fetches := client.PollFetches(ctx)
				if err := errors.Join(fetches.Err(), ctx.Err()); err != nil {
					t.Fatal(err)
				}
				fetches.EachRecord(func(r *kgo.Record) {
					if format == Arrow {
						next = checkStream(t, r.Value, next)
						return
					}
					if want := numbered(next, next+1)[0]; string(r.Value) != want {
						t.Fatalf("%s: %s, want %s", topic, r.Value, want)
					}
					next++
				})
			}
			cancel()
		}
	}
}
