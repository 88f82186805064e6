package kafkatest

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
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
