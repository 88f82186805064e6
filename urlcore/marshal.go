package urlcore

import (
	"database/sql/driver"
	"fmt"
	"log/slog"
)

// URLs in JSON, XML, gob, databases, flags and logs. What writes has a value as its receiver, so that URLs
// that are kept by value are written, too, in struct fields, slices and maps; what reads has a pointer.

// MarshalText returns the serialization, so that a URL is a string in JSON as toJSON makes it, and "" for
// the empty URL. The caller owns the slice; the error is nil.
//
// UnmarshalText gives an equal URL back, without its [BlobEntry]. There are two exceptions, which only
// [URL.SetProtocol] makes, as the standard has it: the parser takes the host localhost out of a file URL,
// and puts a colon for the bar of a drive letter.
func (u URL) MarshalText() ([]byte, error) { return u.AppendText(nil) }

// AppendText appends the serialization to dst and returns the extended buffer. The error is nil.
func (u URL) AppendText(dst []byte) ([]byte, error) { return append(dst, u.buf...), nil }

// UnmarshalText parses an absolute URL; "" makes u the empty URL. text is not kept. On failure u is
// unchanged and the error an *[Error].
func (u *URL) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		u.empty()
		return nil
	}
	return u.parseApart(text).Err(text)
}

// MarshalBinary returns what MarshalText does. Package gob uses it.
func (u URL) MarshalBinary() ([]byte, error) { return u.AppendText(nil) }

// UnmarshalBinary is UnmarshalText for package gob.
func (u *URL) UnmarshalBinary(data []byte) error { return u.UnmarshalText(data) }

// IsZero is [URL.IsEmpty] for URLs by value: the option omitzero of encoding/json leaves out empty ones.
func (u URL) IsZero() bool { return u.IsEmpty() }

// Set is UnmarshalText for a string: with [URL.String] it makes *URL a value for package flag.
func (u *URL) Set(text string) error { return u.UnmarshalText(stringBytes(text)) }

// Scan reads a column of text from a database: a string or bytes, which are not kept, with an absolute URL.
// NULL and "" make u the empty URL. On failure u is unchanged and the error an *[Error] or, for a column of
// another type, says so.
func (u *URL) Scan(src any) error {
	switch text := src.(type) {
	case nil:
		return u.Set("")
	case string:
		return u.Set(text)
	case []byte:
		return u.UnmarshalText(text)
	}
	return fmt.Errorf("urlcore: a URL is read from a column of text, but this one gives %T: cast it to text in the query", src)
}

// Value returns the serialization as a string for a column of text in a database, and nil, which is NULL
// there, for the empty URL. The error is nil.
func (u URL) Value() (driver.Value, error) {
	if u.IsEmpty() {
		return nil, nil
	}
	return u.Href(), nil
}

// LogValue returns the serialization as package slog is to log it: with "xxxxx" for the password and for the
// username, which is often a token. Path, query and fragment are not looked at.
func (u URL) LogValue() slog.Value {
	start, _ := u.Span(Username)
	return slog.StringValue(u.redacted(start))
}

// empty makes u the empty URL and leaves its buffer to copies.
func (u *URL) empty() {
	u.buf = nil
	u.Reset()
}
