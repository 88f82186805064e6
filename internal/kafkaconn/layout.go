package kafkaconn

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/apiversions"
	"github.com/segmentio/kafka-go/protocol/consumer"
	"github.com/segmentio/kafka-go/protocol/describegroups"
	"github.com/segmentio/kafka-go/protocol/findcoordinator"
	"github.com/segmentio/kafka-go/protocol/heartbeat"
	"github.com/segmentio/kafka-go/protocol/joingroup"
	"github.com/segmentio/kafka-go/protocol/leavegroup"
	"github.com/segmentio/kafka-go/protocol/listoffsets"
	"github.com/segmentio/kafka-go/protocol/metadata"
	"github.com/segmentio/kafka-go/protocol/offsetcommit"
	"github.com/segmentio/kafka-go/protocol/offsetfetch"
	"github.com/segmentio/kafka-go/protocol/produce"
	"github.com/segmentio/kafka-go/protocol/saslauthenticate"
	"github.com/segmentio/kafka-go/protocol/saslhandshake"
	"github.com/segmentio/kafka-go/protocol/syncgroup"
)

// answers are what kafka-go decodes answers into.
var answers = map[protocol.ApiKey]reflect.Type{
	protocol.ApiVersions:      reflect.TypeFor[apiversions.Response](),
	protocol.DescribeGroups:   reflect.TypeFor[describegroups.Response](),
	protocol.FindCoordinator:  reflect.TypeFor[findcoordinator.Response](),
	protocol.Heartbeat:        reflect.TypeFor[heartbeat.Response](),
	protocol.JoinGroup:        reflect.TypeFor[joingroup.Response](),
	protocol.LeaveGroup:       reflect.TypeFor[leavegroup.Response](),
	protocol.ListOffsets:      reflect.TypeFor[listoffsets.Response](),
	protocol.Metadata:         reflect.TypeFor[metadata.Response](),
	protocol.OffsetCommit:     reflect.TypeFor[offsetcommit.Response](),
	protocol.OffsetFetch:      reflect.TypeFor[offsetfetch.Response](),
	protocol.Produce:          reflect.TypeFor[produce.Response](),
	protocol.SaslAuthenticate: reflect.TypeFor[saslauthenticate.Response](),
	protocol.SaslHandshake:    reflect.TypeFor[saslhandshake.Response](),
	protocol.SyncGroup:        reflect.TypeFor[syncgroup.Response](),
}

// layouts has the layout of each [question] that was checked.
var layouts sync.Map

// assignment is what the answer to SyncGroup has in its bytes, and kafka-go decodes as well.
var assignment = structLayout(reflect.TypeFor[consumer.Assignment](), 0, false)

// check returns an error for an answer, without its header, in which something is claimed to be longer than the answer is. One
// of a version that kafka-go does not know was asked for by this program, whose reader checks it itself.
func (q question) check(answer []byte) error {
	t, known := answers[q.key]
	if !known {
		return fmt.Errorf("the broker's answer to %s is of no known layout", q)
	}
	if q.version > q.key.MaxVersion() {
		return nil
	}
	l, ok := layouts.Load(q)
	if !ok {
		l, _ = layouts.LoadOrStore(q, answerLayout(t, q))
	}
	c := cursor{b: answer, noNull: q.key == protocol.ApiVersions} // kafka-go's consumer group would panic
	l.(layout)(&c)
	if c.short {
		return fmt.Errorf("the broker's answer to %s claims more than its %d bytes have", q, len(answer))
	}
	return nil
}

// layout skips over what a type has in an answer.
type layout func(*cursor)

// cursor goes over an answer. short is set where a length is more than there is, and then nothing is left.
type cursor struct {
	b      []byte
	short  bool
	noNull bool
}

func (c *cursor) take(n int) []byte {
	if n > len(c.b) {
		c.b, c.short = nil, true
		return nil
	}
	v := c.b[:n]
	c.b = c.b[n:]
	return v
}

// length returns what a length of that many bytes, 0 for a varint of one more, says is left. It is 0 for null.
func (c *cursor) length(size int) int {
	var n int64
	switch size {
	case 0:
		v := c.uvarint()
		n = int64(v) - 1
	case 2:
		if b := c.take(2); b != nil {
			n = int64(int16(binary.BigEndian.Uint16(b)))
		}
	default:
		if b := c.take(4); b != nil {
			n = int64(int32(binary.BigEndian.Uint32(b)))
		}
	}
	if n > int64(len(c.b)) || n < 0 && c.noNull {
		c.b, c.short = nil, true
	}
	if n < 0 || c.short {
		return 0
	}
	return int(n)
}

// uvarint takes a number that has to be below 2^31: kafka-go converts it to an int.
func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 || v > math.MaxInt32 {
		c.b, c.short = nil, true
		return 0
	}
	c.b = c.b[n:]
	return v
}

// tags skips what newer versions may have added.
func (c *cursor) tags() {
	for n := c.uvarint(); n > 0 && !c.short; n-- {
		c.uvarint()
		c.take(int(c.uvarint()))
	}
}

func answerLayout(t reflect.Type, q question) layout {
	flexible := isFlexible(t, q.version)
	body := structLayout(t, q.version, flexible)
	switch {
	case flexible:
		return func(c *cursor) {
			c.tags() // of the header
			body(c)
		}
	case q.key == protocol.SyncGroup && q.version == 0:
		return func(c *cursor) {
			c.take(2) // an error
			if inner := c.take(c.length(4)); len(inner) > 0 {
				part := cursor{b: inner}
				assignment(&part)
				c.short = c.short || part.short
			}
		}
	}
	return body
}

// typeLayout returns the layout that kafka-go has for a type.
func typeLayout(t reflect.Type, version int16, flexible bool) layout {
	short, long := 2, 4
	if flexible {
		short, long = 0, 0
	}
	switch k := t.Kind(); {
	case k == reflect.String:
		return func(c *cursor) { c.take(c.length(short)) }
	case k == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return func(c *cursor) { c.take(c.length(long)) }
	case k == reflect.Slice:
		element := typeLayout(t.Elem(), version, flexible)
		return func(c *cursor) {
			for n := c.length(long); n > 0 && !c.short; n-- {
				element(c)
			}
		}
	case k == reflect.Struct:
		return structLayout(t, version, flexible)
	default:
		size := int(t.Size())
		return func(c *cursor) { c.take(size) }
	}
}

func structLayout(t reflect.Type, version int16, flexible bool) layout {
	var fields []layout
	for i := range t.NumField() {
		f := t.Field(i)
		for _, tag := range tagsOf(f) {
			if tag.first <= version && version <= tag.last && !tag.flexible {
				fields = append(fields, typeLayout(f.Type, version, flexible))
				break
			}
		}
	}
	return func(c *cursor) {
		for _, field := range fields {
			field(c)
		}
		if flexible {
			c.tags()
		}
	}
}

// isFlexible reports whether an answer has varints and tags: a field that is marked so is in it.
func isFlexible(t reflect.Type, version int16) bool {
	for i := range t.NumField() {
		for _, tag := range tagsOf(t.Field(i)) {
			if tag.flexible && version >= tag.first {
				return true
			}
		}
	}
	return false
}

// tag is what kafka-go has a field marked with for some versions.
type tag struct {
	first, last int16
	flexible    bool
}

// tagsOf reads the marks of a field: versions are divided by |.
func tagsOf(f reflect.StructField) (tags []tag) {
	for text := range strings.SplitSeq(f.Tag.Get("kafka"), "|") {
		t := tag{-1, -1, false}
		for word := range strings.SplitSeq(text, ",") {
			key, value, _ := strings.Cut(word, "=")
			n, _ := strconv.ParseInt(strings.TrimPrefix(value, "v"), 10, 16) // kafka-go panics at its start where it is none
			switch key {
			case "min":
				t.first = int16(n)
			case "max":
				t.last = int16(n)
			case "tag":
				t.flexible = true
			}
		}
		tags = append(tags, t)
	}
	return tags
}
