package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/dev/alloctest"
)

// TestLongMessage: a server that claims a message of a gigabyte is not believed.
func TestLongMessage(t *testing.T) {
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
			// The login is accepted by a message that claims to go on.
			_, _ = c.Write(append(binary.BigEndian.AppendUint32([]byte{'R'}, 1<<30), 0, 0, 0, 0))
			_, _ = io.Copy(io.Discard, c) // until the client has gone
			_ = c.Close()
		}
	}()
	o := Options{URL: config.Secret("postgres://u@" + l.Addr().String() + "/d?sslmode=disable")}
	c, err := o.config()
	if err != nil {
		t.Fatal(err)
	}
	alloctest.Bound(t, 0, 0, 64<<20, func() {
		pool, err := pgxpool.NewWithConfig(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		if err := pool.Ping(t.Context()); err == nil || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "body") {
			t.Error(err)
		}
	})
}
