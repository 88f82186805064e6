// Package kindtest reads configurations of one kind of sinks, for its tests.
package kindtest

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks"
)

// Parse returns the options that the text of a kind's section has.
func Parse(kind sinks.Kind, text string) (sinks.Options, error) {
	o := kind.New()
	root := config.Section{Fields: []config.Field{{Name: kind.Name, Doc: kind.Doc, Value: config.Map(o.Section())}}}
	_, err := config.Parse("", []byte(kind.Name+": "+text), config.Env{}, root)
	return o, err
}

// Problems returns what is wrong with the text of a kind's section in a process, first as it is read, then as the sink says, a
// line for each. It is "" when nothing is.
func Problems(kind sinks.Kind, text string, e sinks.Env) string {
	o, err := Parse(kind, text)
	var bad *config.Error
	if errors.As(err, &bad) {
		var lines []string
		for _, p := range bad.Problems {
			lines = append(lines, fmt.Sprintf("%s: %s", p.Path, p.Message))
		}
		return strings.Join(lines, "\n")
	}
	e.Log = slog.New(slog.DiscardHandler)
	if err := pipeline.Under(kind.Name, o.With(e).Validate()); err != nil {
		return err.Error()
	}
	return ""
}
