package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// value is a record's, which is written and not held: a beginning, and something often.
type value struct {
	head  []byte
	body  string
	times int64
	tail  []byte
}

func (v value) size() int64 {
	return int64(len(v.head)) + int64(len(v.body))*v.times + int64(len(v.tail))
}

func (v value) reader() io.Reader {
	body := io.Reader(strings.NewReader(""))
	if v.times > 0 {
		body = io.LimitReader(repeat(v.body, v.size()), int64(len(v.body))*v.times)
	}
	return io.MultiReader(bytes.NewReader(v.head), body, bytes.NewReader(v.tail))
}

// recordBatch is a batch of records, compressed with zstd, with so many empty headers each.
func recordBatch(values []value, headers int) ([]byte, error) {
	var z bytes.Buffer
	w, err := zstd.NewWriter(&z, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		head := binary.AppendVarint(append([]byte{0}, binary.AppendVarint(nil, 0)...), int64(i))
		head = binary.AppendVarint(binary.AppendVarint(head, -1), v.size()) // no key
		behind := append(binary.AppendVarint(nil, int64(headers)), make([]byte, 2*headers)...)
		length := int64(len(head)) + v.size() + int64(len(behind))
		if _, err := io.Copy(w, io.MultiReader(bytes.NewReader(binary.AppendVarint(nil, length)), bytes.NewReader(head), v.reader(), bytes.NewReader(behind))); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	now := time.Now().UnixMilli()
	b := kmsg.RecordBatch{
		Magic: 2, Attributes: 4, LastOffsetDelta: int32(len(values) - 1), FirstTimestamp: now, MaxTimestamp: now,
		ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1, NumRecords: int32(len(values)), Records: z.Bytes(),
	}
	out := b.AppendTo(nil)
	binary.BigEndian.PutUint32(out[8:], uint32(len(out)-12))
	binary.BigEndian.PutUint32(out[17:], crc32.Checksum(out[21:], crc32.MakeTable(crc32.Castagnoli)))
	return out, nil
}

// topic is a broker with a topic.
type topic struct {
	cluster    *kfake.Cluster
	client     *kgo.Client
	partitions int
}

const topicName = "clicks"

func newTopic(partitions int) (*topic, error) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(int32(partitions), topicName), kfake.GroupMinSessionTimeout(100*time.Millisecond))
	if err != nil {
		return nil, err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.DefaultProduceTopic(topicName), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		c.Close()
		return nil, err
	}
	return &topic{c, client, partitions}, nil
}

func (t *topic) close() {
	t.client.Close()
	t.cluster.Close()
}

// produceRaw puts a batch into every partition.
func (t *topic) produceRaw(ctx context.Context, batch []byte) error {
	ask := kmsg.NewPtrMetadataRequest()
	mt := kmsg.NewMetadataRequestTopic()
	mt.Topic = kmsg.StringPtr(topicName)
	ask.Topics = append(ask.Topics, mt)
	m, err := ask.RequestWith(ctx, t.client)
	if err != nil {
		return err
	}
	for p := range t.partitions {
		r := kmsg.NewPtrProduceRequest()
		r.Acks, r.TimeoutMillis = -1, 5000
		rt := kmsg.NewProduceRequestTopic()
		rt.Topic, rt.TopicID = topicName, m.Topics[0].TopicID
		rp := kmsg.NewProduceRequestTopicPartition()
		rp.Partition, rp.Records = int32(p), batch
		rt.Partitions = append(rt.Partitions, rp)
		r.Topics = append(r.Topics, rt)
		answer, err := r.RequestWith(ctx, t.client)
		if err != nil {
			return err
		}
		if code := answer.Topics[0].Partitions[0].ErrorCode; code != 0 {
			return fmt.Errorf("partition %d: the broker answers with error %d", p, code)
		}
	}
	return nil
}

// produceGood puts the good URLs behind what is there, a batch a partition.
func (t *topic) produceGood(ctx context.Context, encode func(url string) []byte) error {
	records := make([]*kgo.Record, goodRows)
	for i := range records {
		records[i] = &kgo.Record{Partition: int32(i % t.partitions), Value: encode(fmt.Sprintf("https://good.example/%d", i))}
	}
	return t.client.ProduceSync(ctx, records...).FirstErr()
}

// topicCase has urlmill consume bad records with good ones behind them, until these are written, and twice.
type topicCase struct {
	name, format, codec string
	files               map[string]string
	partitions, headers int
	batches             func(w *workplace) []([]value)
	encode              func(url string) []byte
}

func (c topicCase) build() *testCase {
	var t *topic
	begin := func(w *workplace) error {
		var err error
		if t, err = newTopic(c.partitions); err != nil {
			return err
		}
		for _, values := range c.batches(w) {
			b, err := recordBatch(values, c.headers)
			if err == nil {
				err = t.produceRaw(context.Background(), b)
			}
			if err != nil {
				return err
			}
		}
		return t.produceGood(context.Background(), c.encode)
	}
	out := &testCase{name: c.format + "/" + c.name, format: c.format, first: 2}
	out.files = func(w *workplace) error {
		if err := begin(w); err != nil {
			return err
		}
		for name, text := range c.files {
			if err := w.write(name, []byte(text)); err != nil {
				return err
			}
		}
		return w.write("run.yaml", []byte(fmt.Sprintf(`source:
  kafka: {brokers: ["%s"], topics: [%s], group: g}
  codec: {%s}
columns: {include: [url, host, url_error]}
sink: {ndjson: {path: out}, roll: {every: 1s}}
memory_limit: %s
`, t.cluster.ListenAddrs()[0], topicName, c.codec, limitText)))
	}
	for i := range 2 {
		s := step{args: []string{"run", "run.yaml"}, codes: []int{0}, strict: true, good: rowsOf("out", i+1)}
		s.watch = func(ctx context.Context, w *workplace, p *os.Process) error {
			return stopWhen(ctx, w, p, rowsOf("out", i+1))
		}
		if i == 1 {
			s.before = func(*workplace) error { return t.produceGood(context.Background(), c.encode) }
		}
		out.steps = append(out.steps, s)
	}
	out.close = func() {
		if t != nil {
			t.close()
		}
	}
	return out
}

// stopWhen ends a process as an operator does, when what is good is there, or there is half a minute's patience no more.
func stopWhen(ctx context.Context, w *workplace, p *os.Process, good func(w *workplace) error) error {
	patience := time.After(w.limit / 2)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-patience:
			return p.Signal(syscall.SIGTERM)
		case <-time.After(200 * time.Millisecond):
		}
		if names, _ := filepath.Glob(filepath.Join(w.path("out"), "*.ndjson")); len(names) > 0 && good(w) == nil {
			return p.Signal(syscall.SIGTERM)
		}
	}
}
