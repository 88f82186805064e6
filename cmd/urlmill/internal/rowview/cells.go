package rowview

import (
	"fmt"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/internal/arrowtext"
)

// CellOf returns value i of an array as it is shown; a null is an empty cell.
func CellOf(a arrow.Array, i int) Cell {
	if a.IsNull(i) {
		return Cell{}
	}
	switch a := a.(type) {
	case *array.String:
		return Cell{Text: plain.Text(a.Value(i))}
	case *array.Binary:
		return Cell{Text: plain.Text(string(a.Value(i)))}
	case *array.Int32:
		return Cell{Text: fmt.Sprint(a.Value(i)), Right: true}
	case *array.Int64:
		return Cell{Text: fmt.Sprint(a.Value(i)), Right: true}
	case *array.Float64:
		return Cell{Text: fmt.Sprint(a.Value(i)), Right: true}
	case *array.Boolean:
		return Cell{Text: fmt.Sprint(a.Value(i))}
	case *array.Timestamp:
		return Cell{Text: time.UnixMicro(int64(a.Value(i))).UTC().Format("2006-01-02T15:04:05.999999Z")}
	case *array.List:
		return Cell{Text: pairs(a, i)}
	}
	return Cell{Text: plain.Text(arrowtext.Value(a, i))}
}

// pairs returns a list of keys and values.
func pairs(l *array.List, i int) string {
	entries, ok := l.ListValues().(*array.Struct)
	if !ok || entries.NumField() != 2 {
		return plain.Text(arrowtext.Value(l, i))
	}
	start, end := l.ValueOffsets(i)
	parts := make([]string, 0, end-start)
	for j := int(start); j < int(end); j++ {
		parts = append(parts, CellOf(entries.Field(0), j).Text+"="+CellOf(entries.Field(1), j).Text)
	}
	return strings.Join(parts, ", ")
}
