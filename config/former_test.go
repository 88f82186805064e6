package config

import (
	"strings"
	"testing"
	"time"
)

// former is a section with keys that had other names.
func former(text *string, span *time.Duration) Section {
	return Section{Fields: []Field{
		{Name: "below", Value: Map(Section{Fields: []Field{
			{Name: "place", Was: "location", Doc: "Where.", Value: Text(text, "here"), Example: "place: here"},
		}})},
		{Name: "span", Was: "time", Doc: "How long.", Value: Duration(span, 0, time.Hour)},
	}}
}

// A former name works, with a note; it cannot stand beside the other one, and a mistake in its value is told at the place.
func TestFormerNames(t *testing.T) {
	for text, want := range map[string]string{
		"time: 5s\nbelow: {location: x}":        "",
		"below: {location: x, place: y}":        `c:1:9: "location" is a former name of "place", which is given as well; keep that`,
		"below: {place: y}\nspan: 1s\ntime: 1s": `c:3:1: "time" is a former name of "span", which is given as well; keep that`,
		"below: {location: 7}":                  `c:1:19: place is the number 7; give a text such as here, in quotes if this is meant`,
		"below: {}":                             `c:1:1: below has no "place"; add it, such as place: here`,
	} {
		var place string
		var span time.Duration
		d, err := Parse("c", []byte(text), Env{}, former(&place, &span))
		if got := errText(err); got != want {
			t.Errorf("%q: %q", text, got)
		}
		if want != "" {
			continue
		}
		if place != "x" || span != 5*time.Second || !d.Given("below.place") {
			t.Errorf("%q, %v", place, span)
		}
		var notes []string
		for _, n := range d.Notes() {
			notes = append(notes, n.Message)
		}
		if got := strings.Join(notes, "\n"); got != `"time" in the configuration is called "span" now; the former name still works`+"\n"+`"location" in below is called "place" now; the former name still works` {
			t.Errorf("notes: %s", got)
		}
	}
	var place string
	var span time.Duration
	if schema := string(JSONSchema(former(&place, &span))); strings.Count(schema, `"deprecated": true`) != 2 || strings.Contains(schema, `"required"`) {
		t.Error(schema)
	}
	if reference := string(Reference(former(&place, &span))); !strings.Contains(reference, "How long. Formerly `time`, which still works.") {
		t.Error(reference)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestSpelledOut: units that are written out, and days, which Go's durations do not have.
func TestSpelledOut(t *testing.T) {
	for text, want := range map[string]string{
		"1d": `"24h"`, "7 days": `"168h"`, "5 minutes": `"5m"`, "30sec": `"30s"`, "2 hours": `"2h"`, "1month": "", "soon": "",
	} {
		var place string
		var span time.Duration
		_, err := Parse("c", []byte("below: {place: x}\nspan: "+text), Env{}, former(&place, &span))
		if got := errText(err); want != "" && !strings.HasSuffix(got, " (did you mean "+want+"?)") || want == "" && strings.Contains(got, "did you mean") || got == "" {
			t.Errorf("%s: %s", text, got)
		}
	}
}
