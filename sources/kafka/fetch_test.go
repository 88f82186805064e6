package kafka

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
)

// claiming is a connection to a broker whose answer claims another length than it has.
type claiming struct {
	io.Reader
	io.Writer
}

// TestClaimedAnswer: memory is allocated for what comes and for what was asked for, and not for what an answer claims.
func TestClaimedAnswer(t *testing.T) {
	for _, sent := range []int{0, 100, 3 << 20} {
		head := binary.BigEndian.AppendUint32(nil, maxResponseBytes)
		alloctest.Bound(t, sent, 4, 2<<20, func() {
			conn := claiming{io.MultiReader(bytes.NewReader(head), io.LimitReader(zeros{}, int64(sent))), io.Discard}
			if _, err := exchange(conn, nil, nil, 1<<20); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%d bytes: %v", sent, err)
			}
		})
	}
	// What comes is read, in whatever buffer, and takes no more than it has, but for the eighth within what was asked for.
	for _, n := range []int{0, 1, unasked, unasked + 1, 10 * unasked, 10*unasked + 7} {
		want := make([]byte, n)
		for i := range want {
			want[i] = byte(i ^ i>>8)
		}
		for _, asked := range []int{0, n} {
			for _, buf := range [][]byte{nil, make([]byte, 100), make([]byte, 20*unasked)} {
				conn := claiming{bytes.NewReader(append(binary.BigEndian.AppendUint32(nil, uint32(n)), want...)), io.Discard}
				got, err := exchange(conn, nil, buf, asked)
				if err != nil || !bytes.Equal(got, want) || cap(got) > max(n, min(n+n/8, asked+unasked), cap(buf)) {
					t.Errorf("%d bytes of %d: %d with room for %d, %v", n, asked, len(got), cap(got), err)
				}
			}
		}
	}
}

// zeros are bytes without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
