package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
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

// TestEndlessAnswer: a server whose answer does not end is left.
func TestEndlessAnswer(t *testing.T) {
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
			go func() { answerForEver(c); _ = c.Close() }()
		}
	}()
	o := Options{URL: config.Secret("postgres://u@" + l.Addr().String() + "/d?sslmode=disable")}
	c, err := o.config()
	if err != nil {
		t.Fatal(err)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	alloctest.Bound(t, 0, 0, 512<<20, func() {
		if lanes, err := (&Driver{pool: pool, places: "x"}).Lanes(t.Context()); !errors.Is(err, errTooMany) {
			t.Errorf("%d lanes: %v", len(lanes), err)
		}
	})
}

// answerForEver is a server that answers each query with lanes without end.
func answerForEver(c net.Conn) {
	b := pgproto3.NewBackend(c, c)
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	for b.Flush() == nil {
		m, err := b.Receive()
		if err != nil {
			return
		}
		switch m.(type) {
		case *pgproto3.Parse:
			b.Send(&pgproto3.ParseComplete{})
		case *pgproto3.Describe:
			b.Send(&pgproto3.ParameterDescription{ParameterOIDs: []uint32{pgtype.TextOID}})
			b.Send(&pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{
				{Name: []byte("stream"), DataTypeOID: pgtype.TextOID, DataTypeSize: -1, TypeModifier: -1},
				{Name: []byte("session"), DataTypeOID: pgtype.TextOID, DataTypeSize: -1, TypeModifier: -1},
				{Name: []byte("partition"), DataTypeOID: pgtype.Int4OID, DataTypeSize: 4, TypeModifier: -1, Format: 1},
			}})
		case *pgproto3.Sync:
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		case *pgproto3.Execute:
			b.Send(&pgproto3.BindComplete{})
			row := &pgproto3.DataRow{Values: [][]byte{[]byte("s"), []byte("x"), {0, 0, 0, 1}}}
			for b.Flush() == nil {
				for range 1000 {
					b.Send(row)
				}
			}
			return
		}
	}
}
