package avro

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/sources/codec/schema"
)

func configured(t *testing.T, text string) *Options {
	t.Helper()
	o := Kind.New().(*Options)
	if _, err := config.Parse("c.yaml", []byte(text), config.Env{}, o.Section()); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestSection(t *testing.T) {
	r := schemaregistry.Defaults()
	r.URLs = []string{"http://a:1"}
	for text, want := range map[string]Options{
		"{url: /u, registry: {urls: ['http://a:1']}}": {Options: schema.Options{URL: "/u", Registry: &r}},
		"{url: /u, schema: x.avsc, framed: true}":     {Options: schema.Options{URL: "/u", Framed: true}, SchemaFile: "x.avsc"},
	} {
		if o := configured(t, text); !reflect.DeepEqual(*o, want) {
			t.Errorf("%s: %+v", text, *o)
		}
	}
	o := Kind.New()
	_, err := config.Parse("c.yaml", []byte("url: /u"), config.Env{}, o.Section())
	if want := "c.yaml:1:1: the configuration does not say which; add one of registry or schema"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestFactoryReadsSchema: the file is read when the codec is made, and not without need.
func TestFactoryReadsSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	o := configured(t, "{url: /u, schema: "+path+"}")
	if _, err := o.Factory(); err == nil || !strings.HasPrefix(err.Error(), "schema: open "+path) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(path, []byte(`{"type":"record","name":"R","fields":[{"name":"u","type":"string"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := o.Factory(); err != nil || f == nil {
		t.Error(err)
	}
	if f, err := configured(t, "{url: /u, registry: {urls: ['http://a:1']}}").Factory(); err != nil || f == nil {
		t.Errorf("with a registry: %v", err)
	}
}
