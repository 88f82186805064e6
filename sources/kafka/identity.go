package kafka

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"io"
	"strings"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/apiversions"

	"github.com/urlmill/urlmill/internal/kafkaconn"
)

// identity says what the offsets of a topic are offsets of: a topic that is deleted and made again under its name is another
// one, and so is that of another cluster. What is not known is zero: brokers before Kafka 2.8 have no IDs of topics.
type identity struct {
	cluster string
	topic   [16]byte
}

// String returns the ID of the cluster, and behind a slash that of the topic, as Kafka's own tools write it.
func (i identity) String() string {
	if i.topic == [16]byte{} {
		return i.cluster
	}
	return i.cluster + "/" + base64.RawURLEncoding.EncodeToString(i.topic[:])
}

// parseIdentity is the inverse of String. Text that String cannot have made is taken for a cluster's ID without a topic's.
func parseIdentity(s string) identity {
	at := strings.LastIndexByte(s, '/')
	if id, err := base64.RawURLEncoding.DecodeString(s[at+1:]); at >= 0 && err == nil && len(id) == 16 {
		return identity{s[:at], [16]byte(id)}
	}
	return identity{cluster: s}
}

// same reports whether both may be identities of one topic. What either side does not know counts as equal: outputs and brokers
// that are older than identities would be refused otherwise.
func (i identity) same(o identity) bool {
	return (i.cluster == o.cluster || i.cluster == "" || o.cluster == "") &&
		(i.topic == o.topic || i.topic == [16]byte{} || o.topic == [16]byte{})
}

// or returns i, with the parts that it does not know taken from o.
func (i identity) or(o identity) identity {
	if i.cluster == "" {
		i.cluster = o.cluster
	}
	if i.topic == [16]byte{} {
		i.topic = o.topic
	}
	return i
}

// session returns the session of lanes that read the topic after another one of its name. It is part of the names of
// directories and files, so it is short, and its derivation must not change.
func (i identity) session() string {
	sum := sha256.Sum256([]byte(i.String()))
	return hex.EncodeToString(sum[:6])
}

// identify asks a broker for the topics' numbers of partitions and identities. A topic that is gone, or that the broker has
// an error for, is left out.
func (s *session) identify(ctx context.Context) (layout, map[string]identity, error) {
	ctx, cancel := context.WithTimeout(ctx, kafkaconn.RequestTimeout)
	defer cancel()
	req := &topicsRequest{clientID: s.opts.ClientID, topics: s.opts.Topics, partitions: layout{}, identities: map[string]identity{}}
	if _, err := s.transport.RoundTrip(ctx, s.client.Addr, req); err != nil {
		return nil, nil, err
	}
	if !req.old {
		return req.partitions, req.identities, nil
	}
	meta, err := s.client.Metadata(ctx, &kafkago.MetadataRequest{Topics: s.opts.Topics})
	if err != nil {
		return nil, nil, err
	}
	for _, t := range meta.Topics {
		if t.Error == nil {
			req.partitions[t.Name], req.identities[t.Name] = len(t.Partitions), identity{cluster: meta.ClusterID}
		}
	}
	return req.partitions, req.identities, nil
}

// topicID returns the ID that a topic is to be fetched by, zero where it is not known.
func (s *session) topicID(topic string) [16]byte {
	if known := s.identities.Load(); known != nil {
		return (*known)[topic].topic
	}
	return [16]byte{}
}

// topicsVersion is the first version of the metadata request whose answer has the IDs of topics, which kafka-go does not speak.
const topicsVersion = 10

// topicsRequest asks for topics. It is both request and answer: kafka-go hands it the connection.
type topicsRequest struct {
	clientID string
	topics   []string

	old        bool // the broker knows no IDs of topics
	partitions layout
	identities map[string]identity
}

var _ protocol.RawExchanger = (*topicsRequest)(nil)

// ApiKey implements [protocol.Message]; its name is kafka-go's.
func (r *topicsRequest) ApiKey() protocol.ApiKey { return protocol.Metadata }

// Required implements [protocol.RawExchanger].
func (r *topicsRequest) Required(map[protocol.ApiKey]int16) bool { return true }

// RawExchange implements [protocol.RawExchanger].
func (r *topicsRequest) RawExchange(conn io.ReadWriter) (protocol.Message, error) {
	newest, err := newestVersion(conn, r.clientID, protocol.Metadata)
	if err != nil {
		return nil, err
	}
	if r.old = newest < topicsVersion; r.old {
		return r, nil
	}
	body, err := exchange(conn, r.append(nil), nil, 0)
	if err != nil {
		return nil, err
	}
	return r, r.parse(body)
}

// newestVersion asks a broker for the newest version of a request that it knows: kafka-go keeps to itself what is newer than
// its own.
func newestVersion(conn io.ReadWriter, clientID string, key protocol.ApiKey) (int16, error) {
	answer, err := protocol.RoundTrip(conn, 0, correlationID, clientID, &apiversions.Request{})
	if err != nil {
		return 0, err
	}
	versions := answer.(*apiversions.Response)
	if versions.ErrorCode != 0 {
		return 0, kafkago.Error(versions.ErrorCode)
	}
	for _, v := range versions.ApiKeys {
		if v.ApiKey == int16(key) {
			return v.MaxVersion, nil
		}
	}
	return 0, kafkago.UnsupportedVersion
}

// append appends the request with its length before it.
//
// Source: https://kafka.apache.org/protocol#The_Messages_Metadata
func (r *topicsRequest) append(b []byte) []byte {
	b = appendHeader(b, protocol.Metadata, topicsVersion, r.clientID)
	b = append(b, 0) // no tags
	b = binary.AppendUvarint(b, uint64(len(r.topics)+1))
	for _, t := range r.topics {
		b = append(b, make([]byte, 16)...) // asked for by its name
		b = append(binary.AppendUvarint(b, uint64(len(t)+1)), t...)
		b = append(b, 0)
	}
	b = append(b, 0, 0, 0, 0) // nothing is to be created, no rights to be told, no tags
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// parse reads the answer, whose length has been taken off.
func (r *topicsRequest) parse(body []byte) error {
	p := fields{b: body, flexible: true}
	if err := p.header(); err != nil {
		return err
	}
	p.int32() // throttled for so long
	for range p.array() {
		p.int32()  // a broker's number
		p.string() // and host
		p.int32()  // and port
		p.string() // and rack
		p.tags()
	}
	cluster := p.string()
	p.int32() // the controller
	for range p.array() {
		code, name := p.int16(), p.string()
		id := identity{cluster, [16]byte(p.take(16))}
		p.take(1) // whether it is internal
		n := p.array()
		for range n {
			p.take(14) // error, number, leader and its epoch
			for range 3 {
				p.skip(4 * p.array()) // replicas of three kinds
			}
			p.tags()
		}
		p.int32() // rights
		p.tags()
		if code == 0 && !p.short {
			r.partitions[name], r.identities[name] = n, id
		}
	}
	return p.whole(len(body))
}
