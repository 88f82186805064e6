package kafka

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/pipeline"
)

// fetcher gets record sets from brokers. It is called by the prefetchers of all lanes at the same time.
type fetcher interface {
	// fetch asks for the records of a partition from offset on. The broker waits for a while if there are none. The answer
	// may begin before offset, end with a part of an entry, or be empty; it may lie in buf. The caller must not use buf
	// until fetch has returned without an error, and never again after one: a request that was given up may still be
	// reading into it.
	fetch(ctx context.Context, id pipeline.LaneID, offset int64, maxBytes int, buf []byte) (fetched, error)
}

// fetched is the answer to one fetch.
type fetched struct {
	buf           []byte // to pass to a later fetch once set is not needed any more
	set           []byte // whole entries, and perhaps a part of one
	aborted       []byte // the list of aborted transactions, as it came; it lives as long as set
	highWatermark int64  // offset after the last record that every replica has
	lastStable    int64  // offset of the first record whose transaction is still open, or highWatermark
	logStart      int64  // first offset of the log, -1 if the broker did not tell
	held          int64  // what the answer takes of the memory for all of them, to be given back with buf
}

// wireFetcher speaks the fetch request itself, over the connections that kafka-go's transport keeps, routes,
// encrypts and logs in: kafka-go's own client decodes every record into memory of its own, and does not say
// where a batch ends, without which compacted logs cannot be followed.
type wireFetcher struct {
	session *session
	turns   *turns
	memory  *fetchMemory
	nearby  *sync.Map // *replica by [pipeline.LaneID]: where leaders have sent this rack
}

// replica is one that is nearer than the leader, until the leader is asked again.
type replica struct {
	broker int32
	until  time.Time
}

// nearbyTime is how long records are read from a replica that a leader has named. Another one may be nearer then.
const nearbyTime = 5 * time.Minute

// fetch implements [fetcher]. The turn at the broker comes first and the memory second: memory that waits for a silent
// broker would be missing to the lanes of all others.
func (f wireFetcher) fetch(ctx context.Context, id pipeline.LaneID, offset int64, maxBytes int, buf []byte) (fetched, error) {
	done, err := f.turns.take(ctx, id)
	if err != nil {
		return fetched{}, err
	}
	leader := int32(noBroker)
	defer func() { done(leader) }() // runs after the one below, which sets leader
	reserved, err := f.memory.reserve(ctx, maxBytes)
	if err != nil {
		return fetched{}, err
	}
	o := f.session.opts
	req := &fetchRequest{
		id: f.session.topicID(id.Stream), versions: &f.session.fetchVersions,
		clientID: o.ClientID, committed: o.Isolation == ReadCommitted,
		topic: id.Stream, partition: id.Partition, offset: offset,
		maxWait: f.turns.wait(o.MaxWait), minBytes: o.MinBytes, maxBytes: maxBytes,
		buf: buf, leader: noBroker, rack: o.Rack, nearby: noBroker, preferred: noBroker,
	}
	if near, ok := f.nearby.Load(id); ok && time.Now().Before(near.(*replica).until) {
		req.nearby = near.(*replica).broker
	}
	defer func() { leader = req.leader }()
	ctx, cancel := context.WithTimeout(ctx, o.MaxWait+kafkaconn.RequestTimeout)
	defer cancel()
	if _, err := f.session.transport.RoundTrip(ctx, f.session.client.Addr, req); err != nil {
		f.memory.pool.Give(reserved)
		f.session.fetchVersions.Delete(req.leader) // a broker may come back under its number in another version
		f.nearby.Delete(id)
		return fetched{}, err
	}
	if req.code != nil {
		f.memory.pool.Give(reserved)
		if req.leader == req.nearby { // it may be behind: only the leader knows what there is
			f.nearby.Delete(id)
			return fetched{}, fmt.Errorf("the replica at broker %d, in place of the leader: %v", req.leader, req.code) //nolint:errorlint // its error counts for nothing
		}
		return req.answer, req.code
	}
	if req.preferred >= 0 {
		f.nearby.Store(id, &replica{req.preferred, time.Now().Add(nearbyTime)})
		f.session.log.Debug("records come from a replica that is nearer than the leader", "lane", id.String(), "broker", req.preferred, "leader", req.leader)
	}
	req.answer.held = int64(cap(req.answer.buf))
	f.memory.answered(reserved, req.answer.held)
	return req.answer, nil
}

// Versions of the request that are spoken: from the first with format v2 to the last before flexible fields; and the first
// that names the topic by its ID, so that no record of another topic of that name is ever taken for one of it.
const (
	minFetchVersion  = 4
	maxFetchVersion  = 11
	fetchByIDVersion = 13
)

const (
	// maxResponseBytes bounds the length that an answer may claim to have.
	maxResponseBytes = maxFetchBytesLimit + 64<<20
	// unasked is what an answer has beside what was asked for.
	unasked = 64 << 10
)

// fetchRequest is a fetch of one partition. It is both request and answer: kafka-go hands it the connection.
type fetchRequest struct {
	clientID           string
	committed          bool
	topic              string
	id                 [16]byte  // of the topic, zero where it is not known
	versions           *sync.Map // the newest version that a broker knows, by its number; nil not to ask
	partition          int32
	offset             int64
	maxWait            time.Duration
	minBytes, maxBytes int

	rack   string
	nearby int32 // a replica to ask in place of the leader, noBroker for none

	version   int16
	leader    int32 // the broker that was asked, noBroker before
	preferred int32 // the replica that the leader says to ask, noBroker for none
	buf       []byte
	answer    fetched
	code      error // the partition's
}

var (
	_ protocol.BrokerMessage = (*fetchRequest)(nil)
	_ protocol.RawExchanger  = (*fetchRequest)(nil)
)

// ApiKey implements [protocol.Message]; its name is kafka-go's.
func (r *fetchRequest) ApiKey() protocol.ApiKey { return protocol.Fetch }

// Broker implements [protocol.BrokerMessage]: fetches go to the partition's leader, or to a replica that it has named.
func (r *fetchRequest) Broker(cluster protocol.Cluster) (protocol.Broker, error) {
	topic, ok := cluster.Topics[r.topic]
	if !ok {
		return protocol.Broker{}, protocol.NewErrNoTopic(r.topic)
	}
	partition, ok := topic.Partitions[r.partition]
	if !ok {
		return protocol.Broker{}, protocol.NewErrNoPartition(r.topic, r.partition)
	}
	broker, ok := cluster.Brokers[r.nearby]
	if !ok {
		r.nearby = noBroker
		broker, ok = cluster.Brokers[partition.Leader]
	}
	if !ok {
		return protocol.Broker{}, protocol.NewErrNoLeader(r.topic, r.partition)
	}
	r.leader = broker.ID
	return broker, nil
}

// Required implements [protocol.RawExchanger].
func (r *fetchRequest) Required(versions map[protocol.ApiKey]int16) bool {
	r.version = min(versions[protocol.Fetch], maxFetchVersion)
	return true
}

// RawExchange implements [protocol.RawExchanger]. It is called on a goroutine of kafka-go's transport, also after the caller
// of RoundTrip has given up. What it uses is therefore the request's own, or made for several goroutines (versions), and the
// buffer of a request that was given up is not used again.
func (r *fetchRequest) RawExchange(conn io.ReadWriter) (protocol.Message, error) {
	if r.version < minFetchVersion {
		return nil, fmt.Errorf("fetch requests of version %d: %w", r.version, kafkago.UnsupportedVersion)
	}
	byID, err := r.byID(conn)
	if err != nil {
		return nil, err
	}
	if byID {
		r.version = fetchByIDVersion
		r.buf = r.appendByID(r.buf[:0])
	} else {
		r.buf = r.appendRequest(r.buf[:0])
	}
	if r.buf, err = exchange(conn, r.buf, r.buf, r.maxBytes); err != nil {
		return nil, err
	}
	return r, r.parse(r.buf)
}

// byID reports whether the broker can be asked by the topic's ID.
func (r *fetchRequest) byID(conn io.ReadWriter) (bool, error) {
	if r.id == [16]byte{} || r.versions == nil || r.version < maxFetchVersion {
		return false, nil
	}
	newest, known := r.versions.Load(r.leader)
	if !known {
		asked, err := newestVersion(conn, r.clientID, protocol.Fetch)
		if err != nil {
			return false, err
		}
		newest = asked
		r.versions.Store(r.leader, newest)
	}
	return newest.(int16) >= fetchByIDVersion, nil
}

// exchange sends a request and returns the answer without its length, in buf if it has the room. The request may lie in buf.
// Memory is allocated for the bytes that were asked for, and within these for an eighth more than the answer has, since the next one
// is about as large. An answer that claims more gets it as its bytes come, twice as much each time.
func exchange(conn io.ReadWriter, request, buf []byte, asked int) ([]byte, error) {
	if _, err := conn.Write(request); err != nil {
		return nil, err
	}
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, unexpected(err)
	}
	n := int(int32(binary.BigEndian.Uint32(size[:])))
	if n < 0 || n > maxResponseBytes {
		return nil, fmt.Errorf("an answer of %d bytes", n)
	}
	have, most := 0, asked+unasked
	for room := min(n, max(cap(buf), most)); ; room = min(n, 2*room) {
		if cap(buf) < room {
			buf = append(make([]byte, 0, max(room, min(room+room/8, most))), buf[:have]...)
		}
		buf = buf[:room]
		if _, err := io.ReadFull(conn, buf[have:]); err != nil {
			return nil, unexpected(err)
		}
		if have = room; have == n {
			return buf, nil
		}
	}
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// correlationID is the same for all requests, since a connection carries one at a time. An answer with another one means
// that the stream is out of step.
const correlationID = 0x6d696c6c

// appendHeader appends a request's length, still zero, and its header.
func appendHeader(b []byte, key protocol.ApiKey, version int16, clientID string) []byte {
	b = append(b, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(key))
	b = binary.BigEndian.AppendUint16(b, uint16(version))
	b = binary.BigEndian.AppendUint32(b, correlationID)
	b = binary.BigEndian.AppendUint16(b, uint16(len(clientID)))
	return append(b, clientID...)
}

// appendRequest appends the request with its length before it.
//
// Source: https://kafka.apache.org/protocol#The_Messages_Fetch
func (r *fetchRequest) appendRequest(b []byte) []byte {
	i16, i32, i64 := binary.BigEndian.AppendUint16, binary.BigEndian.AppendUint32, binary.BigEndian.AppendUint64
	str := func(b []byte, s string) []byte { return append(i16(b, uint16(len(s))), s...) }
	const none = 0xffffffff // -1
	b = appendHeader(b, protocol.Fetch, r.version, r.clientID)
	b = i32(b, none) // replica: a consumer
	b = i32(b, uint32(r.maxWait.Milliseconds()))
	b = i32(b, uint32(r.minBytes))
	b = i32(b, math.MaxInt32) // of all partitions; the one's own limit counts
	b = append(b, isolationLevel(r.committed))
	if r.version >= 7 {
		b = i32(b, 0)    // no session
		b = i32(b, none) // and none wanted
	}
	b = i32(b, 1)
	b = str(b, r.topic)
	b = i32(b, 1)
	b = i32(b, uint32(r.partition))
	if r.version >= 9 {
		b = i32(b, none) // leader epoch unknown
	}
	b = i64(b, uint64(r.offset))
	if r.version >= 5 {
		b = i64(b, 1<<64-1) // log start: for replicas
	}
	b = i32(b, uint32(r.maxBytes))
	if r.version >= 7 {
		b = i32(b, 0) // nothing to forget
	}
	if r.version >= 11 {
		b = str(b, r.rack)
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// appendByID is appendRequest for [fetchByIDVersion], whose arrays begin with one more than their length.
func (r *fetchRequest) appendByID(b []byte) []byte {
	i32, i64 := binary.BigEndian.AppendUint32, binary.BigEndian.AppendUint64
	const none = 0xffffffff // -1
	b = appendHeader(b, protocol.Fetch, fetchByIDVersion, r.clientID)
	b = append(b, 0) // no tags
	b = i32(b, none) // replica: a consumer
	b = i32(b, uint32(r.maxWait.Milliseconds()))
	b = i32(b, uint32(r.minBytes))
	b = i32(b, math.MaxInt32) // of all partitions; the one's own limit counts
	b = append(b, isolationLevel(r.committed))
	b = i32(b, 0)    // no session
	b = i32(b, none) // and none wanted
	b = append(b, 2)
	b = append(b, r.id[:]...)
	b = append(b, 2)
	b = i32(b, uint32(r.partition))
	b = i32(b, none) // leader epoch unknown
	b = i64(b, uint64(r.offset))
	b = i32(b, none)    // and that of the last record
	b = i64(b, 1<<64-1) // log start: for replicas
	b = i32(b, uint32(r.maxBytes))
	b = append(b, 0, 0) // no tags of the partition and the topic
	b = append(b, 1)    // nothing to forget
	b = append(binary.AppendUvarint(b, uint64(len(r.rack)+1)), r.rack...)
	b = append(b, 0) // no tags
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// isolationLevel returns what the protocol has for reading only what is committed, or everything.
func isolationLevel(committed bool) byte {
	if committed {
		return 1
	}
	return 0
}

// parse reads the answer, whose length has been taken off. The results alias body, which is the caller's buffer or a larger
// one in its place. An error that the broker has for the partition goes into r.code; parse returns an error for an answer
// that cannot be read.
func (r *fetchRequest) parse(body []byte) error {
	p := fields{b: body, flexible: r.version >= fetchByIDVersion}
	if err := p.header(); err != nil {
		return err
	}
	p.int32() // throttled for so long
	code := int16(0)
	if r.version >= 7 {
		code = p.int16()
		p.int32() // session
	}
	if topics := p.array(); code == 0 && topics != 1 && !p.short {
		return fmt.Errorf("an answer for %d topics to a fetch of one", topics)
	}
	if code != 0 {
		r.code = kafkago.Error(code)
		return nil
	}
	if p.flexible {
		p.skip(len(r.id))
	} else {
		p.skip(int(p.int16())) // its name
	}
	if partitions := p.array(); partitions != 1 && !p.short {
		return fmt.Errorf("an answer for %d partitions to a fetch of one", partitions)
	}
	p.int32() // its number
	if code = p.int16(); code != 0 {
		r.code = kafkago.Error(code)
	}
	r.answer = fetched{highWatermark: p.int64(), lastStable: p.int64(), logStart: -1}
	if !r.committed {
		r.answer.lastStable = r.answer.highWatermark
	}
	if r.version >= 5 {
		r.answer.logStart = p.int64()
	}
	r.answer.aborted = p.aborted()
	if r.version >= 11 {
		r.preferred = p.int32()
	}
	size := p.array() // of the records, in bytes
	if err := p.whole(len(body)); err != nil {
		return err
	}
	r.answer.buf = body[:0]
	r.answer.set = p.b[:max(size, 0)]
	return nil
}

// aborted takes the list of aborted transactions: two numbers each, without what else there may be.
func (p *fields) aborted() []byte {
	n := p.array()
	if n <= 0 {
		return nil
	}
	const size = 16
	if !p.flexible {
		return p.take(n * size)
	}
	list := p.b[:0]
	for range n {
		list = append(list, p.take(size)...) // in place: entries lose their tags, so the list ends before what is read next
		p.tags()
		if p.short {
			return nil
		}
	}
	return list
}

// fields takes integers and more off the front of b. What is not there any more is zero and sets short, so that an answer is
// read to its end without a check at each field; [fields.whole] has to be asked before any of it is used.
type fields struct {
	b        []byte
	short    bool
	flexible bool // lengths are varints of one more, and there are tags
}

// take returns the next n bytes, which alias b. Where there are fewer it returns 16 zeros, as many as any field of a fixed
// size has.
func (p *fields) take(n int) []byte {
	if n < 0 || n > len(p.b) {
		p.b, p.short = nil, true
		return make([]byte, 16)
	}
	v := p.b[:n]
	p.b = p.b[n:]
	return v
}

func (p *fields) skip(n int) { p.take(max(n, 0)) }

func (p *fields) int16() int16 { return int16(binary.BigEndian.Uint16(p.take(2))) }
func (p *fields) int32() int32 { return int32(binary.BigEndian.Uint32(p.take(4))) }
func (p *fields) int64() int64 { return int64(binary.BigEndian.Uint64(p.take(8))) }

func (p *fields) uvarint() int {
	v, n := binary.Uvarint(p.b)
	if n <= 0 || v > maxResponseBytes {
		p.b, p.short = nil, true
		return 0
	}
	p.b = p.b[n:]
	return int(v)
}

// array returns the length of what follows, -1 for null. It is never more than there are bytes left, so that a loop over it
// ends however wrong it is.
func (p *fields) array() (n int) {
	if p.flexible {
		n = p.uvarint() - 1
	} else {
		n = int(p.int32())
	}
	if n > len(p.b) {
		p.b, p.short = nil, true
		return 0
	}
	return n
}

// string returns a flexible string, empty for null.
func (p *fields) string() string { return string(p.take(max(0, p.array()))) }

// tags takes off what newer versions may have added.
func (p *fields) tags() {
	if !p.flexible {
		return
	}
	for range p.uvarint() {
		if p.short {
			return
		}
		p.uvarint()
		p.skip(p.uvarint())
	}
}

// header takes off that of an answer.
func (p *fields) header() error {
	if id := p.int32(); id != correlationID && !p.short {
		return fmt.Errorf("an answer to another request, %08x", id)
	}
	p.tags()
	return nil
}

// whole returns an error if the answer has ended early; size is what it had.
func (p *fields) whole(size int) error {
	if p.short {
		return fmt.Errorf("an answer of %d bytes that ends early: %w", size, io.ErrUnexpectedEOF)
	}
	return nil
}
