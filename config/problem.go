package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a configuration.
type Problem struct {
	// Line and Column count from 1, columns in characters. They are 0 for a problem of the file as a whole.
	Line, Column int
	// Path is where the problem is, such as "source.kafka.brokers[0]".
	Path string
	// Message says what is wrong and what would be right.
	Message string
	// Cause is the error of a component that Message is made of, nil where there is none.
	Cause error
}

// Error is the list of all problems of a configuration. It is never empty.
type Error struct {
	// File is the name of the file as it was given, "" for a configuration that is from no file.
	File string
	// Problems are in the order of their positions.
	Problems []Problem
}

// Error returns a line "file:line:column: message" for every problem.
func (e *Error) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteByte('\n')
		}
		switch {
		case p.Line > 0:
			fmt.Fprintf(&b, "%s:%d:%d: ", e.File, p.Line, p.Column)
		case e.File != "":
			fmt.Fprintf(&b, "%s: ", e.File)
		}
		b.WriteString(p.Message)
	}
	return b.String()
}

// newError sorts problems and makes an error of them, nil when there are none.
func newError(file string, problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	slices.SortStableFunc(problems, byPlace)
	return &Error{File: file, Problems: problems}
}

// byPlace compares where problems are.
func byPlace(a, b Problem) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) }
