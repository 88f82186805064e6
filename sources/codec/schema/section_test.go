package schema

import (
	"reflect"
	"testing"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

func TestSection(t *testing.T) {
	o := JSONKind.New().(*JSONOptions)
	text := "{url: /u, base: /b, carry: [{name: a, pointer: /a, type: bool}], registry: {urls: ['http://a:1'], token: t}}"
	if _, err := config.Parse("c.yaml", []byte(text), config.Env{}, o.Section()); err != nil {
		t.Fatal(err)
	}
	r := schemaregistry.Defaults()
	r.URLs, r.Token = []string{"http://a:1"}, "t"
	want := Options{Registry: &r, URL: "/u", Base: "/b", Carry: []codec.CarriedField{{Name: "a", Pointer: "/a", Type: pipeline.Bool}}}
	if !reflect.DeepEqual(o.Options, want) {
		t.Errorf("%+v", o.Options)
	}
	if f, err := o.Factory(); err != nil || f == nil {
		t.Error(err)
	}
	o = JSONKind.New().(*JSONOptions)
	if _, err := config.Parse("c.yaml", []byte("url: /u"), config.Env{}, o.Section()); err != nil {
		t.Fatal(err)
	}
	if f, err := o.Factory(); err != nil || f == nil {
		t.Errorf("without a registry: %v", err)
	}
}

// TestProblemsHavePaths: they lead to the keys, those of the registry too.
func TestProblemsHavePaths(t *testing.T) {
	o := Options{URL: "/u", Framed: true, Registry: &schemaregistry.Options{URLs: []string{"http://a"}, Username: "u"}}
	want := []string{"registry.username: needs password beside it", "framed: records of a registry always begin with its header; take it out"}
	var got []string
	for _, e := range pipeline.FieldErrors(o.Validate()) {
		got = append(got, e.Error())
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}
