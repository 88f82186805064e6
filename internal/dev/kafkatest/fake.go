package kafkatest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Fake starts franz-go's in-process imitation of a Kafka cluster on 127.0.0.1, closed when the test is over.
// It has one broker unless opts say otherwise, and allows short session timeouts.
func Fake(tb testing.TB, opts ...kfake.Opt) *kfake.Cluster {
	tb.Helper()
	opts = append([]kfake.Opt{kfake.NumBrokers(1), kfake.GroupMinSessionTimeout(100 * time.Millisecond)}, opts...)
	cluster, err := kfake.NewCluster(opts...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(cluster.Close)
	return cluster
}

// Hold has the requests of a kind to k wait for release, and closes asked at the first of them.
func Hold(tb testing.TB, k *kfake.Cluster, kind kmsg.Key) (asked <-chan struct{}, release func()) {
	tb.Helper()
	first, answer := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var begun, ended atomic.Int64
	k.ControlKey(kind.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		begun.Add(1)
		defer ended.Add(1)
		once.Do(func() { close(first) })
		k.SleepControl(func() { <-answer })
		return nil, nil, false
	})
	return first, func() {
		tb.Helper()
		close(answer)
		// The imitation hangs when it is closed while requests wake up.
		for limit := time.Now().Add(requestTimeout); ended.Load() != begun.Load(); time.Sleep(time.Millisecond) {
			if time.Now().After(limit) {
				tb.Fatalf("%d of %d requests have ended", ended.Load(), begun.Load())
			}
		}
	}
}

// Count counts the requests of some kinds to k that are counted by a function, nil for all.
func Count(k *kfake.Cluster, counts func(kmsg.Request) bool, kinds ...kmsg.Key) *atomic.Int64 {
	n := new(atomic.Int64)
	for _, kind := range kinds {
		k.ControlKey(kind.Int16(), func(r kmsg.Request) (kmsg.Response, error, bool) {
			k.KeepControl()
			if counts == nil || counts(r) {
				n.Add(1)
			}
			return nil, nil, false
		})
	}
	return n
}
