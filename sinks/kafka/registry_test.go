package kafka

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/twmb/avro"
	"github.com/twmb/franz-go/pkg/sr"

	"github.com/urlmill/urlmill/internal/dev/registrytest"
	"github.com/urlmill/urlmill/internal/schemaregistry"
)

// change is what may become of columns, and whether readers of the newer schema read what was written before.
type change struct {
	name       string
	columns    []arrow.Field
	compatible bool
}

// changesOf returns changes of columns whose first form is that of the first.
func changesOf() []change {
	text, number := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64
	pair := func(more ...arrow.Field) arrow.DataType {
		return arrow.ListOfNonNullable(arrow.StructOf(append([]arrow.Field{{Name: "key", Type: text}}, more...)...))
	}
	host, offset, params := arrow.Field{Name: "host", Type: text, Nullable: true}, arrow.Field{Name: "offset", Type: number}, arrow.Field{Name: "params", Type: pair()}
	commented := host
	commented.Metadata = arrow.NewMetadata([]string{"comment"}, []string{"another comment"})
	first := []arrow.Field{host, offset, params}
	return []change{
		{"first", first, true},
		{"a comment", []arrow.Field{commented, offset, params}, true},
		{"a column with nulls more", append([]arrow.Field{{Name: "path", Type: text, Nullable: true}}, first...), true},
		{"a column with nulls less", []arrow.Field{offset, params}, true},
		{"a column without nulls less", []arrow.Field{host, params}, true},
		{"another order", []arrow.Field{params, host, offset}, true},
		{"nulls in a column", []arrow.Field{host, {Name: "offset", Type: number, Nullable: true}, params}, true},
		{"a field with nulls more", []arrow.Field{host, offset, {Name: "params", Type: pair(arrow.Field{Name: "value", Type: text, Nullable: true})}}, true},
		{"a column without nulls more", append([]arrow.Field{{Name: "partition", Type: number}}, first...), false},
		{"another type", []arrow.Field{host, {Name: "offset", Type: text}, params}, false},
		{"a field without nulls more", []arrow.Field{host, offset, {Name: "params", Type: pair(arrow.Field{Name: "value", Type: text})}}, false},
	}
}

// TestChanges: columns may change as docs/kafka.md says, by Avro's own rules.
func TestChanges(t *testing.T) {
	o := Options{Target: Target{Topic: "t"}, Format: Avro, Avro: &AvroOptions{}}
	var first *avro.Schema
	for _, c := range changesOf() {
		text, _, err := o.AvroSchema(arrow.NewSchema(c.columns, nil))
		if err != nil {
			t.Fatal(err)
		}
		parsed := avro.MustParse(text)
		if first == nil {
			first = parsed
		}
		if err := avro.CheckCompatibility(first, parsed); (err == nil) != c.compatible {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestRealRegistry asks a schema registry that is none of ours.
func TestRealRegistry(t *testing.T) {
	url := registrytest.Start(t)
	client, err := sr.NewClient(sr.URLs(url))
	if err != nil {
		t.Fatal(err)
	}
	// ask returns the header of values, after it has looked whether the registry has their schema by it.
	ask := func(topic string, lookUp bool, columns []arrow.Field) (string, error) {
		o := AvroOptions{Registry: schemaregistry.Options{URLs: []string{url}}, Record: "org.example.Click", Register: !lookUp}
		f, err := newAvroForm(o, Target{Topic: topic}, slog.New(slog.DiscardHandler))
		if err != nil {
			return "", err
		}
		if err := f.prepare(arrow.NewSchema(columns, nil)); err != nil {
			return "", err
		}
		if err = f.connect(t.Context()); err != nil {
			return "", err
		}
		s, err := f.client.Schema(t.Context(), binary.BigEndian.Uint32(f.header[1:]))
		if err != nil || s.Type != "AVRO" || !f.rows.Same(s.Text) {
			t.Errorf("of %x there is %+v, %v", f.header, s, err)
		}
		return string(f.header), nil
	}
	for i, c := range changesOf() {
		topic := fmt.Sprintf("urlmill-test-%d-%d", time.Now().UnixNano(), i)
		first := changesOf()[0].columns
		if _, err := ask(topic, true, first); err == nil || !strings.Contains(err.Error(), "register is false") {
			t.Errorf("%s: looked up before it is there: %v", c.name, err)
		}
		header, err := ask(topic, false, first)
		if err != nil || len(header) != 5 || header[0] != 0 {
			t.Fatalf("%x %v", header, err)
		}
		results := client.SetCompatibility(context.Background(), sr.SetCompatibility{Level: sr.CompatBackward}, topic+"-value")
		if err := results[0].Err; err != nil {
			t.Fatal(err)
		}
		again, err := ask(topic, true, first)
		if err != nil || again != header {
			t.Errorf("%s: found %x, registered %x, %v", c.name, again, header, err)
		}
		if c.name == "a comment" {
			if found, err := ask(topic, true, c.columns); err != nil || found != header {
				t.Errorf("%s: found %x, registered %x, %v", c.name, found, header, err)
			}
		}
		_, err = ask(topic, false, c.columns)
		if c.compatible && err != nil || !c.compatible && (err == nil || !strings.Contains(err.Error(), "the columns have changed")) {
			t.Errorf("%s: %v", c.name, err)
		}
		t.Logf("%s: %v", c.name, err)
	}
}
