package kafkatest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const requestTimeout = 2 * time.Minute

// Client returns a franz-go client of the brokers at addrs, closed when the test is over.
func Client(tb testing.TB, addrs []string, opts ...kgo.Opt) *kgo.Client {
	tb.Helper()
	opts = append([]kgo.Opt{
		kgo.SeedBrokers(addrs...),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.MetadataMinAge(50 * time.Millisecond),
	}, opts...)
	client, err := kgo.NewClient(opts...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(client.Close)
	return client
}

// Client returns a client of the cluster, closed when the test is over. Its records go to the partition that
// each names.
func (c *Cluster) Client(tb testing.TB, opts ...kgo.Opt) *kgo.Client {
	tb.Helper()
	return Client(tb, c.Addrs(), opts...)
}

// CreateTopic creates a topic with one replica of each partition. configs are pairs of name and value, such as
// "cleanup.policy", "compact".
func (c *Cluster) CreateTopic(tb testing.TB, topic string, partitions int, configs ...string) {
	tb.Helper()
	CreateTopic(tb, c.Client(tb), topic, partitions, configs...)
}

// CreateTopic does the same through any client.
func CreateTopic(tb testing.TB, client *kgo.Client, topic string, partitions int, configs ...string) {
	tb.Helper()
	CreateReplicated(tb, client, topic, partitions, 1, configs...)
}

// CreateReplicated is CreateTopic with so many replicas of each partition.
func CreateReplicated(tb testing.TB, client *kgo.Client, topic string, partitions, replicas int, configs ...string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = topic, int32(partitions), int16(replicas)
	for i := 0; i+1 < len(configs); i += 2 {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = configs[i], &configs[i+1]
		t.Configs = append(t.Configs, config)
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Topics = append(req.Topics, t)
	tries := 0
	err := patiently(ctx, func() error {
		resp, err := req.RequestWith(ctx, client)
		if err != nil {
			return err
		}
		tries++
		err = kerr.ErrorForCode(resp.Topics[0].ErrorCode)
		if tries > 1 && errors.Is(err, kerr.TopicAlreadyExists) {
			return nil
		}
		return err
	})
	if err != nil {
		tb.Fatalf("creating topic %s: %v", topic, err)
	}
	awaitTopic(ctx, tb, client, topic, partitions)
}

// AddPartitions raises the number of partitions of a topic to total.
func AddPartitions(tb testing.TB, client *kgo.Client, topic string, total int) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	t := kmsg.NewCreatePartitionsRequestTopic()
	t.Topic, t.Count = topic, int32(total)
	req := kmsg.NewPtrCreatePartitionsRequest()
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		tb.Fatalf("adding partitions to topic %s: %v", topic, err)
	}
	if err := kerr.ErrorForCode(resp.Topics[0].ErrorCode); err != nil {
		tb.Fatalf("adding partitions to topic %s: %v", topic, err)
	}
	awaitTopic(ctx, tb, client, topic, total)
}

// awaitTopic returns when every partition of the topic has a leader.
func awaitTopic(ctx context.Context, tb testing.TB, client *kgo.Client, topic string, partitions int) {
	tb.Helper()
	req := topicMetadata(topic)
	for {
		resp, err := req.RequestWith(ctx, client)
		if err != nil {
			tb.Fatalf("waiting for topic %s: %v", topic, err)
		}
		led := 0
		for _, p := range resp.Topics[0].Partitions {
			if p.ErrorCode == 0 && p.Leader >= 0 {
				led++
			}
		}
		if led == partitions {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Produce writes the records through a client with opts and returns when all are acknowledged.
func (c *Cluster) Produce(tb testing.TB, records []*kgo.Record, opts ...kgo.Opt) {
	tb.Helper()
	Produce(tb, c.Client(tb, opts...), records)
}

// Produce writes the records through a client and returns when all are acknowledged.
func Produce(tb testing.TB, client *kgo.Client, records []*kgo.Record) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*requestTimeout)
	defer cancel()
	if err := client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		tb.Fatalf("producing: %v", err)
	}
}

// Commit commits an offset for a partition, as an operator does while the group has no members.
func Commit(tb testing.TB, client *kgo.Client, group, topic string, partition int32, offset int64) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Partition, p.Offset = partition, offset
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic, t.TopicID, t.Partitions = topic, topicID(ctx, tb, client, topic), append(t.Partitions, p)
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation, req.Topics = group, -1, append(req.Topics, t)
	err := patiently(ctx, func() error {
		resp, err := req.RequestWith(ctx, client)
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
	})
	if err != nil {
		tb.Fatalf("committing an offset of group %s: %v", group, err)
	}
}

// DeleteBefore deletes the records of a partition before an offset, as retention does.
func DeleteBefore(tb testing.TB, client *kgo.Client, topic string, partition int32, offset int64) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	p := kmsg.NewDeleteRecordsRequestTopicPartition()
	p.Partition, p.Offset = partition, offset
	t := kmsg.NewDeleteRecordsRequestTopic()
	t.Topic, t.Partitions = topic, append(t.Partitions, p)
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, client)
	if err == nil {
		err = kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		tb.Fatalf("deleting the records of %s/%d before %d: %v", topic, partition, offset, err)
	}
}

// patiently calls request until its error is none that goes by itself: the first that asks for groups, for example, has
// the brokers create the topic that they keep them in. There are too few brokers for a topic while one that a busy machine
// has held up for longer than its session is not let in again. And a broker may be killed while it is asked.
func patiently(ctx context.Context, request func() error) error {
	for {
		err := request()
		var answer *kerr.Error
		lasting := errors.As(err, &answer) && !kerr.IsRetriable(err) && !errors.Is(err, kerr.InvalidReplicationFactor)
		if err == nil || lasting || ctx.Err() != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// topicID returns what newer versions of requests call a topic by.
func topicID(ctx context.Context, tb testing.TB, client *kgo.Client, topic string) [16]byte {
	tb.Helper()
	resp, err := topicMetadata(topic).RequestWith(ctx, client)
	if err != nil {
		tb.Fatalf("asking for topic %s: %v", topic, err)
	}
	return resp.Topics[0].TopicID
}

// Committed returns the offset that a group has committed for a partition, -1 for none.
func Committed(tb testing.TB, client *kgo.Client, group, topic string, partition int32) int64 {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	t := kmsg.NewOffsetFetchRequestTopic()
	t.Topic, t.Partitions = topic, []int32{partition}
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group, req.Topics = group, append(req.Topics, t)
	offset := int64(-1)
	err := patiently(ctx, func() error {
		resp, err := req.RequestWith(ctx, client)
		if err != nil {
			return err
		}
		if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
			return err
		}
		if len(resp.Topics) == 0 || len(resp.Topics[0].Partitions) == 0 {
			return nil
		}
		offset = resp.Topics[0].Partitions[0].Offset
		return kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
	})
	if errors.Is(err, kerr.GroupIDNotFound) {
		return -1
	}
	if err != nil {
		tb.Fatalf("fetching the offset of group %s: %v", group, err)
	}
	return offset
}

// Records returns how many offsets the partitions of a topic have had, together.
func Records(tb testing.TB, client *kgo.Client, topic string) (sum int64) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	meta, err := client.Request(ctx, topicMetadata(topic))
	if err != nil {
		tb.Fatalf("asking for topic %s: %v", topic, err)
	}
	req := kmsg.NewPtrListOffsetsRequest()
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = topic
	for _, known := range meta.(*kmsg.MetadataResponse).Topics[0].Partitions {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = known.Partition, -1
		t.Partitions = append(t.Partitions, p)
	}
	req.ReplicaID, req.Topics = -1, append(req.Topics, t)
	// Every partition's leader gets its part.
	for _, shard := range client.RequestSharded(ctx, req) {
		if shard.Err != nil {
			tb.Fatalf("asking for the end of topic %s: %v", topic, shard.Err)
		}
		for _, answered := range shard.Resp.(*kmsg.ListOffsetsResponse).Topics {
			for _, p := range answered.Partitions {
				if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
					tb.Fatalf("asking for the end of topic %s: %v", topic, err)
				}
				sum += p.Offset
			}
		}
	}
	return sum
}

func topicMetadata(topic string) *kmsg.MetadataRequest {
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = &topic
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = append(req.Topics, t)
	return req
}
