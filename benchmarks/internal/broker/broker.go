// Package broker runs a broker with a full topic as a process of its own, whose CPU is not that of what is measured.
//
// A benchmark starts itself once more with [Start]: "broker KIND ARGUMENTS", and the child calls [Serve].
package broker

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/benchmarks/internal/standin"
	"github.com/urlmill/urlmill/internal/dev/kafkatest"
)

// Command is the first argument of the child.
const Command = "broker"

// Kinds of brokers. Any other kind is the address of a broker that is there.
const (
	Fake = "fake" // kfake, franz-go's imitation
	Real = "real" // an Apache Kafka; needs Java and Maven
)

// Start starts this program as "broker KIND ARGUMENTS", and returns the address that it prints once the topic is full, and
// what ends it.
func Start(kind string, args ...string) (addr string, end func(), err error) {
	exe, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.Command(exe, append([]string{Command, kind}, args...)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	addr, err = bufio.NewReader(out).ReadString('\n')
	end = func() {
		_ = in.Close()
		_ = cmd.Wait()
	}
	if err != nil {
		end()
		return "", nil, errors.New("it ended before the topic was full")
	}
	return strings.TrimSpace(addr), end, nil
}

// Topic is a topic to be made and filled.
type Topic struct {
	Name       string
	Partitions int
	// Buffered is how many records the producer holds at most. Their batches are compressed with zstd.
	Buffered int
	// Fill produces the records and returns when they are there.
	Fill func(client *kgo.Client) error
}

// Serve runs a broker with the topic, prints its address, and returns when standard input ends. name is the program's, for
// folders.
func Serve(name, kind string, topic Topic) (err error) {
	tb := standin.New(name)
	defer func() { err = errors.Join(err, tb.End(recover())) }()
	addr := kind
	switch kind {
	case Fake:
		addr = kafkatest.Fake(tb, kfake.NumBrokers(1)).ListenAddrs()[0]
	case Real:
		addr = kafkatest.Start(tb, kafkatest.Options{}).Addr()
	}
	client := kafkatest.Client(tb, []string{addr}, kgo.ProducerBatchCompression(kgo.ZstdCompression()),
		kgo.ProducerLinger(50*time.Millisecond), kgo.MaxBufferedRecords(topic.Buffered))
	kafkatest.CreateTopic(tb, client, topic.Name, topic.Partitions)
	if err := topic.Fill(client); err != nil {
		return err
	}
	fmt.Println(addr)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
