package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
	"github.com/urlmill/urlmill/sinks/database"
)

// server is what a server sends, whatever it is sent.
type server struct{ *bytes.Reader }

func (server) Write(p []byte) (int, error)      { return len(p), nil }
func (server) Close() error                     { return nil }
func (server) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (server) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (server) SetDeadline(time.Time) error      { return nil }
func (server) SetReadDeadline(time.Time) error  { return nil }
func (server) SetWriteDeadline(time.Time) error { return nil }

// session is what a server sends to somebody who logs in and asks for lanes.
func session(f *testing.F) (b []byte) {
	column := func(name string, oid uint32) pgproto3.FieldDescription {
		return pgproto3.FieldDescription{Name: []byte(name), DataTypeOID: oid, DataTypeSize: -1, TypeModifier: -1}
	}
	fields := []pgproto3.FieldDescription{column("stream", pgtype.TextOID), column("session", pgtype.TextOID), column("partition", pgtype.Int4OID)}
	ready := &pgproto3.ReadyForQuery{TxStatus: 'I'}
	for _, m := range []pgproto3.BackendMessage{
		&pgproto3.AuthenticationOk{}, &pgproto3.ParameterStatus{Name: "server_version", Value: "17.0"},
		&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{0, 0, 0, 1}}, ready,
		&pgproto3.ParseComplete{}, &pgproto3.ParameterDescription{ParameterOIDs: []uint32{pgtype.TextOID}}, &pgproto3.RowDescription{Fields: fields}, ready,
		&pgproto3.BindComplete{}, &pgproto3.RowDescription{Fields: fields},
		&pgproto3.DataRow{Values: [][]byte{[]byte("clicks"), []byte("s"), {0, 0, 0, 3}}}, &pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")}, ready,
	} {
		var err error
		if b, err = m.Encode(b); err != nil {
			f.Fatal(err)
		}
	}
	return b
}

// FuzzAnswers logs in to a server that sends anything, and asks for lanes and a position. A message that claims to be much
// longer than all that there is is left out: the driver makes room for it before it comes.
func FuzzAnswers(f *testing.F) {
	good := session(f)
	f.Add(good)
	f.Add(good[:len(good)/2])
	refused, err := (&pgproto3.ErrorResponse{Severity: "FATAL", Code: "57P03", Message: "the database system is starting up"}).Encode(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(refused)
	f.Add([]byte("R\x00\x00\x00\x17\x00\x00\x00\x0aSCRAM-SHA-256\x00\x00"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		for at := 0; at+5 <= len(sent); {
			n := int64(binary.BigEndian.Uint32(sent[at+1:]))
			if n > int64(len(sent)+1<<20) {
				return
			}
			at += 1 + int(max(4, n))
		}
		d := New(Options{URL: "postgres://u:p@postgres.example/d?sslmode=disable"})
		d.places, d.key = `"urlmill_positions"`, "rows"
		c, err := d.opts.config()
		if err != nil {
			t.Fatal(err)
		}
		c.MaxConns = 1
		c.ConnConfig.LookupFunc = func(context.Context, string) ([]string, error) { return []string{"127.0.0.1"}, nil }
		c.ConnConfig.DialFunc = func(context.Context, string, string) (net.Conn, error) { return server{bytes.NewReader(sent)}, nil }
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		alloctest.Bound(t, len(sent), 1<<10, 16<<20, func() {
			if d.pool, err = pgxpool.NewWithConfig(ctx, c); err != nil {
				t.Fatal(err)
			}
			defer d.pool.Close()
			if lanes, err := d.Lanes(ctx); err == nil && len(lanes) > len(sent) {
				t.Fatalf("%d lanes of %d bytes", len(lanes), len(sent))
			}
			_, _, _ = d.Position(ctx, database.Lane{Stream: "clicks"})
		})
	})
}
