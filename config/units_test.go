package config

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// theSecret must not be in any message.
const theSecret = "hunter2"

// login is what a secret stands in.
type login struct {
	Username string
	Password Secret
}

func TestSecret(t *testing.T) {
	s := Secret(theSecret)
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "a", s, "b", struct {
		Username string
		Password Secret
	}{Password: s}, "c", &login{Password: s})
	texts := []string{log.String(), s.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		texts = append(texts, fmt.Sprintf(verb, s), fmt.Sprintf(verb, struct {
			Username string
			Password Secret
		}{Password: s}))
	}
	for _, text := range texts {
		if strings.Contains(text, theSecret) || strings.Contains(text, fmt.Sprintf("%x", theSecret)) {
			t.Errorf("the secret shows: %s", text)
		}
	}
	if s.Reveal() != theSecret || Secret("").String() != "" {
		t.Error("Reveal or the empty secret is wrong")
	}
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "1B": 1, "64KiB": 64 << 10, "512MiB": 512 << 20, "1.5 GB": 1.5e9, "2TiB": 2 << 40, "3kB": 3000, "3KB": 3000, "0.5MiB": 512 << 10,
		"": -1, "5": -1, "5mb": 5e6, "128M": 128 << 20, "512k": 512 << 10, "1g": 1 << 30, "2 T": 2 << 40, "1GB": 1e9, "1gib": 1 << 30, "1Mo": -1, "1P": -1, "-5MiB": -1, "1e3B": -1, "MiB": -1, "1..2B": -1, "99999999TiB": -1, "5 MiB x": -1,
	} {
		got, err := parseSize(in)
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("parseSize(%q) = %d, %v", in, got, err)
		}
	}
	for in, want := range map[int64]string{0: "0B", 1000: "1000B", 1 << 10: "1KiB", 3 << 19: "1536KiB", 1 << 40: "1TiB"} {
		if got := FormatSize(in); got != want {
			t.Errorf("FormatSize(%d) = %q", in, got)
		}
	}
}

func TestSuggest(t *testing.T) {
	candidates := []string{"href", "host", "registrable_domain", "params"}
	for in, want := range map[string]string{
		"hrfe":                            ` (did you mean "href"?)`,
		"registrableDomain":               ` (did you mean "registrable_domain"?)`,
		"registrable":                     ` (did you mean "registrable_domain"?)`,
		"parms":                           ` (did you mean "params"?)`,
		"x":                               "",
		"":                                "",
		strings.Repeat("href", 100) + "x": ` (did you mean "href"?)`,
		"zzzzzzzz":                        "",
	} {
		if got := Suggest(in, candidates); got != want {
			t.Errorf("Suggest(%q) = %q", in, got)
		}
	}
}
