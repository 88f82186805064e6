// Package demo has the parts of "urlmill demo" that a real deployment does not need: a Kafka broker within the
// process, and a look into the files that were written.
package demo

import (
	"fmt"
	"net"

	"github.com/twmb/franz-go/pkg/kfake"
)

// Broker is an imitation of a Kafka broker, in this process and in memory, that listens on 127.0.0.1 alone.
type Broker struct {
	cluster *kfake.Cluster
	// Addr is its address, host:port.
	Addr string
}

// StartBroker starts a broker with one topic. It has to be closed.
func StartBroker(topic string, partitions int32) (*Broker, error) {
	cluster, err := kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.SeedTopics(partitions, topic),
		kfake.ListenFn(func(network, address string) (net.Listener, error) {
			_, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			return net.Listen(network, net.JoinHostPort("127.0.0.1", port))
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("broker of the demo: %w", err)
	}
	addrs := cluster.ListenAddrs()
	if len(addrs) == 0 {
		cluster.Close()
		return nil, fmt.Errorf("broker of the demo: it does not listen")
	}
	return &Broker{cluster: cluster, Addr: addrs[0]}, nil
}

// Close ends the broker; its topic is gone.
func (b *Broker) Close() { b.cluster.Close() }
