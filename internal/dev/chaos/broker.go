package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
	"github.com/urlmill/urlmill/internal/dev/kafkatest"
)

// today is a time of first records that leaves room for the others, since brokers refuse times to come.
func today() int64 { return time.Now().Add(-6 * time.Hour).UnixMilli() }

// brokerRestarts kills the only broker, or shuts it down, and starts it again.
func brokerRestarts(r *run) {
	rounds, rows := pick(r, 12, 2), pick(r, 6_000_000, 100_000)
	f := r.newFeed(&facts.Topic{Name: "restarts", Partitions: 4, From: today()})
	w := want{feed: f, out: filepath.Join(r.dir, "out")}
	m := r.start(r.config(job{feed: f, group: "restarts", out: w.out}))
	f.begin(rows / (rounds * 8))
	broker := r.env.cluster.Broker(0)
	for i := range rounds {
		before := sum(r.heads(w))
		r.awaitWith(m, "a commit", func() bool { return sum(r.heads(w)) > before })
		time.Sleep(r.randomly(500 * time.Millisecond))
		if i%2 == 0 {
			broker.Kill()
			r.fault("broker killed")
		} else {
			broker.Stop(r)
			r.fault("broker shut down")
		}
		time.Sleep(r.randomly(2 * time.Second))
		broker.Start(r)
	}
	f.end(int64(rows))
	r.finish(m, f, w)
}

// leaders moves the leaders of partitions in a cluster of three brokers, and kills brokers in it.
func leaders(r *run) {
	moves, kills, rows := pick(r, 40, 6), pick(r, 6, 1), pick(r, 4_000_000, 100_000)
	cluster := kafkatest.Start(r, kafkatest.Options{Brokers: 3, Heap: "256m", Properties: map[string]string{
		"offsets.topic.replication.factor": "3", "offsets.topic.num.partitions": "1", "default.replication.factor": "3",
		"min.insync.replicas": "2", "replica.lag.time.max.ms": "2000",
	}})
	client := cluster.Client(r)
	const topic, partitions = "leaders", 3
	kafkatest.CreateReplicated(r, client, topic, partitions, 3)
	f := r.feedOf(cluster, &facts.Topic{Name: topic, Partitions: partitions, From: today()})
	w := want{feed: f, out: filepath.Join(r.dir, "out")}
	m := r.start(r.config(job{feed: f, group: "leaders", out: w.out}))
	f.begin(rows / (moves + kills*10))
	progress := func() {
		before := sum(r.heads(w))
		r.awaitWith(m, "a commit", func() bool { return sum(r.heads(w)) > before })
	}
	for i := range moves {
		progress()
		to := int32(1 + r.rand.IntN(3))
		r.await("the leader to move", func() bool { return moveLeader(client, topic, int32(i%partitions), to) == nil })
		r.fault("leader moved")
	}
	for range kills {
		progress()
		broker := cluster.Broker(1 + r.rand.IntN(2)) // the first one is the only controller
		broker.Kill()
		r.fault("one broker of three killed")
		progress()
		broker.Start(r)
	}
	f.end(int64(rows))
	r.finish(m, f, w)
}

// moveLeader makes a broker the first choice among the replicas of a partition, and has the first choice elected. It is
// repeated until it succeeds: replicas may have to catch up first.
func moveLeader(client *kgo.Client, topic string, partition, to int32) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	p := kmsg.NewAlterPartitionAssignmentsRequestTopicPartition()
	p.Partition, p.Replicas = partition, []int32{to, to%3 + 1, (to+1)%3 + 1}
	t := kmsg.NewAlterPartitionAssignmentsRequestTopic()
	t.Topic, t.Partitions = topic, append(t.Partitions, p)
	alter := kmsg.NewPtrAlterPartitionAssignmentsRequest()
	alter.Topics = append(alter.Topics, t)
	altered, err := alter.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	for _, t := range altered.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return fmt.Errorf("reassigning: %w", err)
			}
		}
	}
	et := kmsg.NewElectLeadersRequestTopic()
	et.Topic, et.Partitions = topic, []int32{partition}
	elect := kmsg.NewPtrElectLeadersRequest()
	elect.Topics = append(elect.Topics, et)
	elected, err := elect.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	for _, t := range elected.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil && p.ErrorCode != kerr.ElectionNotNeeded.Code {
				return fmt.Errorf("electing: %w", err)
			}
		}
	}
	return nil
}

// deleteTopic deletes a topic, for its space.
func (r *run) deleteTopic(c *kafkatest.Cluster, topic string) {
	client := c.Client(r)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	t := kmsg.NewDeleteTopicsRequestTopic()
	t.Topic = &topic
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.Topics, req.TopicNames = append(req.Topics, t), append(req.TopicNames, topic)
	if _, err := req.RequestWith(ctx, client); err != nil {
		r.Logf("deleting topic %s: %v", topic, err)
	}
}

// network cuts, hangs and slows the connections between urlmill and the broker down, and damages what goes over them.
func network(r *run) {
	rounds, rows := pick(r, 60, 5), pick(r, 8_000_000, 150_000)
	f := r.newFeed(&facts.Topic{Name: "network", Partitions: 4, From: today()})
	w := want{feed: f, out: filepath.Join(r.dir, "out")}
	proxy := r.env.cluster.Broker(0).Proxy()
	m := r.start(r.config(job{feed: f, group: "network", out: w.out, brokers: r.env.cluster.ProxyAddrs()}))
	f.begin(rows / (rounds * 3))
	for i := range rounds {
		before := sum(r.heads(w))
		r.awaitWith(m, "a commit", func() bool { return sum(r.heads(w)) > before })
		time.Sleep(r.randomly(300 * time.Millisecond))
		switch i % 5 {
		case 0:
			proxy.Drop()
			r.fault("connections broken")
		case 1:
			proxy.Cut()
			r.fault("network cut for up to 4 s")
			time.Sleep(r.randomly(4 * time.Second))
		case 2:
			proxy.Hang()
			r.fault("network silent for up to 4 s")
			time.Sleep(r.randomly(4 * time.Second))
		case 3:
			proxy.Slow(20_000)
			r.fault("20 kB/s for up to 4 s")
			time.Sleep(r.randomly(4 * time.Second))
		case 4:
			flipped := proxy.Flipped()
			proxy.Flip(1 + r.rand.IntN(2))
			f.add(context.Background(), 20_000) // so that there is a large answer
			r.awaitWith(m, "a damaged answer", func() bool { return proxy.Flipped() > flipped })
			r.faults("answer with a byte changed", proxy.Flipped()-flipped)
		}
		proxy.Restore()
	}
	f.end(int64(rows))
	r.finish(m, f, w)
}
