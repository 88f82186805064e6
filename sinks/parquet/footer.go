package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/parquet/metadata"
)

const magic = "PAR1"

// groupCheck is what a row group was given to hold.
type groupCheck struct {
	rows    int64
	entries []int64 // by leaf
}

// correctFooter takes the footer as arrow v15 has written it, with its length and magic, checks that it tells
// of everything that was written, and returns it without distinct counts: arrow always claims zero distinct
// values, which an optimizer may believe.
//
// The check is for errors that arrow drops when it closes a row group. A chunk that was not finished has no
// entries in the footer.
func correctFooter(footer []byte, groups []groupCheck) (*metadata.FileMetaData, error) {
	if len(footer) < 8 || string(footer[len(footer)-4:]) != magic {
		return nil, errors.New("the footer was not finished")
	}
	m, err := metadata.NewFileMetaData(footer[:len(footer)-8], nil)
	if err != nil {
		return nil, fmt.Errorf("the footer cannot be read back: %w", err)
	}
	if len(m.RowGroups) != len(groups) {
		return nil, fmt.Errorf("%d of %d row groups were written", len(m.RowGroups), len(groups))
	}
	for g, want := range groups {
		got := m.RowGroups[g]
		if got.NumRows != want.rows || len(got.Columns) != len(want.entries) {
			return nil, fmt.Errorf("row group %d has %d rows and %d columns instead of %d and %d",
				g, got.NumRows, len(got.Columns), want.rows, len(want.entries))
		}
		for i, chunk := range got.Columns {
			if chunk.MetaData == nil || chunk.MetaData.NumValues != want.entries[i] {
				return nil, fmt.Errorf("row group %d: column %d was not written completely", g, i)
			}
			if chunk.MetaData.Statistics != nil {
				chunk.MetaData.Statistics.DistinctCount = nil
			}
		}
	}
	return m, nil
}

// writeFooter ends a file.
func (s *shield) writeFooter(m *metadata.FileMetaData) error {
	n, err := m.WriteTo(s, nil)
	if err != nil {
		return err
	}
	tail := binary.LittleEndian.AppendUint32(nil, uint32(n))
	_, _ = s.Write(append(tail, magic...)) // a shield keeps its errors
	return s.err
}
