package recordbatch

import (
	"encoding/binary"
	"hash/crc32"
)

// Places within a message of the formats v0 and v1.
const (
	oldAttributesAt = 17
	oldTimeAt       = 18 // v1 only
	oldNull         = -1
)

// messages is what is left to read of the messages that a compressed message holds.
type messages struct {
	rest    []byte
	shift   int64 // what their offsets lack
	brokers bool  // time is the timestamp of every message
	time    int64
}

// message is one message of the formats v0 and v1.
type message struct {
	attributes byte
	record     Record
}

// parseMessage checks and takes apart the whole entry e.
func parseMessage(e []byte, offset int64) (message, error) {
	want := binary.BigEndian.Uint32(e[crcAtOld:])
	if got := crc32.ChecksumIEEE(e[magicAt:]); got != want {
		return message{}, corrupt(offset, "CRC-32 is %08x and should be %08x", got, want)
	}
	m := message{record: Record{Offset: offset, Timestamp: -1}}
	keyAt := oldTimeAt
	if e[magicAt] == 1 {
		keyAt = oldTimeAt + 8
	}
	if len(e) < keyAt {
		return message{}, corrupt(offset, "a message of %d bytes", len(e))
	}
	m.attributes = e[oldAttributesAt]
	if e[magicAt] == 1 {
		m.record.Timestamp = int64(binary.BigEndian.Uint64(e[oldTimeAt:]))
	}
	key, rest, ok1 := oldBytes(e[keyAt:])
	value, rest, ok2 := oldBytes(rest)
	if !ok1 || !ok2 || len(rest) != 0 {
		return message{}, corrupt(offset, "the message's fields do not fill its length")
	}
	m.record.Key, m.record.Value = key, value
	return m, nil
}

// oldBytes takes a byte string with its 32-bit length before it off b.
func oldBytes(b []byte) (v, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := int32(binary.BigEndian.Uint32(b))
	b = b[4:]
	if n == oldNull {
		return nil, b, true
	}
	if n < 0 || int(n) > len(b) {
		return nil, nil, false
	}
	return b[:n:n], b[n:], true
}

// isRecord reports whether the entry e is a message of the old formats that holds no others, and so a record itself.
func isRecord(e []byte) bool {
	return e[magicAt] < 2 && (len(e) <= oldAttributesAt || e[oldAttributesAt]&codecMask == 0)
}

// openMessage reads the message e of offset last: either its record is in rec, or the messages that it holds
// compressed are to be read.
func (r *Reader) openMessage(e []byte, last int64, rec *Record) (isRecord bool, err error) {
	m, err := parseMessage(e, last)
	if err != nil {
		return false, err
	}
	r.sound = true
	codec := uint16(m.attributes & codecMask)
	if codec == 0 {
		*rec = m.record
		return true, nil
	}
	inner, err := r.decompress(codec, m.record.Value, last)
	if err != nil {
		return false, err
	}
	r.inner = messages{rest: inner, brokers: m.attributes&appendTime != 0, time: m.record.Timestamp}
	if e[magicAt] == 1 {
		// The offsets inside count from the first message; the one outside is that of the last.
		_, next, err := Whole(inner)
		if err != nil {
			return false, err
		}
		r.inner.shift = last - (next - 1)
	}
	return false, nil
}

// next takes the next message off what a compressed message held.
func (m *messages) next(rec *Record) error {
	e, offset, err := entry(m.rest)
	if err != nil {
		return err
	}
	offset += m.shift
	if e == nil || e[magicAt] > 1 {
		return corrupt(offset, "a compressed message that holds no whole message")
	}
	msg, err := parseMessage(e, offset)
	if err != nil {
		return err
	}
	if msg.attributes&codecMask != 0 {
		return corrupt(offset, "a compressed message within a compressed message")
	}
	*rec = msg.record
	if m.brokers {
		rec.Timestamp = m.time
	}
	m.rest = m.rest[len(e):]
	return nil
}
