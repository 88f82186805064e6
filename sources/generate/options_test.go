package generate

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestValidate(t *testing.T) {
	err := Options{
		Records: -1, Lanes: -1, Rate: math.NaN(), Format: "xml", Profile: "dream", Repeats: 0.95, RepeatsWithin: -1, Start: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
		Mix: map[string]float64{"page": 0.5, "nope": 0.1, "ipv4": -1, "ipv6": 0.9, "port": 0.9},
	}.Validate()
	var got []string
	if err != nil {
		got = strings.Split(err.Error(), "\n")
	}
	for _, want := range []string{
		`mix: there is no class "nope"`, `mix: "page" has the share`, `mix: the share of "ipv4" is -1`, "mix: the shares of all classes add up to",
		"records: ", "lanes: ", "rate: ", "format: ", "profile: ", "repeats: ", "repeats_within: ", "start: ",
	} {
		if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	if _, err := NewGenerator(Options{Records: -1}); err == nil {
		t.Error("no error")
	}
	if _, err := New(Options{Records: -1}, nil); err == nil {
		t.Error("no error")
	}
	if err := (Options{}).Validate(); err != nil {
		t.Error(err)
	}
}
