package wire

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/parquet"
	"github.com/urlmill/urlmill/sources"
	"github.com/urlmill/urlmill/sources/codec"
)

// waiting is a codec of lines that needs something for each record, which is not to be had while err is set.
type waiting struct {
	codec.Factory
	codec.Codec
	err *error
}

func (w waiting) New() codec.Codec { return waiting{Codec: w.Factory.New(), err: w.err} }

func (w waiting) Resolved([]byte) bool { return false }

func (w waiting) Resolve(context.Context, []byte) error { return *w.err }

// TestLetters reads a file of dead letters of every kind, first while their codec cannot get what it needs.
func TestLetters(t *testing.T) {
	type letter struct {
		File   string  `parquet:"file"`
		Record int64   `parquet:"record"`
		Why    *string `parquet:"url_error,optional"`
		Raw    []byte  `parquet:"raw,optional"`
	}
	why := func(code string) *string { return &code }
	rows := []letter{
		{"a", 1, why("record-corrupt"), []byte("https://e.com/no-record")},
		{"a", 2, why("record-too-large"), []byte("https://e.com/cu")},
		{"a", 7, why("record-null"), nil},
		{"a", 8, why("host-missing"), []byte("https://e.com/a")},
		{"b", 0, nil, []byte("https://e.com/b")},
	}
	var file bytes.Buffer
	if err := pq.Write(&file, rows, pq.KeyValueMetadata(parquet.KeyTable, "dead_letters"), pq.KeyValueMetadata(parquet.KeyReplay, "v1 a")); err != nil {
		t.Fatal(err)
	}
	none := errors.New("not to be had")
	for _, from := range []int64{0, 2, 3, 4, 5} {
		gone := none
		f := letterFactory{waiting{Factory: codec.NewLines(codec.LinesOptions{}), err: &gone}, sources.Files, "v1 b", slog.New(slog.DiscardHandler)}
		table, err := f.OpenTable(bytes.NewReader(file.Bytes()), int64(file.Len()), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if err := table.Skip(from); err != nil {
			t.Fatal(err)
		}
		var got []string
		next := from
		for range 4 {
			b := &pipeline.Batch{MaxRows: 100, MaxBytes: 1 << 20}
			next, err = table.Append(t.Context(), b, next)
			for i, at := range b.Offsets {
				raw, _ := b.Raw(i)
				lane, origins := b.From()
				code := "-"
				for _, f := range b.Faults {
					if int(f.Row) == i {
						code = f.Code.String()
					}
				}
				if origins[i] != rows[at].Record {
					t.Errorf("row %d has the origin %d", at, origins[i])
				}
				got = append(got, lane.Stream+" "+code+" "+string(raw))
			}
			var unresolved *codec.UnresolvedError
			if err != nil && (next > 4 || !errors.As(err, &unresolved) || !errors.Is(err, none)) {
				t.Fatalf("row %d: %v", next, err)
			}
			if err != nil {
				gone = nil // the next call goes on at the same row
			}
		}
		want := []string{
			"a record-corrupt https://e.com/no-record", "a record-too-large https://e.com/cu", "a record-null ", "a - https://e.com/a", "b - https://e.com/b",
		}[from:]
		if strings.Join(got, "\n") != strings.Join(want, "\n") || next != 5 {
			t.Errorf("from %d to %d: %q", from, next, got)
		}
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	}
	own := letterFactory{codec.NewLines(codec.LinesOptions{}), sources.Files, "v1 a", slog.New(slog.DiscardHandler)}
	table, err := own.OpenTable(bytes.NewReader(file.Bytes()), int64(file.Len()), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if next, err := table.Append(t.Context(), &pipeline.Batch{MaxRows: 100, MaxBytes: 1 << 20}, 0); next != 0 || err != nil {
		t.Errorf("of its own: %d, %v", next, err)
	}
	if _, err := (letterFactory{own.Factory, sources.Topics, "", own.log}).OpenTable(bytes.NewReader(file.Bytes()), int64(file.Len()), 1<<20); err == nil {
		t.Error("dead letters of files are taken for those of a topic")
	}
}
