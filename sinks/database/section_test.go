package database

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks"
)

// TestWith: a configuration that says not to try again has it so, and what is wrong with columns is said of the table.
func TestWith(t *testing.T) {
	o := Default()
	if _, err := config.Parse("", []byte("{table: clicks, retry_for: 0s}"), config.Env{}, o.Section("clicks", "")); err != nil {
		t.Fatal(err)
	}
	f := &fake{next: pipeline.Unknown, fail: []error{Temporary(errors.New("away"))}}
	c := o.With(sinks.Env{Log: slog.New(slog.DiscardHandler), Memory: 7}, Database{
		Validate:  func() error { return nil },
		CheckRows: func(*arrow.Schema) error { return errors.New("no type") },
		Driver:    func() (Driver, error) { return f, nil },
	})
	if err := c.CheckRows(schema); err == nil || err.Error() != "table: no type" {
		t.Errorf("%v", err)
	}
	s, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	if got := s.(*Sink).opts; got.Memory != 7 || got.Table != "clicks" || got.BatchRows == 0 {
		t.Errorf("%+v", got)
	}
	if err := s.Start(t.Context(), pipeline.Schemas{schema}); err != nil {
		t.Fatal(err)
	}
	w, _, err := s.Open(t.Context(), pipeline.LaneID{Stream: "clicks"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(t.Context(), pipeline.Rows, record(1), pipeline.Span{First: 0, Next: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(t.Context()); err == nil || len(f.loads) != 1 {
		t.Errorf("%v after %d loads", err, len(f.loads))
	}
}
