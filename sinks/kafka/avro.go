package kafka

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/internal/avrorow"
)

// Ways to call the subject that the registry has the schema of the rows under.
const (
	TopicName       = "topic_name"        // the topic and -value
	RecordName      = "record_name"       // the full name of the record
	TopicRecordName = "topic_record_name" // the topic, a hyphen and the full name of the record
)

// registryKey is where the section avro has its registry.
const registryKey = "registry"

// DefaultRecord is the full name of the record that a row is.
const DefaultRecord = "urlmill.Row"

// AvroOptions says how the format Avro is written.
type AvroOptions struct {
	Registry schemaregistry.Options
	// Record is the full name of the record that a row is. Default DefaultRecord.
	Record string
	// Subject is TopicName, the default, RecordName or TopicRecordName.
	Subject string
	// Register has the schema registered; it is looked up otherwise.
	Register bool
}

func (o AvroOptions) withDefaults() AvroOptions {
	defaultTo(&o.Record, DefaultRecord)
	defaultTo(&o.Subject, TopicName)
	return o
}

// validate returns what is wrong with o, every problem joined.
func (o *AvroOptions) validate() error {
	var p pipeline.Problems
	full := o.withDefaults()
	p.Join(pipeline.Under(registryKey, full.Registry.Validate()))
	if err := avrorow.CheckFullName(full.Record); err != nil {
		p.Add("record", "%w", err)
	}
	switch {
	case full.Subject != TopicName && full.Subject != RecordName && full.Subject != TopicRecordName:
		p.Value("subject", full.Subject, "is not known").Advise("use %s, %s or %s", TopicName, RecordName, TopicRecordName)
	case full.Subject != TopicName && o.Record == "":
		p.Add("record", "with %s the subject is called by the record", full.Subject).Advise("give it a name that says what rows are, such as org.example.Click")
	}
	return p.Err()
}

// subject returns what the subject of a topic is called.
func (o AvroOptions) subject(topic string) string {
	switch o.Subject {
	case RecordName:
		return o.Record
	case TopicRecordName:
		return topic + "-" + o.Record
	}
	return topic + "-value"
}

// AvroSchema returns the text of the schema that rows have with the format Avro, and the subject that it is under.
func (o Options) AvroSchema(rows *arrow.Schema) (text, subject string, err error) {
	if o.Avro == nil || o.Format != Avro {
		return "", "", fmt.Errorf("the format is not %s", Avro)
	}
	avro := o.Avro.withDefaults()
	form, err := avrorow.New(rows, avro.Record)
	if err != nil {
		return "", "", err
	}
	return form.Schema(), avro.subject(o.Topic), nil
}

// avroForm implements [rowForm]: a row is a record behind the header that says which schema of the registry it has.
type avroForm struct {
	options AvroOptions
	target  Target
	log     *slog.Logger
	client  *schemaregistry.Client

	rows   *avrorow.Rows
	header []byte // of every value; known once connected
}

func newAvroForm(o AvroOptions, t Target, log *slog.Logger) (*avroForm, error) {
	f := &avroForm{options: o.withDefaults(), target: t.withDefaults()}
	f.log = log.With("sink", "kafka", "topic", t.Topic, "subject", f.options.subject(t.Topic))
	var err error
	f.client, err = schemaregistry.New(o.Registry)
	return f, pipeline.Under(registryKey, err)
}

func (f *avroForm) prepare(s *arrow.Schema) (err error) {
	f.rows, err = avrorow.New(s, f.options.Record)
	return err
}

// connect gets the id of the schema from the registry, for which it waits as long as for the topic.
func (f *avroForm) connect(ctx context.Context) error {
	defer f.client.CloseIdle() // it is not asked again
	return patience{f.target.StartTimeout, f.log, "the schema registry does not answer; trying again"}.wait(ctx, func() error {
		id, err := f.ask(ctx)
		if err != nil {
			return f.explain(err)
		}
		f.header = binary.BigEndian.AppendUint32([]byte{0}, id)
		f.log.Info("the registry has the schema of the rows", "schema", id)
		return nil
	}, func(err error) error {
		return fmt.Errorf("kafka: no word from the schema registry %s after %v: %w", strings.Join(f.options.Registry.URLs, ","), f.target.StartTimeout, err)
	})
}

func (f *avroForm) ask(ctx context.Context) (uint32, error) {
	ctx, cancel := context.WithTimeout(ctx, kafkaconn.RequestTimeout)
	defer cancel()
	schema, subject := schemaregistry.Schema{Type: "AVRO", Text: f.rows.Schema()}, f.options.subject(f.target.Topic)
	if f.options.Register {
		return f.client.Register(ctx, subject, schema)
	}
	return f.client.Find(ctx, subject, schema, f.rows.Same)
}

// explain returns err as a [kafkaconn.FatalError] if it is one, and otherwise as it is: worth another try.
func (f *avroForm) explain(err error) error {
	var unknown *schemaregistry.NotFoundError
	var refused *schemaregistry.RefusedError
	advice := ""
	switch {
	case errors.As(err, &unknown) && !f.options.Register:
		advice = "it has no schema for these columns, and register is false: register what \"urlmill config avro-schema\" prints, or take register out"
	case errors.As(err, &refused) && refused.Login():
		advice = "check username and password, or token, of avro.registry, and that they may read and write the subject"
	case errors.As(err, &refused) && refused.Incompatible():
		advice = "the columns have changed in a way that the subject's compatibility forbids; by the usual one, columns that may be null can be added, " +
			"any can be left out, and types stay: change columns back, write to another topic, or lower the subject's compatibility"
	case errors.As(err, &refused):
		advice = "the registry does not take the schema; with register: false one that is registered already is looked up"
	}
	if advice == "" {
		return err
	}
	return fatal(f.target.Topic, err, advice)
}

func (f *avroForm) newAppender() appender {
	e := f.rows.NewEncoder()
	return func(dst []byte, ends []int, r arrow.Record) ([]byte, []int, error) {
		return e.Append(dst, ends, f.header, r)
	}
}
