package kafkatest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/leaktest"
)

// read returns the values of partition 0 of a topic as far as n records.
func read(t *testing.T, client *kgo.Client, n int) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var values []string
	for len(values) < n {
		fetches := client.PollFetches(ctx)
		if err := ctx.Err(); err != nil {
			t.Fatalf("%d of %d records: %v", len(values), n, err)
		}
		fetches.EachRecord(func(r *kgo.Record) { values = append(values, string(r.Value)) })
	}
	return values
}

func records(topic string, from, to int) []*kgo.Record {
	var records []*kgo.Record
	for i := from; i < to; i++ {
		records = append(records, &kgo.Record{Topic: topic, Value: fmt.Appendf(nil, "v%d", i)})
	}
	return records
}

func TestClusterKeepsDataOverRestarts(t *testing.T) {
	c := kafkatest.Start(t, kafkatest.Options{})
	c.CreateTopic(t, "t", 1)
	c.Produce(t, records("t", 0, 10))
	c.Kill()
	c.Start(t)
	c.Produce(t, records("t", 10, 20))
	c.Stop(t)
	c.Start(t)
	got := read(t, c.Client(t, kgo.ConsumeTopics("t")), 20)
	for i, v := range got {
		if want := fmt.Sprintf("v%d", i); v != want {
			t.Fatalf("record %d is %q, want %q", i, v, want)
		}
	}
}

func TestListeners(t *testing.T) {
	c := kafkatest.Start(t, kafkatest.Options{TLS: true, Users: []kafkatest.User{{Name: "ann", Password: "s3cret"}}})
	tlsConfig := kafkatest.ClientTLS(t, c.CAFile())
	login := plain.Auth{User: "ann", Pass: "s3cret"}.AsMechanism()
	hashed := scram.Auth{User: "ann", Pass: "s3cret"}
	for name, opts := range map[string][]kgo.Opt{
		"plain text":          {kgo.SeedBrokers(c.Addr())},
		"TLS":                 {kgo.SeedBrokers(c.TLSAddr()), kgo.DialTLSConfig(tlsConfig)},
		"SASL PLAIN":          {kgo.SeedBrokers(c.SASLAddr()), kgo.SASL(login)},
		"SASL SCRAM-SHA-256":  {kgo.SeedBrokers(c.SASLAddr()), kgo.SASL(hashed.AsSha256Mechanism())},
		"SASL SCRAM-SHA-512":  {kgo.SeedBrokers(c.SASLAddr()), kgo.SASL(hashed.AsSha512Mechanism())},
		"SASL SCRAM over TLS": {kgo.SeedBrokers(c.SASLTLSAddr()), kgo.SASL(hashed.AsSha512Mechanism()), kgo.DialTLSConfig(tlsConfig)},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			if err := kafkatest.Client(t, nil, opts...).Ping(ctx); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestFake(t *testing.T) {
	leaktest.Check(t)
	t.Run("", func(t *testing.T) {
		c := kafkatest.Fake(t)
		client := kafkatest.Client(t, c.ListenAddrs(), kgo.ConsumeTopics("t"))
		kafkatest.CreateTopic(t, client, "t", 1)
		kafkatest.Produce(t, client, records("t", 0, 3))
		if got := read(t, client, 3); got[2] != "v2" {
			t.Fatalf("read %q", got)
		}
		kafkatest.AddPartitions(t, client, "t", 2)
		if got := kafkatest.Committed(t, client, "g", "t", 0); got != -1 {
			t.Fatalf("a group that never was committed %d", got)
		}
	})
}

func TestSeveralBrokers(t *testing.T) {
	c := kafkatest.Start(t, kafkatest.Options{Brokers: 2})
	c.CreateTopic(t, "t", 2)
	c.Produce(t, records("t", 0, 3))
	c.Broker(1).Kill()
	c.Broker(1).Start(t)
	if got := read(t, c.Client(t, kgo.ConsumeTopics("t")), 3); got[0] != "v0" {
		t.Fatalf("read %q", got)
	}
}
