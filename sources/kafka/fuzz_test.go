package kafka

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
	"github.com/urlmill/urlmill/sources/kafka/internal/recordbatch"
)

// fetchAnswer returns an answer of that version as a codec of others makes it, without its correlation ID.
func fetchAnswer(version int16) []byte {
	resp := kmsg.NewPtrFetchResponse()
	resp.Version = version
	topic := kmsg.NewFetchResponseTopic()
	topic.Topic, topic.TopicID = "t", [16]byte{7}
	p := kmsg.NewFetchResponseTopicPartition()
	p.HighWatermark, p.LastStableOffset, p.LogStartOffset = 9, 8, 1
	aborted := kmsg.NewFetchResponseTopicPartitionAbortedTransaction()
	aborted.ProducerID, aborted.FirstOffset = 3, 4
	p.AbortedTransactions = append(p.AbortedTransactions, aborted)
	p.RecordBatches = encodeBatch(7, 2, []byte("https://a.example/"))
	topic.Partitions = append(topic.Partitions, p)
	resp.Topics = append(resp.Topics, topic)
	if resp.IsFlexible() {
		return resp.AppendTo([]byte{0})
	}
	return resp.AppendTo(nil)
}

// FuzzFetchAnswer reads answers of brokers, and the records and aborted transactions in them.
func FuzzFetchAnswer(f *testing.F) {
	for _, version := range []int16{minFetchVersion, 5, 7, maxFetchVersion, fetchByIDVersion} {
		f.Add(fetchAnswer(version), byte(version), true)
		f.Add(fetchAnswer(version)[:20], byte(version), false)
	}
	d, err := recordbatch.NewDecompressor(1 << 16)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(d.Close)
	f.Fuzz(func(t *testing.T, answer []byte, version byte, committed bool) {
		body := append(binary.BigEndian.AppendUint32(nil, correlationID), answer...)
		size := len(body)
		alloctest.Bound(t, size, 64, 4<<20, func() {
			r := &fetchRequest{version: min(minFetchVersion+int16(version)%10, fetchByIDVersion), committed: committed, topic: "t"}
			if err := r.parse(body); err != nil || r.code != nil {
				return
			}
			if len(r.answer.set) > size || len(r.answer.aborted) > size {
				t.Fatalf("%d bytes of records and %d of aborted transactions in an answer of %d", len(r.answer.set), len(r.answer.aborted), size)
			}
			read := recordbatch.Reader{Decompressor: d}
			read.Reset(r.answer.set, 0)
			var rec recordbatch.Record
			for ok, err := read.Next(&rec); ok && err == nil; ok, err = read.Next(&rec) {
				for h := rec.Headers(); h.Next(); {
					_ = h.Key
				}
			}
		})
	})
}

// FuzzTopicsAnswer reads the answers that say which topics there are.
func FuzzTopicsAnswer(f *testing.F) {
	resp := kmsg.NewPtrMetadataResponse()
	resp.Version, resp.ClusterID = topicsVersion, kmsg.StringPtr("one")
	resp.Brokers = append(resp.Brokers, kmsg.NewMetadataResponseBroker())
	topic := kmsg.NewMetadataResponseTopic()
	topic.Topic, topic.TopicID = kmsg.StringPtr("t"), [16]byte{1}
	topic.Partitions = append(topic.Partitions, kmsg.NewMetadataResponseTopicPartition(), kmsg.NewMetadataResponseTopicPartition())
	resp.Topics = append(resp.Topics, topic)
	f.Add(resp.AppendTo([]byte{0}))
	f.Add([]byte("\x00\x00\x00\x00\x00\xff\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		body := append(binary.BigEndian.AppendUint32(nil, correlationID), answer...)
		r := &topicsRequest{partitions: layout{}, identities: map[string]identity{}}
		alloctest.Bound(t, len(body), 512, 1<<20, func() { _ = r.parse(body) })
		for name, n := range r.partitions {
			if n > len(body) {
				t.Fatalf("%d partitions of %q in %d bytes", n, name, len(body))
			}
		}
	})
}

// connection is what a broker sends, whatever it is sent.
type connection struct{ io.Reader }

func (connection) Write(p []byte) (int, error) { return len(p), nil }

// FuzzExchange reads what a broker sends by its lengths: an answer in the place of versions, and one behind them.
func FuzzExchange(f *testing.F) {
	framed := func(answer []byte) []byte {
		b := binary.BigEndian.AppendUint32(nil, uint32(len(answer)+4))
		return append(binary.BigEndian.AppendUint32(b, correlationID), answer...)
	}
	versions := kmsg.NewPtrApiVersionsResponse()
	key := kmsg.NewApiVersionsResponseApiKey()
	key.ApiKey, key.MaxVersion = 1, fetchByIDVersion
	versions.ApiKeys = append(versions.ApiKeys, key)
	f.Add(append(framed(versions.AppendTo(nil)), framed(fetchAnswer(fetchByIDVersion))...), true)
	f.Add(framed(fetchAnswer(maxFetchVersion)), false)
	f.Fuzz(func(t *testing.T, sent []byte, byID bool) {
		claimed := func(at int) (n int) { // of the frame there: its buffer is made before it is read, and is no larger than what was asked for
			if len(sent) < at+4 {
				return 0
			}
			n = int(int32(binary.BigEndian.Uint32(sent[at:])))
			return n
		}
		first := claimed(0)
		if first > 4*len(sent)+1<<20 || byID && first >= 0 && claimed(first+4) > 4*len(sent)+1<<20 {
			return
		}
		r := &fetchRequest{version: maxFetchVersion, topic: "t"}
		if byID {
			r.id = [16]byte{7}
		}
		alloctest.Bound(t, len(sent), 512, 8<<20, func() { _, _ = r.RawExchange(connection{bytes.NewReader(sent)}) })
	})
}
