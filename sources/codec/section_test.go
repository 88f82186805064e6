package codec

import (
	"reflect"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
)

func TestSections(t *testing.T) {
	for _, test := range []struct {
		kind Kind
		text string
		want Options
	}{
		{LinesKind, "{}", &LinesOptions{}},
		{LinesKind, "{skip_empty: true, trim: true}", &LinesOptions{SkipEmpty: true, Trim: true}},
		{NDJSONKind, "url: /u", &NDJSONOptions{URL: "/u"}},
		{NDJSONKind, `
url: /u
base: /b
host: /h
scheme: http
skip_empty: true
carry:
- {name: a, pointer: ''}
- {name: b, pointer: /b, type: timestamp, time: ms}
- {name: c, pointer: /c, type: json, time: rfc3339}
`, &NDJSONOptions{URL: "/u", Base: "/b", Host: "/h", Scheme: "http", SkipEmpty: true, Carry: []CarriedField{
			{Name: "a"}, {Name: "b", Pointer: "/b", Type: pipeline.Timestamp, Time: EpochMillis}, {Name: "c", Pointer: "/c", Type: pipeline.JSON},
		}}},
	} {
		o := test.kind.New()
		if _, err := config.Parse("c.yaml", []byte(test.text), config.Env{}, o.Section()); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(o, test.want) {
			t.Errorf("%s: %+v", test.text, o)
		}
		if f, err := o.Factory(); err != nil || f == nil {
			t.Errorf("%s: %v", test.text, err)
		}
	}
}

// TestFactoryProblems: they lead to the keys.
func TestFactoryProblems(t *testing.T) {
	o := NDJSONKind.New()
	text := "{url: /u, scheme: ftp, carry: [{name: a, pointer: /a, time: s}, {name: a, pointer: /b}]}"
	if _, err := config.Parse("c.yaml", []byte(text), config.Env{}, o.Section()); err != nil {
		t.Fatal(err)
	}
	_, err := o.Factory()
	var paths []string
	for _, e := range pipeline.FieldErrors(err) {
		paths = append(paths, e.Path)
	}
	if got := strings.Join(paths, " "); got != "scheme scheme carry[0].time carry[1].name" {
		t.Errorf("%s: %v", got, err)
	}
}
