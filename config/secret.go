package config

import (
	"fmt"
	"log/slog"
)

// Secret is a text that no kind of printing or logging shows.
type Secret string

const redacted = "[redacted]"

// Reveal returns the text itself, for the one place that needs it.
func (s Secret) Reveal() string { return string(s) }

// String returns a placeholder, and "" when there is no secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// Format prints the placeholder for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// LogValue logs the placeholder.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText encodes the placeholder.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
