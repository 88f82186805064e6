package parquet

import (
	"reflect"
	"testing"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

func TestSection(t *testing.T) {
	o := Kind.New().(*Options)
	text := "{url: u.v, base: b, carry: [{name: a, type: json}, {name: t, column: c.d, type: timestamp, time: us}]}"
	if _, err := config.Parse("c.yaml", []byte(text), config.Env{}, o.Section()); err != nil {
		t.Fatal(err)
	}
	want := Options{URL: "u.v", Base: "b", Carry: []codec.CarriedColumn{
		{Name: "a", Type: pipeline.JSON}, {Name: "t", Column: "c.d", Type: pipeline.Timestamp, Time: codec.EpochMicros},
	}}
	if !reflect.DeepEqual(*o, want) {
		t.Errorf("%+v", *o)
	}
	f, err := o.Factory()
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := f.(codec.Tables); !ok {
		t.Error("the factory opens no tables")
	}
	if f, err := Kind.New().Factory(); err == nil || f != nil {
		t.Errorf("a codec without a URL: %v, %v", f, err)
	}
}

// TestCarriedByName: without a column it is the one that is called as the name.
func TestCarriedByName(t *testing.T) {
	o := options()
	for i, c := range o.Carry {
		if c.Column == c.Name {
			o.Carry[i].Column = ""
		}
	}
	if reflect.DeepEqual(o, options()) {
		t.Fatal("no column is called as its name")
	}
	data := visits(t, 20, 7)
	want, err := rowsOf(t, options(), data, 0, 50)
	if err != nil {
		t.Fatal(err)
	}
	got, err := rowsOf(t, o, data, 0, 50)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: %v\nwant %v", err, got, want)
	}
}
