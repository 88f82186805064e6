package report

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/urlmill/urlmill/pipeline"
)

type countingSink struct{ pipeline.Sink }

func (countingSink) Count(c *pipeline.Counts) {
	c.Files = &pipeline.FileCounts{Files: 3, Bytes: 1_500_000}
}

type findingSink struct {
	pipeline.Sink
	dropped bool
}

func (s findingSink) Count(c *pipeline.Counts) {
	c.Duplicates = &pipeline.DuplicateCounts{Rows: 500_000, Dropped: s.dropped}
}

func TestPrint(t *testing.T) {
	totals := pipeline.Totals{
		Rows: 2_000_000, Bytes: 160_000_000, Invalid: 1200,
		Errors: map[string]int64{"host-missing": 200, "domain-to-ASCII": 200, "record-malformed": 800},
	}
	for _, test := range []struct {
		name   string
		change func(*pipeline.Totals)
		sink   pipeline.Sink
		want   string
	}{
		{"kept", func(*pipeline.Totals) {}, countingSink{}, `2,000,000 rows in 4s: 500,000 rows/s, 160.0 MB read, 40.0 MB/s
3 files, 1.5 MB written
400 rows with an error of the URL (0.02 %), kept with their error
  200  domain-to-ASCII
  200  host-missing
800 rows with an error of the record (0.04 %), kept with their error
  800  record-malformed
`},
		{"dropped", func(t *pipeline.Totals) { t.Dropped, t.Errors = 1200, map[string]int64{"x": 1200} }, nil, `2,000,000 rows in 4s: 500,000 rows/s, 160.0 MB read, 40.0 MB/s
1,200 rows with an error of the URL (0.06 %), left out
  1,200  x
`},
		{"dead letters", func(t *pipeline.Totals) { t.DeadLetters, t.Errors = 1200, map[string]int64{"x": 1200} }, nil, `2,000,000 rows in 4s: 500,000 rows/s, 160.0 MB read, 40.0 MB/s
1,200 rows with an error of the URL (0.06 %), among the dead letters
  1,200  x
`},
		{"field null", func(t *pipeline.Totals) { t.Errors["field-type:user_id"], t.Nulled = 900_000, 900_000 }, nil, `2,000,000 rows in 4s: 500,000 rows/s, 160.0 MB read, 40.0 MB/s
400 rows with an error of the URL (0.02 %), kept with their error
  200  domain-to-ASCII
  200  host-missing
800 rows with an error of the record (0.04 %), kept with their error
  800  record-malformed
900,000 rows with an error of a field (45.00 %), null there
  900,000  field-type:user_id
`},
		{"field among dead letters", func(t *pipeline.Totals) {
			t.Invalid, t.DeadLetters, t.Errors = 30, 10, map[string]int64{"x": 20, "field-type:n": 10}
		}, nil, `2,000,000 rows in 4s: 500,000 rows/s, 160.0 MB read, 40.0 MB/s
20 rows with an error of the URL (0.00 %), kept with their error
  20  x
10 rows with an error of a field (0.00 %), among the dead letters
  10  field-type:n
`},
		{"field among dead letters, others left out", func(t *pipeline.Totals) {
			t.Invalid, t.Dropped, t.DeadLetters, t.Errors = 30, 20, 10, map[string]int64{"x": 20, "field-type:n": 10}
		}, nil, `2,000,000 rows in 4s: 500,000 rows/s, 160.0 MB read, 40.0 MB/s
20 rows with an error of the URL (0.00 %), left out
  20  x
10 rows with an error of a field (0.00 %), among the dead letters
  10  field-type:n
`},
		{"duplicates", func(t *pipeline.Totals) { t.Invalid, t.Errors = 0, nil }, findingSink{dropped: true}, `2,000,000 rows in 4s: 500,000 rows/s, 160.0 MB read, 40.0 MB/s
500,000 duplicates (25.00 %), left out
`},
		{"marked", func(t *pipeline.Totals) { t.Invalid, t.Errors = 0, nil }, findingSink{}, `2,000,000 rows in 4s: 500,000 rows/s, 160.0 MB read, 40.0 MB/s
500,000 duplicates (25.00 %), marked
`},
		{"late", func(t *pipeline.Totals) { t.Invalid, t.Errors = 0, nil }, lateSink{n: 4000}, `2,000,000 rows in 4s: 500,000 rows/s, 160.0 MB read, 40.0 MB/s
4,000 late rows (0.20 %)
`},
		{"all valid", func(t *pipeline.Totals) { t.Invalid, t.Errors = 0, nil }, nil, `2,000,000 rows in 4s: 500,000 rows/s, 160.0 MB read, 40.0 MB/s
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			totals := totals
			totals.Errors = maps.Clone(totals.Errors)
			test.change(&totals)
			var b bytes.Buffer
			New(totals, test.sink, 4*time.Second).Print(&b)
			if b.String() != test.want {
				t.Errorf("got\n%swant\n%s", b.String(), test.want)
			}
		})
	}
}

// TestNothingNew checks what is said of a run that found nothing to do.
func TestNothingNew(t *testing.T) {
	for _, test := range []struct {
		rows  int64
		files bool
		want  string
	}{
		{0, true, "nothing new: every file that has records was delivered before\n"},
		{0, false, "0 rows in 1s: 0 rows/s, 0 B read, 0 B/s\n"},
		{2, true, "2 rows in 1s: 2 rows/s, 0 B read, 0 B/s\n"},
	} {
		s := New(pipeline.Totals{Rows: test.rows}, nil, time.Second)
		s.FromFiles = test.files
		var b bytes.Buffer
		if s.Print(&b); b.String() != test.want {
			t.Errorf("%q, want %q", b.String(), test.want)
		}
	}
}

// lateSink has late rows.
type lateSink struct {
	pipeline.Sink
	n int64
}

func (s lateSink) Count(c *pipeline.Counts) { c.Late = &s.n }

func TestLog(t *testing.T) {
	var b bytes.Buffer
	s := New(pipeline.Totals{Rows: 10, Invalid: 1, Errors: map[string]int64{"host-missing": 1}}, countingSink{}, 2*time.Second)
	s.Log(slog.New(slog.NewJSONHandler(&b, nil)))
	var got struct {
		Msg           string
		Rows, Files   int64
		RowsPerSecond int64 `json:"rows_per_s"`
		Errors        map[string]int64
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Msg != "done" || got.Rows != 10 || got.Files != 3 || got.RowsPerSecond != 5 || got.Errors["host-missing"] != 1 {
		t.Errorf("%s", b.Bytes())
	}
	if (Summary{}).RowsPerSecond() != 0 {
		t.Error("a rate without time")
	}
}
