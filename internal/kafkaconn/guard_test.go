package kafkaconn

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/heartbeat"
	"github.com/segmentio/kafka-go/protocol/saslauthenticate"
	"github.com/segmentio/kafka-go/protocol/saslhandshake"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
)

// hostile is a broker on this machine that answers each request, or token without a header, with what answer returns.
func hostile(t *testing.T, answer func(request []byte) []byte) (address string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close() // the client has gone
				for {
					var size [4]byte
					if _, err := io.ReadFull(c, size[:]); err != nil {
						return
					}
					request := make([]byte, binary.BigEndian.Uint32(size[:]))
					if _, err := io.ReadFull(c, request); err != nil {
						return
					}
					if _, err := c.Write(answer(request)); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

// framed returns the answer to a request with its header.
func framed(request []byte, body ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)+4))
	return append(append(b, request[4:8]...), body...)
}

// versionsUpTo returns an answer to the question for versions, by which every request may have that one.
func versionsUpTo(newest uint16) []byte {
	b := binary.BigEndian.AppendUint32([]byte{0, 0}, 40)
	for key := range uint16(40) {
		b = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, key), 0), newest)
	}
	return b
}

func keyOf(request []byte) protocol.ApiKey { return protocol.ApiKey(binary.BigEndian.Uint16(request)) }

// TestClaims: a broker whose answers claim 2^31-1 entries, or bytes, gives an error. Versions of 1 and 8 have lengths of two kinds.
func TestClaims(t *testing.T) {
	most := []byte{0x7f, 0xff, 0xff, 0xff}
	for name, test := range map[string]struct {
		versions uint16
		answer   func(request []byte) []byte
		want     string
	}{
		"metadata 1":       {1, func(r []byte) []byte { return framed(r, slices.Concat(most, make([]byte, 64))...) }, "claims more than its 68 bytes"},
		"metadata 8":       {8, func(r []byte) []byte { return framed(r, slices.Concat(make([]byte, 4), most, make([]byte, 64))...) }, "claims more than its 72 bytes"},
		"a frame":          {8, func(r []byte) []byte { return append(slices.Concat(most, r[4:8]), 0) }, "claims 2147483647 bytes, at most"},
		"a negative frame": {8, func(r []byte) []byte { return append([]byte{0xff, 0, 0, 0}, r[4:8]...) }, "claims -16777216 bytes"},
		"another request":  {8, func([]byte) []byte { return framed(make([]byte, 8), 0) }, "answers a request that was not made"},
	} {
		address := hostile(t, func(r []byte) []byte {
			if keyOf(r) == protocol.ApiVersions {
				return framed(r, versionsUpTo(test.versions)...)
			}
			return test.answer(r)
		})
		d, err := NewDialer(Cluster{Brokers: []string{address}, DialTimeout: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		none := func(kafkago.Error) string { return "" }
		if _, _, err := d.Describe(t.Context(), none, "t"); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
		d.Close()
	}
}

// TestClaimedVersions: the versions that a broker knows are claimed to be 2^31-1, or fewer than none, to the client and to the
// questions about a listener.
func TestClaimedVersions(t *testing.T) {
	for _, count := range []uint32{math.MaxInt32, 1 << 31, math.MaxUint32} {
		address := hostile(t, func(r []byte) []byte {
			return framed(r, append(binary.BigEndian.AppendUint32([]byte{0, 0}, count), 0, 1, 0, 0, 0, 9)...)
		})
		d, err := NewDialer(Cluster{Brokers: []string{address}, DialTimeout: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := d.Describe(t.Context(), func(kafkago.Error) string { return "" }, "t"); err == nil {
			t.Errorf("%d versions are taken", int32(count))
		}
		if speaksKafka(t.Context(), address) {
			t.Errorf("%d versions are an answer", int32(count))
		}
		d.Close()
	}
}

// TestTokens: tokens of the old kind of login have no header, and their answers none; a length that is none is an error.
func TestTokens(t *testing.T) {
	for _, test := range []struct {
		answer []byte
		want   string // "" for none
	}{
		{[]byte{0, 0, 0, 0}, ""},
		{[]byte{0, 0, 0, 2, 'o', 'k'}, ""},
		{[]byte{0xff, 0xff, 0xff, 0xff}, "claims -1 bytes"},
		{[]byte{0x7f, 0, 0, 0}, "claims 2130706432 bytes"},
	} {
		address := hostile(t, func(r []byte) []byte {
			switch {
			case bytes.HasPrefix(r, []byte("\x00u")):
				return test.answer
			case keyOf(r) == protocol.SaslHandshake:
				return framed(r, 0, 0, 0, 0, 0, 0)
			}
			return framed(r, 0, 0)
		})
		raw, err := probe(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		c := guard(raw)
		if _, err := protocol.RoundTrip(c, 0, 1, "me", &saslhandshake.Request{Mechanism: "PLAIN"}); err != nil {
			t.Fatal(err)
		}
		for _, token := range []string{"\x00u\x00p", "\x00u\x00a longer one"} {
			_, err = new(saslauthenticate.Request{AuthBytes: []byte(token)}).RawExchange(c)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%q: %v", test.answer, err)
			}
		}
		if test.want == "" {
			if _, err := protocol.RoundTrip(c, 0, 2, "me", &heartbeat.Request{}); err != nil {
				t.Errorf("after a login: %v", err)
			}
		}
		_ = c.Close() // it has served
	}
}

// pieces is a connection that takes and gives a byte at a time.
type pieces struct {
	net.Conn
	io.Reader
}

func (p pieces) Read(b []byte) (int, error) { return p.Reader.Read(b[:min(1, len(b))]) }
func (pieces) Write(b []byte) (int, error)  { return len(b), nil }

// TestPieces: requests and answers that come in pieces, two at a time, one of them a fetch, which passes as it is.
func TestPieces(t *testing.T) {
	fetch := []byte{0, 0, 0, 10, 0, 1, 0, 4, 0, 0, 0, 7, 0, 0}
	var beat bytes.Buffer
	if err := protocol.WriteRequest(&beat, 0, 8, "me", &heartbeat.Request{GroupID: "g"}); err != nil {
		t.Fatal(err)
	}
	answers := slices.Concat(framed([]byte{0, 12, 0, 0, 0, 0, 0, 8}, 0, 25), framed([]byte{0, 1, 0, 4, 0, 0, 0, 7}, 0x7f, 0xff, 0xff, 0xff))
	c := guard(pieces{Reader: bytes.NewReader(answers)})
	for _, b := range slices.Concat(fetch, beat.Bytes()) {
		if _, err := c.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := io.ReadAll(c); !bytes.Equal(got, answers) || err != nil {
		t.Errorf("%x, %v; want %x", got, err, answers)
	}
	c = guard(pieces{Reader: bytes.NewReader(answers[:9])})
	c.note(beat.Bytes())
	if _, err := io.ReadAll(c); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an answer that ends early: %v", err)
	}
}

// fill gives every text and list of v something.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("text")
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(1))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	}
}

// TestLayouts: the answers that kafka-go writes are good in every version, and those that lack their end are not.
func TestLayouts(t *testing.T) {
	for key, typ := range answers {
		for version := key.MinVersion(); version <= key.MaxVersion(); version++ {
			q := question{key, version}
			v := reflect.New(typ)
			fill(v.Elem())
			var out bytes.Buffer
			if err := protocol.WriteResponse(&out, version, 1, v.Interface().(protocol.Message)); err != nil {
				t.Fatal(err)
			}
			body := out.Bytes()[8:]
			if key == protocol.SyncGroup && version == 0 {
				body = []byte("\x00\x00\x00\x00\x00\x11\x00\x00\x00\x00\x00\x01\x00\x01t\x00\x00\x00\x01\x00\x00\x00\x07")
				if err := q.check([]byte("\x00\x00\x00\x00\x00\x06\x00\x00\x7f\xff\xff\xff")); err == nil {
					t.Error("2^31-1 topics in an assignment are taken")
				}
				body = append(body, "\xff\xff\xff\xff"...)
				body[5] += 4
			}
			if err := q.check(body); err != nil {
				t.Errorf("%s: %v", q, err)
			}
			for n := range body {
				if q.check(body[:n]) == nil {
					t.Errorf("%s: %d of %d bytes are taken", q, n, len(body))
				}
			}
		}
	}
}

// FuzzAnswers has kafka-go decode the answers that are let through: what it allocates is bounded by their length.
func FuzzAnswers(f *testing.F) {
	for key, typ := range answers {
		v := reflect.New(typ)
		fill(v.Elem())
		for _, version := range []int16{key.MinVersion(), key.MaxVersion()} {
			var out bytes.Buffer
			if err := protocol.WriteResponse(&out, version, 1, v.Interface().(protocol.Message)); err != nil {
				f.Fatal(err)
			}
			f.Add(int16(key), version, out.Bytes()[8:])
		}
	}
	f.Add(int16(protocol.Metadata), int16(8), []byte("\x00\x00\x00\x00\x7f\xff\xff\xff"))
	f.Add(int16(protocol.ApiVersions), int16(0), []byte("\x00\x00\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, key, version int16, body []byte) {
		q := question{protocol.ApiKey(key), version}
		if _, known := answers[q.key]; !known || version < q.key.MinVersion() || version > q.key.MaxVersion() {
			return
		}
		alloctest.Bound(t, len(body), 64, 1<<20, func() {
			if q.check(body) == nil {
				_, _, _ = protocol.ReadResponse(bytes.NewReader(framed(make([]byte, 8), body...)), q.key, version)
			}
		})
	})
}
