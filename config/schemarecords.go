package config

import (
	"slices"
	"time"
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
	Password Secret
	Token    Secret
	TLS      TLS // for URLs with https; Enabled is not asked for
	Timeout  time.Duration
}

// DefaultRegistry returns the defaults of a registry.
func DefaultRegistry() Registry { return Registry{Timeout: 10 * time.Second} }

func registrySchema(r *Registry) object {
	return object{
		fields: []field{
			{name: "urls", value: texts(&r.URLs, "[http://localhost:8081]"), example: "urls: [http://localhost:8081]"},
			{name: "username", value: text(&r.Username, "urlmill")},
			{name: "password", value: secret(&r.Password)},
			{name: "token", value: secret(&r.Token)},
			{name: "tls", value: section(&r.TLS, registryTLSSchema)},
			{name: "timeout", value: duration(&r.Timeout, time.Millisecond, maxTimeout)},
		},
		check: func(d *decoder, path string) { checkRegistry(d, path, r) },
	}
}

// registryTLSSchema has no switch: the URL says whether connections are encrypted.
func registryTLSSchema(t *TLS) object {
	t.Enabled = true
	o := tlsSchema(t)
	o.fields = slices.DeleteFunc(o.fields, func(f field) bool { return f.name == "enabled" })
	return o
}

func checkRegistry(d *decoder, path string, r *Registry) {
	user, password, token := join(path, "username"), join(path, "password"), join(path, "token")
	switch {
	case r.Token != "" && (r.Username != "" || r.Password != ""):
		d.conflict(token, []string{user, password}, "token is given beside username and password; keep one of the two ways to log in")
	case r.Username != "" && r.Password == "":
		d.conflict(user, []string{password}, "username needs password beside it")
	case r.Password != "" && r.Username == "":
		d.conflict(password, []string{user}, "password needs username beside it")
	}
}

// schemaRecordsSchema is what all formats have in common, and more fields of one.
func schemaRecordsSchema(s *SchemaRecords, more ...field) object {
	return object{
		fields: append([]field{
			{name: "registry", value: optional(&s.Registry, DefaultRegistry, registrySchema)},
			{name: "url", value: pointer(&s.URL, false), example: "url: /url"},
			{name: "base", value: pointer(&s.Base, false)},
			{name: "carry", value: list(&s.Carry, DefaultCarry, "[{name: user_id, pointer: /user/id, type: int64}]", carrySchema)},
		}, more...),
		check: func(d *decoder, path string) {
			checkCarry(d, path, s.Carry)
			if at := join(path, "framed"); s.Registry != nil && d.given(at) {
				d.conflict(at, []string{join(path, "registry")}, "records of a registry always begin with its header; take framed out")
			}
		},
	}
}

func avroSchema(s *SchemaRecords) object {
	o := schemaRecordsSchema(s,
		field{name: "schema", value: text(&s.Schema, "click.avsc")},
		field{name: "framed", value: boolean(&s.Framed)},
	)
	o.oneOf = []string{"registry", "schema"}
	return o
}

func protobufSchema(s *SchemaRecords) object {
	o := schemaRecordsSchema(s,
		field{name: "schema", value: text(&s.Schema, "click.proto")},
		field{name: "message", value: text(&s.Message, "org.example.Click")},
		field{name: "framed", value: boolean(&s.Framed)},
	)
	o.oneOf = []string{"registry", "schema"}
	common := o.check
	o.check = func(d *decoder, path string) {
		common(d, path)
		if at := join(path, "message"); s.Registry != nil && d.given(at) {
			d.conflict(at, []string{join(path, "registry")}, "records of a registry say which message they are; take message out")
		}
	}
	return o
}

func jsonSchemaSchema(s *SchemaRecords) object { return schemaRecordsSchema(s) }

// checkSchemaRecords reports codecs of records that have no place in lines.
func checkSchemaRecords(d *decoder, path string, s *Source) {
	if at := join(join(path, "codec"), "parquet"); s.Codec.Parquet != nil && s.File == nil {
		d.conflict(at, []string{join(path, "file")}, "parquet is for files; read them with source.file")
	}
	if s.Kafka != nil {
		return
	}
	for name, given := range map[string]bool{"avro": s.Codec.Avro != nil, "protobuf": s.Codec.Protobuf != nil, "jsonschema": s.Codec.JSONSchema != nil} {
		if given {
			d.conflict(join(join(path, "codec"), name), []string{join(path, "kafka")},
				"%s is for the records of a topic, and a file is read by lines; read it with source.kafka", name)
		}
	}
}
