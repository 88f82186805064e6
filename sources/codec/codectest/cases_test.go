package codectest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/urlcore"
)

// start returns an instance that has seen the prologue, and a batch that is ready for it.
func start(t testing.TB, c *Case) (codec.Factory, codec.Codec, *pipeline.Batch) {
	t.Helper()
	f, err := c.New()
	if err != nil {
		t.Fatal(err)
	}
	k, b := f.New(), &pipeline.Batch{}
	k.Prepare(b)
	for _, line := range c.Prologue {
		if k.Decode(b, []byte(line)) {
			t.Fatalf("%q is a row", line)
		}
	}
	return f, k, b
}

// check checks that b has rows rows and every column fits them.
func check(t *testing.T, f codec.Factory, b *pipeline.Batch, rows int) {
	t.Helper()
	records, bases := 0, 0
	if f.KeepsRecords() {
		records = rows
	}
	if f.HasBase() {
		bases = rows
	}
	if b.URLs.Len() != rows || len(b.URLs.Valid) != rows || b.Bases.Len() != bases || b.Records.Len() != records || len(b.Carried) != len(f.Fields()) {
		t.Fatalf("%d rows: %d URLs, %d bases, %d records, %d columns", rows, b.URLs.Len(), b.Bases.Len(), b.Records.Len(), len(b.Carried))
	}
	for i := range b.Carried {
		v := &b.Carried[i]
		if n := v.Text.Len() + len(v.Ints) + len(v.Floats) + len(v.Bools); n != rows || len(v.Valid) != rows || v.Field != f.Fields()[i] {
			t.Fatalf("column %s: %d values, %d validities of %d", v.Field.Name, n, len(v.Valid), rows)
		}
		if !utf8.Valid(v.Text.Data) {
			t.Fatalf("column %s: %q", v.Field.Name, v.Text.Data)
		}
	}
	last := int32(-1)
	for _, fault := range b.Faults {
		if fault.Row <= last || int(fault.Row) >= rows || fault.Code == 0 || fault.Pos < -1 {
			t.Fatalf("faults %v", b.Faults)
		}
		last = fault.Row
	}
}

// TestRecords: what programs write gives URLs that are, without faults, and the columns that the case names.
func TestRecords(t *testing.T) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			f, k, b := start(t, &c)
			const n = 500
			referers := 0
			for i := range n {
				record := c.Record(i)
				if !k.Decode(b, record) {
					t.Fatalf("%q is no row", record)
				}
				if len(b.Faults) > 0 {
					t.Fatalf("%q: %v at %d", record, b.Faults[0].Code, b.Faults[0].Pos)
				}
				h, url := NewHit(i), string(b.URLs.At(i))
				want := h.Target()
				if c.NoTarget {
					want = h.Host + ":443"
				}
				if _, err := urlcore.Parse(url); err != nil || !strings.HasSuffix(url, want) {
					t.Fatalf("%q: %v, want the target %s", url, err, want)
				}
				if raw, ok := b.Raw(i); !ok || !bytes.Equal(raw, record) {
					t.Fatalf("record kept as %q", raw)
				}
				for j := range b.Carried {
					switch v := &b.Carried[j]; v.Field.Name {
					case c.Referer:
						if string(v.Text.At(i)) != h.Referer {
							t.Fatalf("referer %q, want %q", v.Text.At(i), h.Referer)
						}
						referers++
					case "status":
						if v.Ints[i] != int64(h.Status) {
							t.Fatalf("status %d, want %d", v.Ints[i], h.Status)
						}
					case "time":
						if got, want := v.Ints[i]/1e6, h.Time.Unix(); got != want {
							t.Fatalf("time %d, want %d", got, want)
						}
					}
				}
			}
			if c.Referer != "" && referers != n {
				t.Errorf("%d columns %s", referers, c.Referer)
			}
			k.DecodeNull(b)
			if fault := b.Faults[len(b.Faults)-1]; fault.Code != pipeline.FaultNull || fault.Row != n {
				t.Errorf("%+v", fault)
			}
			check(t, f, b, n+1)
		})
	}
}

// TestMalformed: a record that is not in the codec's format is a row all the same, with its bytes and what is wrong.
func TestMalformed(t *testing.T) {
	for _, c := range Cases() {
		if len(c.Malformed) == 0 && c.Name != "lines" {
			t.Errorf("%s: no malformed records", c.Name)
		}
		for record, want := range c.Malformed {
			f, k, b := start(t, &c)
			if !k.Decode(b, []byte(record)) {
				t.Errorf("%s: %q is no row", c.Name, record)
				continue
			}
			check(t, f, b, 1)
			got := "no fault"
			if len(b.Faults) > 0 {
				got = fmt.Sprint(b.Faults[0].Code, " ", b.Faults[0].Pos)
			}
			if raw, _ := b.Raw(0); got != want || string(raw) != record || b.URLs.Valid[0] {
				t.Errorf("%s: %q: %s, want %s; URL %q", c.Name, record, got, want, b.URLs.At(0))
			}
		}
	}
}

func TestAllocations(t *testing.T) {
	for _, c := range Cases() {
		_, k, b := start(t, &c)
		var records [][]byte
		for i := range 100 {
			records = append(records, c.Record(i))
		}
		run := func() {
			b.Reset()
			k.Prepare(b)
			for _, r := range records {
				k.Decode(b, r)
			}
		}
		run()
		if n := testing.AllocsPerRun(20, run); n != 0 {
			t.Errorf("%s: %v allocations for %d records", c.Name, n, len(records))
		}
	}
}

// FuzzCodecs gives every codec records of any kind.
func FuzzCodecs(f *testing.F) {
	cases := Cases()
	for i, c := range cases {
		f.Add(uint8(i), c.Record(i), c.Record(i+1))
		for record := range c.Malformed {
			f.Add(uint8(i), []byte(record), c.Record(0))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, first, second []byte) {
		c := &cases[int(which)%len(cases)]
		factory, k, b := start(t, c)
		rows := 0
		for _, record := range [][]byte{first, second, first} {
			if k.Decode(b, record) {
				rows++
			}
		}
		check(t, factory, b, rows)
	})
}
