package accesslog

import (
	"reflect"
	"testing"

	"github.com/urlmill/urlmill/config"
)

func TestSection(t *testing.T) {
	for text, want := range map[string]Options{
		"format: alb": {Format: "alb"},
		"{format: w3c, base: 'https://a.example', fields: [x-a]}": {Format: W3C, Base: "https://a.example", Fields: []string{"x-a"}},
		"{format: caddy, scheme: http}":                           {Format: Caddy, Scheme: "http"},
		`nginx: $host "$request"`:                                 {Nginx: `$host "$request"`},
		`apache: '%v "%r"'`:                                       {Apache: `%v "%r"`},
	} {
		o := Kind.New().(*Options)
		if _, err := config.Parse("c.yaml", []byte(text), config.Env{}, o.Section()); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(*o, want) {
			t.Errorf("%s: %+v", text, *o)
		}
		if f, err := o.Factory(); err != nil || f == nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	o := Kind.New()
	_, err := config.Parse("c.yaml", []byte("{format: alb, nginx: x}"), config.Env{}, o.Section())
	if want := "c.yaml:1:22: the configuration has both format and nginx; keep one of them"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
