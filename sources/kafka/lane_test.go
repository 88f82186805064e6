package kafka

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/kafka/internal/recordbatch"
)

// fetchFunc is a fetcher without brokers.
type fetchFunc func(offset int64, maxBytes int) (fetched, error)

func (f fetchFunc) fetch(ctx context.Context, _ pipeline.LaneID, offset int64, maxBytes int, _ []byte) (fetched, error) {
	got, err := f(offset, maxBytes)
	if err == nil && got.set == nil { // as a broker that has nothing: it waits
		kafkaconn.Sleep(ctx, nil, time.Millisecond)
	}
	return got, err
}

// encodeBatch returns a record batch with n records of a value.
func encodeBatch(base int64, n int, value []byte) []byte {
	var body []byte
	for i := range n {
		var rec []byte
		rec = append(rec, 0, 0)
		rec = binary.AppendVarint(rec, int64(i))
		rec = append(rec, 1) // null key
		rec = binary.AppendVarint(rec, int64(len(value)))
		rec = append(append(rec, value...), 0)
		body = append(binary.AppendVarint(body, int64(len(rec))), rec...)
	}
	e := (&kmsg.RecordBatch{FirstOffset: base, Magic: 2, LastOffsetDelta: int32(n - 1), NumRecords: int32(n), Records: body}).AppendTo(nil)
	binary.BigEndian.PutUint32(e[8:], uint32(len(e)-12))
	return seal(e)
}

// seal sets the checksum of a batch right.
func seal(e []byte) []byte {
	binary.BigEndian.PutUint32(e[17:], crc32.Checksum(e[21:], crc32.MakeTable(crc32.Castagnoli)))
	return e
}

// loneLane returns a lane that has begun at offset 0 and fetches from f.
func loneLane(t testing.TB, opts Options, f fetcher) *lane {
	t.Helper()
	opts.Brokers, opts.Topics, opts.Group = []string{"x:1"}, []string{"t"}, "g"
	source := newSource(t, opts)
	decompressor, err := recordbatch.NewDecompressor(source.opts.decodedLimit())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(decompressor.Close)
	c := &consumer{
		source: source, session: &session{opts: source.opts, log: source.log}, decompressor: decompressor, fetcher: f,
		memory: newFetchMemory(source.opts.FetchMemory, source.opts.MaxBytes),
	}
	t.Cleanup(func() {
		if n := c.memory.pool.Used() + c.memory.decoded.Used(); n != 0 {
			t.Errorf("%d bytes of the memory for answers were not given back", n)
		}
	})
	g := newGeneration(context.Background(), c, &kafkago.Generation{})
	l := newLane(g, pipeline.LaneID{Stream: "t"}, 0)
	t.Cleanup(l.close)
	if err := l.Start(context.Background(), pipeline.Unknown); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestNextAllocatesNothing(t *testing.T) {
	noLeaks(t)
	const perSet = 400
	set := encodeBatch(0, perSet, bytes.Repeat([]byte("u"), 80))
	sets := [2][]byte{bytes.Clone(set), bytes.Clone(set)}
	turn := 0
	l := loneLane(t, Options{}, fetchFunc(func(offset int64, _ int) (fetched, error) {
		turn = 1 - turn // the other one is being read
		binary.BigEndian.PutUint64(sets[turn], uint64(offset))
		return fetched{set: sets[turn], buf: sets[turn][:0]}, nil
	}))
	b := &pipeline.Batch{MaxRows: 100, MaxBytes: 1 << 20}
	rows := 0
	if n := testing.AllocsPerRun(200, func() {
		if err := l.Next(context.Background(), b); err != nil {
			t.Fatal(err)
		}
		rows += b.Len()
	}); n != 0 {
		t.Errorf("%v allocations for a batch of 100 records", n)
	}
	if rows < 200*50 {
		t.Errorf("only %d rows", rows)
	}
}

func TestEntryBeyondMaxBytes(t *testing.T) {
	noLeaks(t)
	whole := encodeBatch(0, 1, bytes.Repeat([]byte("u"), 10_000))
	asked := []int{}
	l := loneLane(t, Options{MaxBytes: 1000}, fetchFunc(func(offset int64, maxBytes int) (fetched, error) {
		if offset > 0 {
			return fetched{}, nil
		}
		asked = append(asked, maxBytes)
		return fetched{set: whole[:min(len(whole), maxBytes)]}, nil
	}))
	b := &pipeline.Batch{MaxRows: 10, MaxBytes: 100}
	if err := l.Next(context.Background(), b); err != nil || b.Len() != 1 || b.Next != 1 {
		t.Fatalf("%v, %d rows to %d", err, b.Len(), b.Next)
	}
	if len(asked) != 5 || asked[4] != 16_000 {
		t.Errorf("asked for %v bytes", asked)
	}
}

func TestAnswerThatLeadsNowhere(t *testing.T) {
	noLeaks(t)
	l := loneLane(t, Options{}, fetchFunc(func(offset int64, _ int) (fetched, error) {
		return fetched{set: encodeBatch(0, 3, nil)}, nil // again and again
	}))
	b := &pipeline.Batch{MaxRows: 10, MaxBytes: 100}
	if err := l.Next(context.Background(), b); err != nil || b.Len() != 3 {
		t.Fatalf("%v, %d rows", err, b.Len())
	}
	for range 2 {
		var corrupt *CorruptError
		if err := l.Next(context.Background(), b); !errors.As(err, &corrupt) || !errors.Is(err, recordbatch.ErrCorrupt) || corrupt.Offset != 3 {
			t.Errorf("%v", err)
		}
	}
}

// TestErrorAfterRecords gets a good batch and a damaged one in one answer.
func TestErrorAfterRecords(t *testing.T) {
	noLeaks(t)
	damaged := encodeBatch(3, 2, []byte("x"))
	damaged[len(damaged)-1] ^= 1
	l := loneLane(t, Options{OnCorrupt: PolicyStop}, fetchFunc(func(int64, int) (fetched, error) {
		return fetched{set: append(encodeBatch(0, 3, nil), damaged...)}, nil
	}))
	b := &pipeline.Batch{MaxRows: 10, MaxBytes: 100}
	if err := l.Next(context.Background(), b); err != nil || b.Len() != 3 || b.First != 0 || b.Next != 3 {
		t.Fatalf("%v, %d rows from %d to %d", err, b.Len(), b.First, b.Next)
	}
	for range 2 {
		err := l.Next(context.Background(), b)
		expectError(t, err, "t/0: the records from offset 3 on cannot be read", "CRC-32C", "Nothing was skipped")
	}
}

func TestNextEnds(t *testing.T) {
	noLeaks(t)
	l := loneLane(t, Options{}, fetchFunc(func(int64, int) (fetched, error) { return fetched{}, nil }))
	b := &pipeline.Batch{MaxRows: 10, MaxBytes: 100}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	if err := l.Next(ctx, b); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	time.AfterFunc(10*time.Millisecond, l.g.end)
	for range 2 {
		if err := l.Next(context.Background(), b); !errors.Is(err, io.EOF) {
			t.Errorf("ended: %v", err)
		}
	}
}

func TestMicros(t *testing.T) {
	for ms, want := range map[int64]int64{
		0: 0, 1: 1000, -1: 0, -2: -2000, 1_700_000_000_123: 1_700_000_000_123_000,
		math.MaxInt64: math.MaxInt64, math.MinInt64: math.MinInt64,
	} {
		if got := micros(ms); got != want {
			t.Errorf("%d ms are %d µs, want %d", ms, got, want)
		}
	}
}

// answer is a connection that answers a request with bytes.
type answer struct {
	io.Reader
	request bytes.Buffer
}

func (a *answer) Write(p []byte) (int, error) { return a.request.Write(p) }

// TestFetchVersions encodes requests and decodes answers of every version with a codec of others.
func TestFetchVersions(t *testing.T) {
	set := encodeBatch(7, 2, []byte("v"))
	for version := int16(minFetchVersion); version <= fetchByIDVersion; version++ {
		if version > maxFetchVersion && version < fetchByIDVersion {
			continue
		}
		resp := kmsg.NewPtrFetchResponse()
		resp.Version = version
		p := kmsg.NewFetchResponseTopicPartition()
		p.Partition, p.HighWatermark, p.LastStableOffset, p.LogStartOffset, p.RecordBatches = 5, 99, 98, 3, set
		p.AbortedTransactions = []kmsg.FetchResponseTopicPartitionAbortedTransaction{{ProducerID: 1, FirstOffset: 2}, {ProducerID: 3, FirstOffset: 4}}
		p.UnknownTags.Set(3, []byte("later"))
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic, topic.TopicID, topic.Partitions = "topic", [16]byte{7}, append(topic.Partitions, p)
		resp.Topics = append(resp.Topics, topic)
		header := binary.BigEndian.AppendUint32(nil, correlationID)
		var versions sync.Map
		versions.Store(int32(0), version)
		if version == fetchByIDVersion {
			header = append(header, 0) // no tags
		}
		body := resp.AppendTo(header)
		conn := &answer{Reader: bytes.NewReader(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))}

		req := &fetchRequest{clientID: "me", committed: true, topic: "topic", id: [16]byte{7}, versions: &versions, partition: 5, offset: 7, maxWait: time.Second, minBytes: 2, maxBytes: 3000}
		req.Required(map[protocol.ApiKey]int16{protocol.Fetch: min(version, maxFetchVersion)})
		if _, err := req.RawExchange(conn); err != nil || req.code != nil {
			t.Fatalf("v%d: %v, %v", version, err, req.code)
		}
		wantStart := int64(3)
		if version < 5 {
			wantStart = -1
		}
		aborted := []byte{7: 1, 15: 2, 23: 3, 31: 4}
		if a := req.answer; a.highWatermark != 99 || a.lastStable != 98 || a.logStart != wantStart || !bytes.Equal(a.set, set) || !bytes.Equal(a.aborted, aborted) {
			t.Errorf("v%d: high watermark %d, last stable %d, log start %d, %d bytes, aborted %v", version, a.highWatermark, a.lastStable, a.logStart, len(a.set), a.aborted)
		}
		// Request header v1: length, key, version, correlation, client.
		sent := conn.request.Bytes()
		if int(binary.BigEndian.Uint32(sent)) != len(sent)-4 || string(sent[14:16]) != "me" {
			t.Errorf("v%d: sent %q", version, sent[:16])
		}
		back := kmsg.NewPtrFetchRequest()
		back.Version = version
		sent = sent[16:]
		if version == fetchByIDVersion {
			sent = sent[1:] // no tags
		}
		if err := back.ReadFrom(sent); err != nil {
			t.Fatalf("v%d: %v", version, err)
		}
		bp := back.Topics[0].Partitions[0]
		if back.ReplicaID != -1 || back.IsolationLevel != 1 || back.MaxWaitMillis != 1000 || back.MinBytes != 2 || back.SessionID != 0 ||
			(version < fetchByIDVersion && back.Topics[0].Topic != "topic") || (version == fetchByIDVersion && back.Topics[0].TopicID != [16]byte{7}) || bp.Partition != 5 || bp.FetchOffset != 7 || bp.PartitionMaxBytes != 3000 || bp.CurrentLeaderEpoch != -1 {
			t.Errorf("v%d: sent %+v", version, back)
		}
	}
}

// TestTopicsAnswer reads an answer that a codec of others has made, and every beginning of it, which is none.
func TestTopicsAnswer(t *testing.T) {
	resp := kmsg.NewPtrMetadataResponse()
	resp.Version, resp.ClusterID = topicsVersion, kmsg.StringPtr("one")
	broker := kmsg.NewMetadataResponseBroker()
	broker.Host, broker.Rack = "a", kmsg.StringPtr("r")
	resp.Brokers = append(resp.Brokers, broker, kmsg.NewMetadataResponseBroker())
	for i, name := range []string{"t", "gone", "u"} {
		topic := kmsg.NewMetadataResponseTopic()
		topic.Topic, topic.TopicID = kmsg.StringPtr(name), [16]byte{byte(i + 1)}
		topic.ErrorCode = int16(i % 2 * 3)
		for range i + 1 {
			p := kmsg.NewMetadataResponseTopicPartition()
			p.Replicas, p.ISR, p.OfflineReplicas = []int32{1, 2}, []int32{1}, nil
			p.UnknownTags.Set(9, []byte("later"))
			topic.Partitions = append(topic.Partitions, p)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	body := resp.AppendTo(append(binary.BigEndian.AppendUint32(nil, correlationID), 0))
	for n := range len(body) - 5 { // the rest is not of interest
		r := &topicsRequest{partitions: layout{}, identities: map[string]identity{}}
		if err := r.parse(body[:n]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("%d of %d bytes: %v", n, len(body), err)
		}
	}
	r := &topicsRequest{partitions: layout{}, identities: map[string]identity{}}
	if err := r.parse(body); err != nil {
		t.Fatal(err)
	}
	want := map[string]identity{"t": {"one", [16]byte{1}}, "u": {"one", [16]byte{3}}}
	if !maps.Equal(r.identities, want) || !maps.Equal(r.partitions, layout{"t": 1, "u": 3}) {
		t.Errorf("%+v, %+v", r.identities, r.partitions)
	}
}

func TestFetchAnswersThatAreNone(t *testing.T) {
	length := func(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
	id := binary.BigEndian.AppendUint32(nil, correlationID)
	for name, test := range map[string]struct {
		answer []byte
		want   string
	}{
		"nothing":         {nil, "unexpected EOF"},
		"half a length":   {[]byte{0, 0}, "unexpected EOF"},
		"cut off":         {append(length(100), id...), "unexpected EOF"},
		"negative":        {length(-1), "an answer of -1 bytes"},
		"huge":            {length(math.MaxInt32), "an answer of 2147483647 bytes"},
		"another request": {append(length(4), 1, 2, 3, 4), "another request"},
		"no topics":       {append(append(length(18), id...), make([]byte, 14)...), "0 topics to a fetch of one"},
		"ends early":      {append(append(length(18), id...), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1), "ends early"},
	} {
		t.Run(name, func(t *testing.T) {
			req := &fetchRequest{topic: "t"}
			req.Required(map[protocol.ApiKey]int16{protocol.Fetch: maxFetchVersion})
			_, err := req.RawExchange(&answer{Reader: bytes.NewReader(test.answer)})
			expectError(t, err, test.want)
		})
	}
	req := &fetchRequest{}
	req.Required(map[protocol.ApiKey]int16{protocol.Fetch: 3})
	if _, err := req.RawExchange(&answer{}); !errors.Is(err, kafkago.UnsupportedVersion) {
		t.Errorf("version 3: %v", err)
	}
}

func TestMessagesNameTheRemedy(t *testing.T) {
	s := &session{opts: Options{Topics: []string{"t"}, Group: "g", SASL: SASL{Mechanism: MechanismPlain, Username: "ann", Password: "s3cret"}}}
	for err, word := range map[error]string{
		kafkago.GroupAuthorizationFailed:   `group "g"`,
		kafkago.ClusterAuthorizationFailed: "cluster",
		kafkago.InvalidGroupId:             "group name",
		kafkago.InvalidTopic:               "topic names",
		kafkago.InvalidSessionTimeout:      "group.min.session.timeout.ms",
		kafkago.InconsistentGroupProtocol:  "another group name",
		kafkago.UnsupportedVersion:         "older than",
		kafkago.UnsupportedSASLMechanism:   "does not offer plain",
		kafkago.SASLAuthenticationFailed:   `user "ann"`,
	} {
		got := s.explain(err, 0)
		if !kafkaconn.IsFatal(got) || !errors.Is(got, err) || !strings.Contains(got.Error(), word) || strings.Contains(got.Error(), "s3cret") {
			t.Errorf("%v: %v", err, got)
		}
	}
	if err := s.explain(kafkago.NotLeaderForPartition, 0); kafkaconn.IsFatal(err) {
		t.Errorf("%v", err)
	}
}
