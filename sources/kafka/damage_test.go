package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/kafka/internal/recordbatch"
)

// batches is a log of encoded batches that fetches are answered from, as a broker does that looks for offsets in
// their headers as they were before the damage.
type batches struct {
	bases []int64
	sets  [][]byte
	end   int64
	whole bool // answers hold all that is there, and not one batch
}

func (l *batches) fetch(offset int64, _ int) (fetched, error) {
	got := fetched{highWatermark: l.end, lastStable: l.end}
	i, found := slices.BinarySearch(l.bases, offset)
	if !found {
		i--
	}
	if offset >= l.end {
		return got, nil
	}
	if l.whole {
		got.set = bytes.Join(l.sets[i:], nil)
	} else {
		got.set = bytes.Clone(l.sets[i])
	}
	return got, nil
}

// threeBatches returns a log of three batches of three, to damage.
func threeBatches() *batches {
	return &batches{
		bases: []int64{0, 3, 6}, end: 9,
		sets: [][]byte{encodeBatch(0, 3, []byte("a")), encodeBatch(3, 3, []byte("b")), encodeBatch(6, 3, []byte("c"))},
	}
}

// readLane reads until the offset end, or an error.
func readLane(t *testing.T, l *lane, end int64) ([]row, error) {
	t.Helper()
	c := newCollector(t)
	b := &pipeline.Batch{MaxRows: 100, MaxBytes: 1 << 20}
	for at := int64(0); at < end; at = b.Next {
		if err := l.Next(context.Background(), b); err != nil {
			return c.rows, err
		}
		if b.First != at || b.Next <= at {
			t.Fatalf("a batch from %d to %d after offset %d", b.First, b.Next, at)
		}
		c.add(b)
	}
	return c.rows, nil
}

func TestDamageBecomesARow(t *testing.T) {
	damages := map[string]func([]byte) []byte{
		"checksum": func(e []byte) []byte { e[70] ^= 1; return e },
		"cut off":  func(e []byte) []byte { return e[:65] },
		"unknown codec": func(e []byte) []byte {
			e[22] |= 7
			return seal(e)
		},
		"no records in it": func(e []byte) []byte {
			return seal(append(e[:61], bytes.Repeat([]byte{0xff}, len(e)-61)...))
		},
	}
	for name, spoil := range damages {
		for i := range int64(3) {
			t.Run(fmt.Sprintf("%s in batch %d", name, i), func(t *testing.T) { checkDamagedRow(t, i, spoil, false) })
		}
		if name != "cut off" { // what comes behind that would be taken for its end
			t.Run(name+" in one answer with the others", func(t *testing.T) { checkDamagedRow(t, 1, spoil, true) })
		}
	}
}

// checkDamagedRow reads a log whose batch i is spoiled.
func checkDamagedRow(t *testing.T, i int64, spoil func([]byte) []byte, whole bool) {
	t.Parallel()
	log := threeBatches()
	log.whole = whole
	log.sets[i] = spoil(log.sets[i])
	rows, err := readLane(t, loneLane(t, Options{OnCorrupt: PolicyDeadLetter}, fetchFunc(log.fetch)), 9)
	if err != nil || len(rows) != 7 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	r := rows[3*i]
	if r.fault != "record-corrupt" || r.offset != 3*i || r.value != string(log.sets[i]) || r.key != "-" || r.headers != "" || r.time != 0 {
		t.Errorf("row %+v", r)
	}
	for j, r := range slices.Delete(rows, int(3*i), int(3*i)+1) {
		want := int64(j)
		if want >= 3*i {
			want += 3
		}
		if r.offset != want || r.fault != "" {
			t.Errorf("row %+v, want offset %d", r, want)
		}
	}
}

// TestDamageInTheMiddle: the records before the first bad one of a batch are rows.
func TestDamageInTheMiddle(t *testing.T) {
	log := threeBatches()
	e := log.sets[1]
	e[len(e)-8] = 0x7e // the length of the last record
	seal(e)
	l := loneLane(t, Options{OnCorrupt: PolicyDeadLetter}, fetchFunc(log.fetch))
	rows, err := readLane(t, l, 9)
	if err != nil || len(rows) != 9 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, r := range rows {
		if r.offset != int64(i) || (r.fault != "") != (i == 5) {
			t.Errorf("row %d: %+v", i, r)
		}
	}
}

func TestDamageOnTheWayHeals(t *testing.T) {
	for _, policy := range []string{PolicyStop, PolicyDeadLetter} {
		log := threeBatches()
		bad := bytes.Clone(log.sets[1])
		bad[70] ^= 1
		times := 0
		l := loneLane(t, Options{OnCorrupt: policy}, fetchFunc(func(offset int64, n int) (fetched, error) {
			got, err := log.fetch(offset, n)
			if offset == 3 && times < refetches {
				times++
				got.set = bad
			}
			return got, err
		}))
		rows, err := readLane(t, l, 9)
		if err != nil || len(rows) != 9 {
			t.Fatalf("%s: %d rows, %v", policy, len(rows), err)
		}
		for i, r := range rows {
			if r.offset != int64(i) || r.fault != "" {
				t.Errorf("%s: row %d: %+v", policy, i, r)
			}
		}
	}
}

func TestDamageWhoseEndNobodyKnows(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(*batches)
		err   error
	}{
		"the last offset":        {spoil: func(l *batches) { l.sets[1][24] ^= 1 }},
		"cut off in the header":  {spoil: func(l *batches) { l.sets[1] = l.sets[1][:40] }},
		"reported by the broker": {err: kafkago.InvalidMessage},
	} {
		t.Run(name, func(t *testing.T) {
			log := threeBatches()
			if test.spoil != nil {
				test.spoil(log)
			}
			l := loneLane(t, Options{OnCorrupt: PolicyDeadLetter}, fetchFunc(func(offset int64, n int) (fetched, error) {
				if offset == 3 && test.err != nil {
					return fetched{}, test.err
				}
				return log.fetch(offset, n)
			}))
			rows, err := readLane(t, l, 9)
			var corrupt *CorruptError
			if !errors.As(err, &corrupt) || corrupt.Offset != 3 || corrupt.Next != -1 || len(rows) != 3 {
				t.Errorf("%d rows, %v", len(rows), err)
			}
			expectError(t, err, "offset 3", "kafka-dump-log.sh", "--to-offset OFFSET")
		})
	}
}

func TestDamageIsCut(t *testing.T) {
	log := threeBatches()
	log.sets[1][70] ^= 1
	l := loneLane(t, Options{OnCorrupt: PolicyDeadLetter, MaxRecordBytes: 20}, fetchFunc(log.fetch))
	rows, err := readLane(t, l, 9)
	if err != nil || rows[3].value != string(log.sets[1][:20]) {
		t.Errorf("%v, row %+v", err, rows)
	}
}

// TestDamageKeepsRecords has a codec whose record is more than its URL.
func TestDamageKeepsRecords(t *testing.T) {
	log := threeBatches()
	log.sets[0][70] ^= 1
	l := loneLane(t, Options{OnCorrupt: PolicyDeadLetter}, fetchFunc(log.fetch))
	factory, err := codec.NewNDJSON(codec.NDJSONOptions{URL: "/url", Carry: []codec.CarriedField{{Name: "n", Pointer: "/n", Type: pipeline.Int64}}})
	if err != nil {
		t.Fatal(err)
	}
	l.codec = factory.New()
	b := &pipeline.Batch{MaxRows: 1, MaxBytes: 1 << 20}
	if err := l.Next(context.Background(), b); err != nil || b.Len() != 1 {
		t.Fatalf("%v, %d rows", err, b.Len())
	}
	raw, ok := b.Raw(0)
	if !ok || !bytes.Equal(raw, log.sets[0]) || b.URLs.Valid[0] || len(b.Faults) != 1 || b.Faults[0].Code != pipeline.FaultCorrupt || len(b.Carried[0].Valid) != 1 {
		t.Errorf("%d bytes, faults %v", len(raw), b.Faults)
	}
	if b.First != 0 || b.Next != 3 {
		t.Errorf("a batch from %d to %d", b.First, b.Next)
	}
}

// TestDamageThenDrain ends while a batch is fetched once more.
func TestDamageThenDrain(t *testing.T) {
	log := threeBatches()
	log.sets[0][70] ^= 1
	l := loneLane(t, Options{}, fetchFunc(log.fetch))
	l.g.end()
	b := &pipeline.Batch{MaxRows: 1, MaxBytes: 1 << 20}
	if err := l.Next(context.Background(), b); err == nil || errors.Is(err, recordbatch.ErrCorrupt) {
		t.Errorf("%v", err)
	}
}

// TestCountTooHigh: a batch whose header has more records than there are, while its last offset is there, is read whole, and
// counted as damage.
func TestCountTooHigh(t *testing.T) {
	for _, policy := range []string{PolicyStop, PolicyDeadLetter} {
		t.Run(policy, func(t *testing.T) {
			log := threeBatches()
			log.sets[1][60] = 5 // the count
			seal(log.sets[1])
			l := loneLane(t, Options{OnCorrupt: policy}, fetchFunc(log.fetch))
			rows, err := readLane(t, l, 9)
			if err != nil || len(rows) != 9 || l.g.source.unreadable.Load() != 1 {
				t.Errorf("%d rows, %v; %d parts are counted", len(rows), err, l.g.source.unreadable.Load())
			}
		})
	}
}
