package pipeline

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
)

// FieldError is what is wrong with an option of a component. It speaks the words of the configuration, since those who read
// it have written one: Path is made of the keys, and so is every option that Reason and Hint name.
type FieldError struct {
	// Path leads from the section of the component to the option, such as tls.ca_file or paths[0]; "" for the section as a
	// whole.
	Path string
	// Value is what the option has, as a message shows it, texts in quotes; "" where showing it would not help, or would give a
	// secret away.
	Value string
	// Reason says what is wrong, and Hint what to do about it, if Reason does not say that.
	Reason, Hint string

	columns []string
	cause   error
}

// Column is the name of a column as an argument of [FieldErrorf] and its like: what is wrong is wrong with that column.
type Column string

// FaultyColumns returns the names of the columns that err is about.
func FaultyColumns(err error) (names []string) {
	for ; err != nil; err = errors.Unwrap(err) {
		if e, ok := err.(*FieldError); ok { //nolint:errorlint // this one alone: the loop comes to what it wraps
			names = append(names, e.columns...)
		}
	}
	return names
}

func columnsIn(args []any) (names []string) {
	for _, a := range args {
		if name, ok := a.(Column); ok {
			names = append(names, string(name))
		}
	}
	return names
}

// FieldErrorf returns the error of the option at path, whose reason is formatted. The error that a %w names is its cause.
func FieldErrorf(path, format string, args ...any) *FieldError {
	reason := fmt.Errorf(format, args...)
	return &FieldError{Path: path, Reason: reason.Error(), columns: columnsIn(args), cause: errors.Unwrap(reason)}
}

// ValueErrorf returns the error of a value, which the reason goes on from: ValueErrorf("lanes", 0, "is not between %d and %d", 1, 8).
func ValueErrorf(path string, value any, format string, args ...any) *FieldError {
	reason := fmt.Errorf(format, args...)
	shown := fmt.Sprint(value)
	if reflect.ValueOf(value).Kind() == reflect.String {
		shown = strconv.Quote(shown)
	}
	return &FieldError{Path: path, Value: shown, Reason: reason.Error(), cause: errors.Unwrap(reason)}
}

// Advise sets the hint and returns e.
func (e *FieldError) Advise(format string, args ...any) *FieldError {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// In returns the path to the option from where the section of the component is at prefix.
func (e *FieldError) In(prefix string) string {
	if e.Path == "" || prefix == "" || e.Path[0] == '[' {
		return prefix + e.Path
	}
	return prefix + "." + e.Path
}

// Error implements error: path: value reason; hint.
func (e *FieldError) Error() string {
	text := e.Reason
	if e.Value != "" {
		text = e.Value + " " + text
	}
	if e.Path != "" {
		text = e.Path + ": " + text
	}
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Unwrap returns what the reason was made of, nil if that is no error.
func (e *FieldError) Unwrap() error { return e.cause }

// Joined is an error that several are joined in.
type Joined interface{ Unwrap() []error }

// joined is the type of what errors.Join returns. An error that wraps several others in a text of its own has another.
var joined = reflect.TypeOf(errors.Join(errors.ErrUnsupported))

// FieldErrors returns the errors that are joined in err, in their order. One that is no FieldError has become one of the
// section as a whole.
func FieldErrors(err error) []*FieldError {
	if err == nil {
		return nil
	}
	if e, ok := err.(*FieldError); ok { //nolint:errorlint // what wraps one says more, and is not to be lost
		return []*FieldError{e}
	}
	if reflect.TypeOf(err) != joined {
		return []*FieldError{{Reason: err.Error(), cause: err}}
	}
	var all []*FieldError
	for _, e := range err.(Joined).Unwrap() {
		all = append(all, FieldErrors(e)...)
	}
	return all
}

// Under returns the errors that are joined in err as those of the section at prefix: their paths begin with it. It returns nil
// for nil.
func Under(prefix string, err error) error {
	var p Problems
	for _, e := range FieldErrors(err) {
		under := *e
		under.Path = e.In(prefix)
		p.Join(&under)
	}
	return p.Err()
}

// Problems collects what is wrong with options. The zero value is ready to use.
type Problems struct{ all []error }

// Added is a problem that has been added, and may get a hint.
type Added struct{ e *FieldError }

// Advise sets the hint.
func (a Added) Advise(format string, args ...any) { a.e.Hint = fmt.Sprintf(format, args...) }

// Add adds one as [FieldErrorf] makes it.
func (p *Problems) Add(path, format string, args ...any) Added {
	e := FieldErrorf(path, format, args...)
	p.Join(e)
	return Added{e}
}

// Value adds one as [ValueErrorf] makes it.
func (p *Problems) Value(path string, value any, format string, args ...any) Added {
	e := ValueErrorf(path, value, format, args...)
	p.Join(e)
	return Added{e}
}

// Join adds what is joined in err, nothing for nil.
func (p *Problems) Join(err error) {
	if err != nil {
		p.all = append(p.all, err)
	}
}

// Err returns all of them joined, nil if there are none.
func (p *Problems) Err() error { return errors.Join(p.all...) }
