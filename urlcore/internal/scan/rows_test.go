package scan

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomParts makes a row whose parts are anywhere: mostly near each other in the input or all in the side buffer, as
// those of URLs, and seldom long.
func randomParts(r *rand.Rand, size int) Parts {
	var p Parts
	side := uint32(r.IntN(4)/3) * Side
	end := uint32(0)
	for i, s := range []*Span{&p.Scheme, &p.Host, &p.Origin, &p.Path} {
		length := r.IntN([]int{7, 40, 50, 150}[i])
		if r.IntN(20) == 0 {
			length = r.IntN(size - Slack + 1)
		}
		start := uint32(r.IntN(size - Slack - length + 1))
		bit := side
		if r.IntN(20) == 0 {
			bit ^= Side
		}
		*s = Span{bit | start, bit | start + uint32(length)}
		if i == 1 {
			end = uint32(length)
		}
	}
	p.Domain = p.Host.Start + uint32(r.IntN(int(end)+1))
	p.Suffix = p.Host.Start + uint32(r.IntN(int(end)+1))
	if r.IntN(30) == 0 {
		return Parts{}
	}
	return p
}

// Both texts and the columns end right before a guard page, but for the slack. What is not wanted stays empty, and may
// share memory.
func TestGatherRows(t *testing.T) {
	const size, most = 600, 40
	eachVariant(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(8, 8))
		input, _ := guarded(t, size)
		side, _ := guarded(t, size)
		for i := range input {
			input[i], side[i] = byte(r.IntN(256)), byte(r.IntN(256))
		}
		var memory [RowColumns][]byte
		for i := range memory {
			memory[i], _ = guarded(t, 1<<16)
		}
		unwanted, _ := guarded(t, Slack)
		for round := range 4000 {
			rows := make([]Parts, r.IntN(most))
			for i := range rows {
				rows[i] = randomParts(r, size)
			}
			wanted := r.IntN(1 << RowColumns)
			var got [RowColumns]Column
			var want [RowColumns][]byte
			var wantOffsets [RowColumns][]int32
			shared := make([]int32, len(rows))
			for i, s := range RowSpans {
				want[i] = fmt.Append(nil, "before", i)
				got[i] = Column{Data: unwanted[:0], Offsets: shared}
				if wanted>>i&1 == 0 {
					continue
				}
				wantOffsets[i] = make([]int32, len(rows))
				spans := Spans{Words: PartsWords32(rows), Start: s.Start, End: s.End, Stride: PartsWords}
				before := len(want[i])
				want[i] = GatherSafe(want[i], wantOffsets[i], spans, len(rows), input[:size-Slack], side[:size-Slack])
				room := memory[i][1<<16-len(want[i])-Slack:]
				got[i] = Column{Data: room[:copy(room, want[i][:before])], Offsets: make([]int32, len(rows))}
			}
			GatherRows(&got, wanted, rows, Usual(round%5), input[:size-Slack], side[:size-Slack])
			for i, c := range got {
				switch {
				case wanted>>i&1 == 0 && len(c.Data) != 0:
					t.Fatalf("round %d: column %d is not wanted and has %d bytes", round, i, len(c.Data))
				case wanted>>i&1 != 0 && (!bytes.Equal(c.Data, want[i]) || !slices.Equal(c.Offsets, wantOffsets[i])):
					t.Fatalf("round %d: column %d: %q %v, want %q %v", round, i, c.Data, c.Offsets, want[i], wantOffsets[i])
				}
			}
		}
	})
}

// The rows' columns are those of Parts.
func TestRowSpans(t *testing.T) {
	p := Parts{Scheme: Span{1, 2}, Host: Span{3, 4}, Origin: Span{5, 6}, Path: Span{7, 8}, Domain: 9, Suffix: 10}
	words := PartsWords32([]Parts{p})
	for i, want := range [RowColumns]Span{
		SchemeColumn: p.Scheme, HostColumn: p.Host, OriginColumn: p.Origin, DomainColumn: {p.Domain, p.Host.End},
		SuffixColumn: {p.Suffix, p.Host.End}, PathColumn: p.Path,
	} {
		if s := RowSpans[i]; (Span{words[s.Start], words[s.End]}) != want {
			t.Errorf("column %d is %v", i, s)
		}
	}
}
