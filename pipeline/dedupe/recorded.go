package dedupe

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/urlmill/urlmill/pipeline"
)

// identity returns what the state keeps of what the positions of a mark are of. Where commits are compared one by one, that is a sum:
// what they say may be long.
func (o Options) identity(of string) string {
	if !o.Recorded || of == "" {
		return of
	}
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:16])
}

// commitName is the key of the sum of a commit.
func commitName(number uint64, end int64) []byte {
	return binary.BigEndian.AppendUint64(numbered(commitKey, number), uint64(end))
}

// has reports whether a commit of a lane is one that the state has the keys of.
func (s *state) has(m laneMark, at pipeline.Mark) (bool, error) {
	if len(m.Origins) == 0 || at.Next > m.End {
		return false, nil
	}
	sum, err := s.get(commitName(m.Origins[len(m.Origins)-1].Number, at.Next))
	return sum != nil && string(sum) == at.Of, err
}

// cutRecorded does what [laneMark.cut] does, for a lane whose positions say nothing without what its commits were of. The last commit that
// both the state and the output have is searched, as each says all that was read before it.
func (s *state) cutRecorded(id pipeline.LaneID, m laneMark, at pipeline.Mark, out outside) (laneMark, map[uint64]int64, error) {
	if len(m.Origins) == 0 {
		return m, nil, nil
	}
	common := int64(-1)
	if at.Next >= 0 && at.Next <= m.End {
		same, err := s.has(m, at)
		if err != nil {
			return m, nil, err
		}
		if same {
			common = at.Next
		}
	}
	if at.Next >= 0 && common < 0 {
		var failed error
		err := out.history(id, func(c pipeline.Mark) {
			same, err := s.has(m, c)
			if failed = err; same {
				common = c.Next
			}
		})
		if err == nil {
			err = failed
		}
		if err != nil {
			return m, nil, err
		}
	}
	if common == m.End {
		return m, nil, nil
	}
	gone := map[uint64]int64{}
	for _, o := range m.Origins {
		gone[o.Number] = common
	}
	if common < 0 {
		return laneMark{}, gone, nil
	}
	return laneMark{End: common, Floor: m.Floor, Origins: m.Origins}, gone, nil
}

// made reports whether a commit was made that is in a journal, as the output of its lane is at next now.
func (s *Sink) made(ctx context.Context, id pipeline.LaneID, next int64, j journal) (made bool, err error) {
	if next == pipeline.Unknown || next < j.end.Next || !s.opts.Recorded || !s.opts.Positions {
		return next != pipeline.Unknown && next >= j.end.Next, nil
	}
	at, err := s.position(ctx, id)
	if err != nil || at.Next == j.end.Next {
		return at.Of == j.end.Of, err
	}
	err = s.outside(ctx).history(id, func(c pipeline.Mark) { made = made || c == j.end })
	return made, err
}

// outside returns what is asked of the inner sink.
func (s *Sink) outside(ctx context.Context) outside {
	return outside{
		position: func(id pipeline.LaneID) (pipeline.Mark, error) { return s.position(ctx, id) },
		history: func(id pipeline.LaneID, each func(pipeline.Mark)) error {
			h, ok := pipeline.As[pipeline.Historian](s.inner)
			if !ok {
				return fmt.Errorf("%T does not tell the commits of lanes", s.inner)
			}
			return h.History(ctx, id, func(m pipeline.Mark) error {
				m.Of = s.opts.identity(m.Of)
				each(m)
				return nil
			})
		},
	}
}
