package kafka

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/describegroups"
	"github.com/segmentio/kafka-go/protocol/joingroup"
	"github.com/segmentio/kafka-go/protocol/leavegroup"
	"github.com/segmentio/kafka-go/protocol/syncgroup"

	"github.com/urlmill/urlmill/internal/kafkaconn"
)

// membership is a place in the consumer group. It keeps its identity from one generation to the next, also when the coordinator
// cannot be reached for a while, so that no other identity of this process waits for its session timeout. It belongs to the
// goroutine of consume.
type membership struct {
	session *session
	id      string // "" before the first answer
}

// balancers are how members divide the partitions, the preferred way first.
var balancers = []kafkago.GroupBalancer{kafkago.RangeGroupBalancer{}, kafkago.RoundRobinGroupBalancer{}}

const protocolType = "consumer"

// join takes a place in the next generation of the group, and waits until that has begun.
func (m *membership) join(ctx context.Context) (*kafkago.Generation, error) {
	const tries = 5 // without a pause
	for try := 1; ; try++ {
		generation, err := m.tryJoin(ctx)
		if errors.Is(err, kafkago.UnknownMemberId) {
			m.id = ""
		}
		// The identity has come with the answer, or another member came between.
		again := errors.Is(err, kafkago.MemberIDRequired) || errors.Is(err, kafkago.RebalanceInProgress)
		if !again || try == tries {
			return generation, err
		}
	}
}

func (m *membership) tryJoin(ctx context.Context) (*kafkago.Generation, error) {
	s := m.session
	ctx, cancel := context.WithTimeout(ctx, 2*s.opts.RebalanceTimeout+kafkaconn.RequestTimeout)
	defer cancel()
	request := &joingroup.Request{
		GroupID: s.opts.Group, MemberID: m.id, GroupInstanceID: s.opts.InstanceID, ProtocolType: protocolType,
		SessionTimeoutMS: int32(s.opts.SessionTimeout.Milliseconds()), RebalanceTimeoutMS: int32(s.opts.RebalanceTimeout.Milliseconds()),
	}
	for _, b := range balancers {
		request.Protocols = append(request.Protocols, joingroup.RequestProtocol{Name: b.ProtocolName(), Metadata: appendSubscription(nil, s.opts.Topics)})
	}
	answer, err := s.transport.RoundTrip(ctx, s.client.Addr, request)
	if err != nil {
		return nil, err
	}
	joined := answer.(*joingroup.Response)
	m.id = cmp.Or(joined.MemberID, m.id)
	if joined.ErrorCode != 0 {
		return nil, kafkago.Error(joined.ErrorCode)
	}
	sync := &syncgroup.Request{
		GroupID: s.opts.Group, MemberID: m.id, GroupInstanceID: s.opts.InstanceID, GenerationID: joined.GenerationID,
		ProtocolType: protocolType, ProtocolName: joined.ProtocolName,
	}
	if joined.LeaderID == m.id {
		if sync.Assignments, err = s.assign(ctx, joined); err != nil {
			return nil, err
		}
	}
	if answer, err = s.transport.RoundTrip(ctx, s.client.Addr, sync); err != nil {
		return nil, err
	}
	synced := answer.(*syncgroup.Response)
	if synced.ErrorCode != 0 {
		return nil, kafkago.Error(synced.ErrorCode)
	}
	assigned, err := parseAssignment(synced.Assignments)
	if err != nil {
		return nil, err
	}
	generation := &kafkago.Generation{ID: joined.GenerationID, GroupID: s.opts.Group, MemberID: m.id, Assignments: map[string][]kafkago.PartitionAssignment{}}
	for _, topic := range s.opts.Topics {
		if len(assigned[topic]) == 0 {
			continue
		}
		offsets, err := s.committed(ctx, topic, assigned[topic]...)
		if err != nil {
			return nil, err
		}
		for _, p := range assigned[topic] {
			generation.Assignments[topic] = append(generation.Assignments[topic], kafkago.PartitionAssignment{ID: p, Offset: offsets[p]})
		}
	}
	return generation, nil
}

// leave takes this member out of the group. It tries once: a member that is gone without it is noticed at its session timeout.
// It works on a context of its own, since a run that is cancelled leaves as well.
func (m *membership) leave() {
	if m.id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	s := m.session
	_, err := s.transport.RoundTrip(ctx, s.client.Addr, &leavegroup.Request{
		GroupID: s.opts.Group, MemberID: m.id, // of versions before 3
		Members: []leavegroup.RequestMember{{MemberID: m.id, GroupInstanceID: s.opts.InstanceID}},
	})
	if err != nil {
		s.log.Debug("the group was not left; it notices at the session timeout", "error", err)
	}
	m.id = ""
}

// unassigned reports whether no member of the group has one of the partitions that there are. A member that comes back by its
// instance ID gets what it had, also where partitions were added while it was away, and nobody who saw that was there.
func (s *session) unassigned(ctx context.Context, partitions map[string][]int) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, kafkaconn.RequestTimeout)
	defer cancel()
	answer, err := s.transport.RoundTrip(ctx, s.client.Addr, &describegroups.Request{Groups: []string{s.opts.Group}})
	if err != nil {
		return false, err
	}
	groups := answer.(*describegroups.Response).Groups
	if len(groups) != 1 {
		return false, errNoAnswer
	}
	group := groups[0]
	if group.ErrorCode != 0 {
		return false, kafkago.Error(group.ErrorCode)
	}
	if group.GroupState != "Stable" {
		return false, nil // partitions are about to be assigned
	}
	taken := map[string]map[int]bool{}
	for _, m := range group.Members {
		assigned, err := parseAssignment(m.MemberAssignment)
		if err != nil {
			return false, err
		}
		for topic, ids := range assigned {
			if taken[topic] == nil {
				taken[topic] = map[int]bool{}
			}
			for _, id := range ids {
				taken[topic][id] = true
			}
		}
	}
	for topic, ids := range partitions {
		for _, id := range ids {
			if !taken[topic][id] {
				return true, nil
			}
		}
	}
	return false, nil
}

// assign divides the partitions among the members of the group, whose leader this member is. Members with an instance ID go by
// that, so that they get the same partitions by whatever identity they come back.
func (s *session) assign(ctx context.Context, joined *joingroup.Response) ([]syncgroup.RequestAssignment, error) {
	i := slices.IndexFunc(balancers, func(b kafkago.GroupBalancer) bool { return b.ProtocolName() == joined.ProtocolName })
	if i < 0 {
		return nil, fmt.Errorf("the group assigns partitions by %q: %w", joined.ProtocolName, kafkago.InconsistentGroupProtocol)
	}
	var members []kafkago.GroupMember
	wanted := map[string]bool{}
	identities := map[string]string{}
	for _, m := range joined.Members {
		topics, err := parseSubscription(m.Metadata)
		if err != nil {
			return nil, fmt.Errorf("what member %q wants: %w", m.MemberID, err)
		}
		name := cmp.Or(m.GroupInstanceID, m.MemberID)
		identities[name] = m.MemberID
		members = append(members, kafkago.GroupMember{ID: name, Topics: topics})
		for _, t := range topics {
			wanted[t] = true
		}
	}
	// Members may want other topics than this one, of which the transport knows nothing.
	known, _, err := s.dialer.Describe(ctx, s.codeAdvice, slices.Sorted(maps.Keys(wanted))...)
	if err != nil {
		return nil, err
	}
	var partitions []kafkago.Partition
	for _, topic := range slices.Sorted(maps.Keys(known)) {
		for p := range known[topic] {
			partitions = append(partitions, kafkago.Partition{Topic: topic, ID: p})
		}
	}
	divided := balancers[i].AssignGroups(members, partitions)
	var assignments []syncgroup.RequestAssignment
	for name, id := range identities { // also to those that get nothing
		assignments = append(assignments, syncgroup.RequestAssignment{MemberID: id, Assignment: appendAssignment(nil, divided[name])})
	}
	return assignments, nil
}

// appendSubscription appends what a member tells the others: version 0 of it, which all clients read.
//
// Source: https://kafka.apache.org/protocol#The_Messages_JoinGroup, and ConsumerProtocolSubscription.json of Apache Kafka.
func appendSubscription(b []byte, topics []string) []byte {
	b = binary.BigEndian.AppendUint16(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(len(topics)))
	for _, t := range topics {
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(t))), t...)
	}
	return binary.BigEndian.AppendUint32(b, 1<<32-1) // no data of the user
}

// parseSubscription returns the topics that a member wants. Newer versions say more behind them.
func parseSubscription(b []byte) (topics []string, err error) {
	p := fields{b: b}
	p.int16() // version
	for range p.array() {
		topics = append(topics, string(p.take(int(p.int16()))))
		if p.short {
			break
		}
	}
	return topics, p.whole(len(b))
}

// appendAssignment appends what a leader tells a member, version 0 as well.
func appendAssignment(b []byte, partitions map[string][]int) []byte {
	b = binary.BigEndian.AppendUint16(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(len(partitions)))
	for topic, ids := range partitions {
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(topic))), topic...)
		b = binary.BigEndian.AppendUint32(b, uint32(len(ids)))
		for _, id := range ids {
			b = binary.BigEndian.AppendUint32(b, uint32(id))
		}
	}
	return binary.BigEndian.AppendUint32(b, 1<<32-1)
}

// parseAssignment returns the partitions that a member has got, none for an answer without any.
func parseAssignment(b []byte) (map[string][]int, error) {
	all := map[string][]int{}
	if len(b) == 0 {
		return all, nil
	}
	p := fields{b: b}
	p.int16() // version
	for range p.array() {
		topic := string(p.take(int(p.int16())))
		for range p.array() {
			id := p.int32()
			if p.short || id < 0 {
				return nil, fmt.Errorf("an assignment of %d bytes that cannot be read: %w", len(b), io.ErrUnexpectedEOF)
			}
			all[topic] = append(all[topic], int(id))
		}
		if p.short {
			break
		}
	}
	return all, p.whole(len(b))
}

// heartbeatRequest says that a member lives. It is both request and answer: kafka-go hands it the connection. kafka-go's own is
// sent to any broker, and reads the throttling time of the answer as its error.
type heartbeatRequest struct {
	clientID, group, instance string
	member                    string
	generation                int32

	version int16
	code    kafkago.Error
}

var (
	_ protocol.GroupMessage = (*heartbeatRequest)(nil)
	_ protocol.RawExchanger = (*heartbeatRequest)(nil)
)

// ApiKey implements [protocol.Message]; its name is kafka-go's.
func (r *heartbeatRequest) ApiKey() protocol.ApiKey { return protocol.Heartbeat }

// Group implements [protocol.GroupMessage].
func (r *heartbeatRequest) Group() string { return r.group }

// Required implements [protocol.RawExchanger].
func (r *heartbeatRequest) Required(versions map[protocol.ApiKey]int16) bool {
	r.version = min(versions[protocol.Heartbeat], instanceVersion)
	return true
}

// instanceVersion is the first version of the request that names the instance, and the last without flexible fields.
const instanceVersion = 3

// RawExchange implements [protocol.RawExchanger].
//
// Source: https://kafka.apache.org/protocol#The_Messages_Heartbeat
func (r *heartbeatRequest) RawExchange(conn io.ReadWriter) (protocol.Message, error) {
	if r.instance != "" && r.version < instanceVersion {
		return nil, &kafkaconn.FatalError{Err: errors.New("the brokers do not know instance_id"), Advice: "take it out, or use Apache Kafka 2.3 or newer"}
	}
	str := func(b []byte, s string) []byte { return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...) }
	b := appendHeader(nil, protocol.Heartbeat, r.version, r.clientID)
	b = str(b, r.group)
	b = binary.BigEndian.AppendUint32(b, uint32(r.generation))
	b = str(b, r.member)
	switch {
	case r.version < instanceVersion:
	case r.instance == "":
		b = binary.BigEndian.AppendUint16(b, 1<<16-1) // none
	default:
		b = str(b, r.instance)
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	body, err := exchange(conn, b, nil, 0)
	if err != nil {
		return nil, err
	}
	p := fields{b: body}
	if err := p.header(); err != nil {
		return nil, err
	}
	if r.version >= 1 {
		p.int32() // throttled for so long
	}
	r.code = kafkago.Error(p.int16())
	return r, p.whole(len(body))
}
