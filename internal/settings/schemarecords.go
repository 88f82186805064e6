package settings

import (
	"slices"
	"time"

	"github.com/urlmill/urlmill/config"
)

// SchemaRecords are records that have a schema.
type SchemaRecords struct {
	Registry *Registry // nil: Schema has it
	Schema   string    // path of a file
	Framed   bool      // without a registry: records begin with a header all the same
	Message  string    // of Protobuf without a registry: what records are
	URL      string    // JSON pointer
	Base     string    // JSON pointer, or "" for none
	Carry    []Carry
}

// Registry is a schema registry.
type Registry struct {
	URLs     []string
	Username string
	Password config.Secret
	Token    config.Secret
	TLS      TLS // for URLs with https; Enabled is not asked for
	Timeout  time.Duration
}

// DefaultRegistry returns the defaults of a registry.
func DefaultRegistry() Registry { return Registry{Timeout: 10 * time.Second} }

func registrySchema(r *Registry) config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "urls", Doc: "Where it is; of several the next is asked when one cannot be reached.", Value: config.Texts(&r.URLs, "[http://localhost:8081]"), Example: "urls: [http://localhost:8081]"},
			{Name: "username", Doc: "Who logs in.", Value: config.Text(&r.Username, "urlmill")},
			{Name: "password", Doc: "The password; it is never printed. Best from a variable or a file.", Value: config.SecretText(&r.Password)},
			{Name: "token", Doc: "A bearer token to log in with.", Value: config.SecretText(&r.Token)},
			{Name: "tls", Doc: "Certificates, for URLs with https.", Value: config.Map(registryTLSSchema(&r.TLS))},
			{Name: "timeout", Doc: "How long a request may take.", Value: config.Duration(&r.Timeout, time.Millisecond, maxTimeout)},
		},
		Check: func(d *config.Check) { checkRegistry(d, r) },
	}
}

// registryTLSSchema has no switch: the URL says whether connections are encrypted.
func registryTLSSchema(t *TLS) config.Section {
	t.Enabled = true
	o := tlsSchema(t)
	o.Fields = slices.DeleteFunc(o.Fields, func(f config.Field) bool { return f.Name == "enabled" })
	return o
}

func checkRegistry(d *config.Check, r *Registry) {
	user, password, token := "username", "password", "token"
	switch {
	case r.Token != "" && (r.Username != "" || r.Password != ""):
		d.Conflict(token, []string{user, password}, "token is given beside username and password; keep one of the two ways to log in")
	case r.Username != "" && r.Password == "":
		d.Conflict(user, []string{password}, "username needs password beside it")
	case r.Password != "" && r.Username == "":
		d.Conflict(password, []string{user}, "password needs username beside it")
	}
}

// schemaRecordsSchema is what all formats have in common, and more fields of one.
func schemaRecordsSchema(s *SchemaRecords, more ...config.Field) config.Section {
	return config.Section{
		Fields: append([]config.Field{
			{Name: "registry", Doc: "The schema registry, which speaks Confluent's protocol. While it cannot be reached, records wait.", Value: config.Optional(&s.Registry, DefaultRegistry, registrySchema)},
			{Name: "url", Doc: "Pointer to the URL: names of fields, keys of maps, numbers of elements.", Value: config.Pointer(&s.URL, false), Example: "url: /url"},
			{Name: "base", Doc: "Pointer to what a relative URL is resolved against.", Value: config.Pointer(&s.Base, false)},
			{Name: "carry", Doc: "Fields that go along as columns of their own.", Value: config.List(&s.Carry, DefaultCarry, "[{name: user_id, pointer: /user/id, type: int64}]", carrySchema)},
		}, more...),
		Check: func(d *config.Check) {
			checkCarry(d, s.Carry)
			if at := "framed"; s.Registry != nil && d.Given(at) {
				d.Conflict(at, []string{"registry"}, "records of a registry always begin with its header; take framed out")
			}
		},
	}
}

func avroSchema(s *SchemaRecords) config.Section {
	o := schemaRecordsSchema(s,
		config.Field{Name: "schema", Doc: "File with the schema, where there is no registry.", Value: config.Text(&s.Schema, "click.avsc")},
		config.Field{Name: "framed", Doc: "Whether records begin with a registry's header although there is no registry.", Value: config.Bool(&s.Framed)},
	)
	o.OneOf = []string{"registry", "schema"}
	return o
}

func protobufSchema(s *SchemaRecords) config.Section {
	o := schemaRecordsSchema(s,
		config.Field{Name: "schema", Doc: "File with the schema, where there is no registry; what it imports is looked for beside it.", Value: config.Text(&s.Schema, "click.proto")},
		config.Field{Name: "message", Doc: "The message that records are, without a registry. Not needed where the file has but one.", Value: config.Text(&s.Message, "org.example.Click")},
		config.Field{Name: "framed", Doc: "Whether records begin with a registry's header although there is no registry.", Value: config.Bool(&s.Framed)},
	)
	o.OneOf = []string{"registry", "schema"}
	common := o.Check
	o.Check = func(d *config.Check) {
		common(d)
		if at := "message"; s.Registry != nil && d.Given(at) {
			d.Conflict(at, []string{"registry"}, "records of a registry say which message they are; take message out")
		}
	}
	return o
}

func jsonSchemaSchema(s *SchemaRecords) config.Section { return schemaRecordsSchema(s) }

// checkSchemaRecords reports codecs of records that have no place in lines.
func checkSchemaRecords(d *config.Check, s *Source) {
	if at := config.Join("codec", "parquet"); s.Codec.Parquet != nil && s.File == nil {
		d.Conflict(at, []string{"file"}, "parquet is for files; read them with source.file")
	}
	if s.Kafka != nil {
		return
	}
	for name, given := range map[string]bool{"avro": s.Codec.Avro != nil, "protobuf": s.Codec.Protobuf != nil, "jsonschema": s.Codec.JSONSchema != nil} {
		if given {
			d.Conflict(config.Join("codec", name), []string{"kafka"},
				"%s is for the records of a topic, and a file is read by lines; read it with source.kafka", name)
		}
	}
}
