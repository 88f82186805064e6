package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/file"
)

// The exit codes of every command; "urlmill help exit-codes" explains them.
const (
	exitOK         = 0
	exitFailure    = 1
	exitUsage      = 2
	exitOnError    = 3
	exitIncomplete = 4
	// exitDamaged is the code of "urlmill verify", "urlmill parquet check" and "urlmill compact" alone.
	exitDamaged   = 5
	exitInterrupt = 130
)

// usageError is a command line that cannot be right.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// codeError is an error with an exit code of its own. Without err, all that there is to say has been said.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

// exitCode returns the exit code for the error of a command.
func exitCode(err error) int {
	var (
		usage *usageError
		bad   *config.Error
		own   *codeError
		row   *pipeline.RowError
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &own):
		return own.code
	case errors.As(err, &usage), errors.As(err, &bad):
		return exitUsage
	case errors.As(err, &row):
		return exitOnError
	case onlyIncomplete(err):
		return exitIncomplete
	}
	return exitFailure
}

// onlyIncomplete reports whether err is about inputs alone that could not be read completely, so that everything else
// was done.
func onlyIncomplete(err error) bool {
	if joined, ok := err.(pipeline.Joined); ok {
		for _, e := range joined.Unwrap() {
			if !onlyIncomplete(e) {
				return false
			}
		}
		return true
	}
	var read *file.ReadError
	var short *file.TooShortError
	var changed *file.ChangedError
	return errors.As(err, &read) || errors.As(err, &short) || errors.As(err, &changed)
}

// errInterrupted is the error of a command that was told twice to stop.
var errInterrupted = &codeError{code: exitInterrupt, err: fmt.Errorf("stopped at once by a second signal: %w", context.Canceled)}

const exitCodesHelp = `Exit codes of all commands:

    0  everything was done
    1  it could not be done: an output cannot be written, a broker refuses the credentials, ...
    2  the command line or the configuration is wrong; nothing was started
    3  stopped at a row with an error, because the error policy is "fail"; the rows before it are written
    4  some input could not be read completely, such as a truncated file or one that has changed; all the rest
       is written. Or "urlmill run --until" was stopped before its end, which the same command goes on to
    5  "urlmill verify" has found an output that is not as it has to be, or "urlmill parquet check" files that are
       damaged or say of themselves what is not true; the report says what. "urlmill compact" has left files as they are
       that it could not read
  130  stopped at once by a second SIGINT or SIGTERM; what was not committed is read again next time
  134  it crashed (a fault of urlmill; SIGABRT, which a supervisor sees instead of a code): standard error has the reason and
       a stack trace for a report. Start it again; what was not committed is read again. As the first process of a
       container, which no signal of its own ends, it exits with 2

The first SIGINT or SIGTERM lets a pipeline write and commit what it has read (pipeline.drain_timeout bounds the
time) and ends with 0, or with 4 before the end of --until. "urlmill url" ends with 1 when one of its URLs does not
parse, "urlmill explain" when two have two keys, and "urlmill parse" when every row has an error.
`
