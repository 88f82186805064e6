package kafka

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/dev/kafkatest"
)

// TestRealBroker runs against Apache Kafka. What has to do with faults of brokers is faked well enough elsewhere;
// here is what only the real one can tell: that it understands us, and what it does when it dies.
func TestRealBroker(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Start(t, kafkatest.Options{TLS: true, Users: []kafkatest.User{{Name: "ann", Password: password}}})
	t.Run("every codec", func(t *testing.T) { realCodecs(t, k) })
	t.Run("transactions", func(t *testing.T) { realTransactions(t, k) })
	t.Run("transactions in a compacted topic", func(t *testing.T) { realCompactedTransactions(t, k) })
	t.Run("open transaction", func(t *testing.T) { openTransaction(t, []string{k.Addr()}, realOptions(t, k, "open")) })
	t.Run("positions", func(t *testing.T) { positions(t, []string{k.Addr()}, realOptions(t, k, "positions")) })
	t.Run("start policies", func(t *testing.T) { realStartPolicies(t, k) })
	t.Run("retention", func(t *testing.T) { realRetention(t, k) })
	t.Run("until the end", func(t *testing.T) { untilEnd(t, []string{k.Addr()}, realOptions(t, k, "until")) })
	t.Run("until a time", func(t *testing.T) { untilTime(t, []string{k.Addr()}, realOptions(t, k, "times.until")) })
	t.Run("until the end of transactions", func(t *testing.T) {
		untilEndOfTransactions(t, []string{k.Addr()}, realOptions(t, k, "until.transactions"))
	})
	t.Run("until the end of members", func(t *testing.T) { untilEndOfMembers(t, []string{k.Addr()}, realOptions(t, k, "until.members")) })
	t.Run("security", func(t *testing.T) { realSecurity(t, k) })
	t.Run("two members", func(t *testing.T) { realMembers(t, k) })
	t.Run("partitions added", func(t *testing.T) { realPartitionsAdded(t, k) })
	t.Run("topic made anew", func(t *testing.T) {
		for _, running := range []bool{false, true} {
			o := realOptions(t, k, fmt.Sprintf("anew-%t", running))
			o.Group += o.Topics[0]
			k.CreateTopic(t, o.Topics[0], 1)
			recreated(t, []string{k.Addr()}, []string{k.Addr()}, o, running, true)
		}
	})
	t.Run("missing topic", func(t *testing.T) {
		o := realOptions(t, k, "nowhere")
		o.TopicTimeout = 500 * time.Millisecond
		fails(t, o, `topic ["nowhere"] does not exist`)
	})
	t.Run("killed in the middle", func(t *testing.T) { realKill(t, k) })
	t.Run("stopped in the middle", func(t *testing.T) { realStop(t, k) })
}

const password = "s3cret=; x"

func realOptions(t *testing.T, k *kafkatest.Cluster, topics ...string) Options {
	o := quick([]string{k.Addr()}, topics...)
	o.Group = "group of " + t.Name()
	return o
}

func realCodecs(t *testing.T, k *kafkatest.Cluster) {
	k.CreateTopic(t, "codecs", 1)
	codecs := []kgo.CompressionCodec{kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()}
	for i, codec := range codecs {
		records := numbered("codecs", 1, i*1000, (i+1)*1000)
		records[7].Key, records[7].Headers = []byte("key"), []kgo.RecordHeader{{Key: "h", Value: []byte(strings.Repeat("v", 1000))}}
		k.Produce(t, records, kgo.ProducerBatchCompression(codec))
	}
	c := newCollector(t)
	run := startRun(t, realOptions(t, k, "codecs"), c)
	c.awaitRows(5000)
	run.stop()
	if repeated := c.expectAll("codecs", 5000); repeated != 0 {
		t.Errorf("%d rows twice", repeated)
	}
	for i := range codecs {
		if r := c.sorted()[i*1000+7]; r.key != "key" || len(r.headers) != 1003 {
			t.Errorf("codec %d: key %q, %d bytes of headers", i, r.key, len(r.headers))
		}
	}
}

func realStartPolicies(t *testing.T, k *kafkatest.Cluster) {
	k.CreateTopic(t, "times", 1)
	base := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	var records []*kgo.Record
	for i := range 10 {
		records = append(records, &kgo.Record{Topic: "times", Value: fmt.Append(nil, i), Timestamp: base.Add(time.Duration(i) * time.Second)})
	}
	k.Produce(t, records)
	for policy, want := range map[string]int64{
		StartEarliest: 0,
		base.Add(4 * time.Second).Format(time.RFC3339Nano): 4,
		base.Add(2 * time.Hour).Format(time.RFC3339Nano):   10,
		StartLatest: 10,
	} {
		o := realOptions(t, k, "times")
		o.Start, o.Group = policy, "group "+policy
		c := newCollector(t)
		run := startRun(t, o, c)
		c.await("caught up", func() bool {
			lags := run.source.Lags()
			return len(lags) == 1 && lags[0].Acknowledged == 10
		})
		run.stop()
		if len(c.rows) != 10-int(want) || want < 10 && c.sorted()[0].offset != want {
			t.Errorf("%s: %d rows, want %d", policy, len(c.rows), 10-want)
		}
	}
}

func realRetention(t *testing.T, k *kafkatest.Cluster) {
	k.CreateTopic(t, "retention", 1)
	k.Produce(t, numbered("retention", 1, 0, 10))
	o := realOptions(t, k, "retention")
	c := newCollector(t)
	run := startRun(t, o, c)
	c.awaitRows(10)
	run.stop()
	k.Produce(t, numbered("retention", 1, 10, 20))
	kafkatest.DeleteBefore(t, k.Client(t), "retention", 0, 15)
	fails(t, o, "offset 10 is out of range: the log has 15 up to 20", "deleted 5 offsets")
}

func realSecurity(t *testing.T, k *kafkatest.Cluster) {
	k.CreateTopic(t, "secret", 1)
	k.Produce(t, numbered("secret", 1, 0, 10))
	with := func(addr string, encrypted bool, mechanism, word string) Options {
		o := realOptions(t, k, "secret")
		o.Brokers = []string{addr}
		if encrypted {
			o.TLS = TLS{Enabled: true, CAFile: k.CAFile()}
		}
		if mechanism != "" {
			o.SASL = SASL{Mechanism: mechanism, Username: "ann", Password: config.Secret(word)}
		}
		return o
	}
	t.Run("TLS", func(t *testing.T) { reads(t, with(k.TLSAddr(), true, "", ""), 10) })
	for _, mechanism := range []string{MechanismPlain, MechanismScramSHA256, MechanismScramSHA512} {
		t.Run(mechanism, func(t *testing.T) { reads(t, with(k.SASLAddr(), false, mechanism, password), 10) })
		t.Run(mechanism+" over TLS", func(t *testing.T) { reads(t, with(k.SASLTLSAddr(), true, mechanism, password), 10) })
		t.Run(mechanism+" wrong", func(t *testing.T) {
			fails(t, with(k.SASLAddr(), false, mechanism, "wrong"), "refused user \"ann\" with "+mechanism, "check SASL")
		})
	}
	t.Run("no login", func(t *testing.T) { fails(t, with(k.SASLAddr(), false, "", ""), "asks for a login") })
	t.Run("login where none is asked for", func(t *testing.T) {
		fails(t, with(k.Addr(), false, MechanismPlain, password), "does not ask for a login")
	})
	t.Run("plain text to TLS", func(t *testing.T) { fails(t, with(k.TLSAddr(), false, "", ""), "speaks TLS", "enable TLS") })
	t.Run("TLS to plain text", func(t *testing.T) { fails(t, with(k.Addr(), true, "", ""), "speaks plain text", "disable TLS") })
}

func realMembers(t *testing.T, k *kafkatest.Cluster) {
	const partitions, steps = 4, 6
	k.CreateTopic(t, "members", partitions)
	client := k.Client(t)
	o := realOptions(t, k, "members")
	c := newCollector(t)
	c.maxRows = 50
	produced := 0
	has := func(r *running, lanes int) func() bool {
		return func() bool { return len(r.source.Lags()) == lanes }
	}
	steady := startRun(t, o, c)
	for range steps / 2 {
		kafkatest.Produce(t, client, numbered("members", partitions, produced, produced+1000))
		produced += 1000
		guest := startRun(t, o, c)
		c.await("half of the lanes with the guest", has(guest, partitions/2))
		kafkatest.Produce(t, client, numbered("members", partitions, produced, produced+1000))
		produced += 1000
		guest.stop()
		c.await("all lanes with the steady member", has(steady, partitions))
	}
	c.awaitRows(produced)
	steady.stop()
	if repeated := c.expectAll("members", produced); repeated != 0 {
		t.Errorf("%d rows twice, though every lane drained", repeated)
	}
}

func realPartitionsAdded(t *testing.T, k *kafkatest.Cluster) {
	k.CreateTopic(t, "grows", 1)
	o := realOptions(t, k, "grows")
	o.Start = StartLatest
	c := newCollector(t)
	source := newSource(t, o)
	source.watch = 200 * time.Millisecond
	run := startSource(t, source, c)
	c.await("the first lane", begunAt(source, 0))
	client := k.Client(t)
	kafkatest.AddPartitions(t, client, "grows", 2)
	kafkatest.Produce(t, client, numbered("grows", 2, 0, 100))
	c.awaitRows(100)
	run.stop()
	c.expectAll("grows", 100)
}

// realKill kills the broker by SIGKILL while records are produced and read, and starts it again.
func realKill(t *testing.T, k *kafkatest.Cluster) {
	// Without a flush, what a broker had acknowledged and not written to disk could be lost with the
	// machine, but not with the process.
	interrupt(t, k, "killed", func() {
		k.Kill()
		k.Start(t)
	})
}

// realStop shuts the broker down in good order instead.
func realStop(t *testing.T, k *kafkatest.Cluster) {
	interrupt(t, k, "stopped", func() {
		k.Stop(t)
		time.Sleep(time.Second) // long enough for the heartbeats to fail
		k.Start(t)
	})
}

func interrupt(t *testing.T, k *kafkatest.Cluster, topic string, how func()) {
	const partitions, n = 2, 20_000
	k.CreateTopic(t, topic, partitions)
	client := k.Client(t)
	c := newCollector(t)
	c.maxRows = 100
	run := startRun(t, realOptions(t, k, topic), c)
	produced := make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 2*waitLimit)
	defer cancel()
	go func() {
		for i := 0; i < n; i += 100 {
			if err := client.ProduceSync(ctx, numbered(topic, partitions, i, i+100)...).FirstErr(); err != nil {
				produced <- err
				return
			}
		}
		produced <- nil
	}()
	c.awaitRows(n / 10)
	how()
	if err := <-produced; err != nil {
		t.Fatal(err)
	}
	c.await("all", func() bool { return len(c.rows) >= n && c.distinct() == n })
	run.stop()
	t.Logf("%d of %d rows were read twice", c.expectAll(topic, n), n)
}
