package recordbatch

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// txnBatch returns a batch of n records that producer writes in a transaction; each value names its offset.
func txnBatch(tb testing.TB, base, producer int64, n int) []byte {
	spec := batchSpec{base: base, attributes: isTransactional}
	for i := range int32(n) {
		spec.records = append(spec.records, recordAt(i, nil, fmt.Append(nil, base+int64(i))))
	}
	return ofProducer(spec.encode(tb), producer)
}

// marker returns the batch that ends a transaction: kind 0 aborts and 1 commits it.
func marker(tb testing.TB, base, producer int64, kind byte) []byte {
	e := batchSpec{
		base: base, attributes: isTransactional | isControl,
		records: []kmsg.Record{recordAt(0, []byte{0, 0, 0, kind}, make([]byte, 6))},
	}.encode(tb)
	return ofProducer(e, producer)
}

func ofProducer(e []byte, producer int64) []byte {
	binary.BigEndian.PutUint64(e[producerAt:], uint64(producer))
	sign(e)
	return e
}

func abortedList(txns ...aborted) []byte {
	var list []byte
	for _, t := range txns {
		list = binary.BigEndian.AppendUint64(list, uint64(t.producer))
		list = binary.BigEndian.AppendUint64(list, uint64(t.first))
	}
	return list
}

// offsets reads what is committed of a set.
func offsets(t *testing.T, r *Reader) []int64 {
	t.Helper()
	all, err := readAll(r)
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	for _, s := range all {
		got = append(got, s.Offset)
	}
	return got
}

func TestAbortedTransactions(t *testing.T) {
	const a, b = 7, 8
	plain := batchSpec{base: 4, records: []kmsg.Record{recordAt(0, nil, nil)}}.encode(t)
	set := slices.Concat(
		txnBatch(t, 0, a, 2),   // aborted
		txnBatch(t, 2, b, 2),   // committed
		plain,                  // in no transaction
		txnBatch(t, 5, a, 1),   // aborted
		marker(t, 6, a, 0),     //
		txnBatch(t, 7, a, 1),   // the same producer's next one: committed
		marker(t, 8, b, 1),     //
		marker(t, 9, a, 1),     //
		txnBatch(t, 10, b, 1),  // aborted
		txnBatch(t, 11, a, 1),  // aborted, and ends first
		marker(t, 12, a, 0),    //
		marker(t, 13, b, 0),    //
		txnBatch(t, 14, 99, 1), // committed, its marker is in another answer
	)
	list := abortedList(aborted{a, 0}, aborted{a, 11}, aborted{b, 10})
	r := &Reader{}
	for from, want := range map[int64][]int64{
		0: {2, 3, 4, 7, 14},
		3: {3, 4, 7, 14},
		6: {7, 14},
	} {
		r.ResetCommitted(set, list, from)
		if diff := cmp.Diff(want, offsets(t, r)); diff != "" {
			t.Errorf("from %d: %s", from, diff)
		}
		if r.Position() != 15 {
			t.Errorf("from %d: ends at %d", from, r.Position())
		}
	}
	r.Reset(set, 0) // uncommitted
	if diff := cmp.Diff([]int64{0, 1, 2, 3, 4, 5, 7, 10, 11, 14}, offsets(t, r)); diff != "" {
		t.Error(diff)
	}
}

// TestAbortBeforeTheAnswer has a transaction that began, or even ended in part, before what was fetched.
func TestAbortBeforeTheAnswer(t *testing.T) {
	set := slices.Concat(txnBatch(t, 100, 1, 2), marker(t, 102, 1, 0), txnBatch(t, 103, 1, 1))
	r := &Reader{}
	r.ResetCommitted(set, abortedList(aborted{1, 3}), 100)
	if diff := cmp.Diff([]int64{103}, offsets(t, r)); diff != "" {
		t.Error(diff)
	}
}

// TestMarkersOfOtherKinds: a control record that is no end of a transaction ends none.
func TestMarkersOfOtherKinds(t *testing.T) {
	short := batchSpec{base: 2, attributes: isControl, records: []kmsg.Record{recordAt(0, []byte{0, 0}, nil)}}.encode(t)
	empty := batchSpec{base: 3, lastDelta: 1, attributes: isControl}.encode(t)
	set := slices.Concat(txnBatch(t, 0, 1, 1), marker(t, 1, 1, 2), ofProducer(short, 1), ofProducer(empty, 1), txnBatch(t, 5, 1, 1))
	r := &Reader{}
	r.ResetCommitted(set, abortedList(aborted{1, 0}), 0)
	if got := offsets(t, r); len(got) != 0 {
		t.Errorf("read %v", got)
	}
}

// randomLog is a log that several producers have written.
type randomLog struct {
	entries [][]byte
	bases   []int64 // of the entries
	next    int64
	ended   []endedTransaction // that were aborted
	stable  int64              // up to here everything is decided
	want    []int64            // offsets of the records before that are committed
}

type endedTransaction struct {
	aborted
	last int64
}

func newRandomLog(t *testing.T, rnd *rand.Rand) *randomLog {
	t.Helper()
	l := &randomLog{}
	open := map[int64]int64{} // first offset by producer
	written := map[int64][]int64{}
	for range 60 {
		p := int64(rnd.IntN(4))
		switch first, isOpen := open[p]; {
		case !isOpen || rnd.IntN(3) > 0:
			if !isOpen {
				open[p] = l.next
			}
			n := 1 + rnd.IntN(3)
			for i := range n {
				written[p] = append(written[p], l.next+int64(i))
			}
			l.add(txnBatch(t, l.next, p, n), n)
		case rnd.IntN(2) == 0:
			l.ended = append(l.ended, endedTransaction{aborted{p, first}, l.next})
			l.add(marker(t, l.next, p, 0), 1)
			delete(open, p)
			written[p] = nil
		default:
			l.want = append(l.want, written[p]...)
			l.add(marker(t, l.next, p, 1), 1)
			delete(open, p)
			written[p] = nil
		}
	}
	l.stable = l.next
	for _, first := range open {
		l.stable = min(l.stable, first)
	}
	slices.Sort(l.want)
	for len(l.want) > 0 && l.want[len(l.want)-1] >= l.stable {
		l.want = l.want[:len(l.want)-1]
	}
	return l
}

func (l *randomLog) add(e []byte, n int) {
	l.entries, l.bases = append(l.entries, e), append(l.bases, l.next)
	l.next += int64(n)
}

// answer returns some entries from the one that holds an offset on, where they end, and the aborted transactions that overlap them.
func (l *randomLog) answer(rnd *rand.Rand, from int64) (set []byte, end int64, overlapping []aborted) {
	i, found := slices.BinarySearch(l.bases, from)
	if !found {
		i--
	}
	end = from
	for n := 1 + rnd.IntN(5); n > 0 && i < len(l.entries) && l.bases[i] < l.stable; n-- {
		set = append(set, l.entries[i]...)
		i++
		end = l.stable
		if i < len(l.bases) {
			end = min(end, l.bases[i])
		}
	}
	for _, e := range l.ended {
		if e.last >= from && e.first < end {
			overlapping = append(overlapping, e.aborted)
		}
	}
	return set, end, overlapping
}

// TestRandomTransactions reads a log of several producers in answers that begin and end anywhere.
func TestRandomTransactions(t *testing.T) {
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		log := newRandomLog(t, rnd)
		r := &Reader{}
		var got []int64
		for from := int64(0); from < log.stable; {
			set, end, overlapping := log.answer(rnd, from)
			r.ResetCommitted(set, abortedList(overlapping...), from)
			got = append(got, offsets(t, r)...)
			if r.Position() != end {
				t.Fatalf("seed %d: at %d after an answer to %d", seed, r.Position(), end)
			}
			from = end
		}
		if diff := cmp.Diff(log.want, got); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

func TestCommittedAllocates(t *testing.T) {
	set := slices.Concat(txnBatch(t, 0, 1, 50), txnBatch(t, 50, 2, 50), marker(t, 100, 1, 0), marker(t, 101, 2, 1))
	list := abortedList(aborted{1, 0})
	r := &Reader{}
	var rec Record
	n := testing.AllocsPerRun(100, func() {
		r.ResetCommitted(set, list, 0)
		for {
			ok, err := r.Next(&rec)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				return
			}
		}
	})
	if n != 0 || rec.Offset != 99 {
		t.Errorf("%v allocations, last offset %d", n, rec.Offset)
	}
}
