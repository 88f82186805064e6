package urlcols

import (
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/enrich"
	"github.com/urlmill/urlmill/urlcore/columns"
)

// column is a column of the output and how it is made.
type column struct {
	name     string
	typ      arrow.DataType
	nullable bool
	want     columns.Mask // what it needs of the parser
	comment  string
	build    func(*state) *array.Data

	extra    bool         // it is there only where it is named
	asked    string       // the option that adds it, such as promote[0]; empty: the source or the URL has it anyway
	part     bool         // it is a part of the URL, for which a profile has its own names
	rename   string       // its name in the profile
	key      string       // its name before it was given another; set for what is chosen
	carried  int          // 1 + index of the carried field that it is
	also     int          // 1 + index of the other URL that it is a part of
	alsoWant columns.Mask // what it needs of the parser there

	acquired    bool // it is of the acquisition columns
	acquisition enrich.Column

	described bool // it is of the columns of the client
	client    enrich.ClientColumn
}

var (
	utf8Type      = arrow.BinaryTypes.String
	binaryType    = arrow.BinaryTypes.Binary
	int32Type     = arrow.PrimitiveTypes.Int32
	int64Type     = arrow.PrimitiveTypes.Int64
	boolType      = arrow.FixedWidthTypes.Boolean
	timestampType = &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}

	paramsType = arrow.ListOfNonNullable(arrow.StructOf(
		arrow.Field{Name: "key", Type: utf8Type},
		arrow.Field{Name: "value", Type: utf8Type},
	))
	headersType = arrow.ListOfNonNullable(arrow.StructOf(
		arrow.Field{Name: "key", Type: utf8Type},
		arrow.Field{Name: "value", Type: binaryType, Nullable: true},
	))
)

// available lists all columns that a source with these options can have, in their default order.
func available(opts Options) []column {
	cols := []column{{
		name: "url", typ: utf8Type, nullable: true, build: (*state).urls,
		comment: "the URL as read; null where the record has none",
	}}
	if opts.HasBase {
		cols = append(cols, column{
			name: "base_url", typ: utf8Type, nullable: true, build: (*state).baseURLs,
			comment: "the base URL that url was resolved against",
		})
	}
	cols[0].part = true
	for _, c := range urlColumns(opts) {
		c.part = true
		cols = append(cols, c)
	}
	cols = append(cols, errorColumns()...)
	// Sources without a provenance make their fields themselves, and of their types.
	if len(opts.Carried) > 0 && opts.Provenance != NoProvenance {
		cols = append(cols, column{
			name: "field_error", typ: utf8Type, nullable: true, build: (*state).fieldError,
			comment: "field-type: and the first field carried along that is null because its value is not of its type; raw has the record",
		})
	}
	cols = append(cols, column{
		name: "raw", typ: binaryType, nullable: true, build: (*state).raw,
		comment: "the record as received, where url is not its text: it could not be decoded, has a field_error, or is not UTF-8",
	})
	cols = append(cols, provenance(opts.Provenance)...)
	for i, f := range opts.Carried {
		cols = append(cols, column{
			name: f.Name, typ: carriedType(f.Type), nullable: true, carried: i + 1,
			build:   func(s *state) *array.Data { return s.carried(i) },
			comment: "carried along from the record",
		})
	}
	return slices.Concat(cols, derivedColumns(opts), extraColumns(), compactColumns(opts))
}

// paramsColumn is the column of the query's parameters, without those that tracking_params has.
func paramsColumn(opts Options) column {
	c := column{
		name: "params", typ: paramsTypeOf(opts), nullable: true, want: columns.Params, build: (*state).params,
		comment: "names and values of the query, decoded, in their order; null for a URL without a query",
	}
	if opts.Tracking {
		c.want |= columns.RegistrableDomain
		c.build = (*state).otherParams
		c.comment += "; without those in tracking_params"
	}
	return c
}

func urlColumns(opts Options) []column {
	text := func(name string, want columns.Mask, get func(*columns.Columns) *columns.Text, comment string) column {
		return column{
			name: name, typ: utf8Type, nullable: true, want: want, comment: comment,
			build: func(s *state) *array.Data { return s.text(get(&s.cols)) },
		}
	}
	return []column{
		text("href", columns.Href, func(c *columns.Columns) *columns.Text { return &c.Href },
			"the URL as the URL Standard serializes it; null, like all of its parts, for a url that is none"),
		text("scheme", columns.Scheme, func(c *columns.Columns) *columns.Text { return &c.Scheme }, "without the colon"),
		{
			name: "has_username", typ: boolType, nullable: true, want: columns.HasUsername, build: (*state).hasUsername,
			comment: "whether the URL has a username; the name itself stands in href alone",
		},
		text("host", columns.Host, func(c *columns.Columns) *columns.Text { return &c.Host },
			"domain in ASCII, IPv4 or [IPv6] address; null for a URL without"),
		{
			name: "port", typ: int32Type, nullable: true, want: columns.Port, build: (*state).port,
			comment: "null for the default port of the scheme",
		},
		text("origin", columns.Origin, func(c *columns.Columns) *columns.Text { return &c.Origin },
			"scheme://host[:port]; null for an opaque origin, which is equal to no other"),
		text("registrable_domain", columns.RegistrableDomain,
			func(c *columns.Columns) *columns.Text { return &c.RegistrableDomain },
			"public suffix and one label more; null for an address or a public suffix"),
		text("public_suffix", columns.PublicSuffix, func(c *columns.Columns) *columns.Text { return &c.PublicSuffix },
			"by the Public Suffix List; null for an address"),
		text("path", columns.Path, func(c *columns.Columns) *columns.Text { return &c.Path }, "percent-encoded"),
		text("query", columns.Query, func(c *columns.Columns) *columns.Text { return &c.Query },
			"percent-encoded, without the question mark; null for a URL without"),
		paramsColumn(opts),
		text("fragment", columns.Fragment, func(c *columns.Columns) *columns.Text { return &c.Fragment },
			"percent-encoded, without the number sign; null for a URL without"),
	}
}

func errorColumns() []column {
	return []column{
		{
			name: "url_error", typ: utf8Type, nullable: true, build: (*state).errorCode,
			comment: "why there is no URL; null where there is one",
		},
		{
			name: "url_error_pos", typ: int32Type, nullable: true, build: (*state).errorPos,
			comment: "byte position of the error in url, base_url or raw; null where it has none",
		},
	}
}

func provenance(p Provenance) []column {
	offset := func(name, comment string) column {
		return column{name: name, typ: int64Type, build: (*state).offset, comment: comment}
	}
	stream := func(name, comment string) column {
		return column{name: name, typ: utf8Type, build: (*state).stream, comment: comment}
	}
	switch p {
	case FileProvenance:
		return []column{
			stream("file", "path of the file as given, - for standard input"),
			offset("record", "number of the record in the file, from 0"),
		}
	case KafkaProvenance:
		return []column{
			stream("topic", "Kafka topic"),
			{name: "partition", typ: int32Type, build: (*state).partition, comment: "Kafka partition"},
			offset("offset", "Kafka offset"),
			{
				name: "timestamp", typ: timestampType, nullable: true, build: (*state).timestamp,
				comment: "Kafka timestamp",
			},
			{name: "key", typ: binaryType, nullable: true, build: (*state).key, comment: "Kafka message key"},
			{name: "headers", typ: headersType, nullable: true, build: (*state).headers, comment: "Kafka headers"},
		}
	default:
		return nil
	}
}

// deadLetterColumns lists the columns of the table DeadLetters: the record as received, where it came from
// and what was wrong with it.
func deadLetterColumns(opts Options) []column {
	return append(append(provenance(opts.Provenance), errorColumns()...), column{
		name: "raw", typ: binaryType, nullable: true, build: (*state).rawRecord,
		comment: "the record as received; null for a tombstone",
	})
}

func carriedType(t pipeline.FieldType) arrow.DataType {
	switch t {
	case pipeline.Int64:
		return int64Type
	case pipeline.Float64:
		return arrow.PrimitiveTypes.Float64
	case pipeline.Bool:
		return boolType
	case pipeline.Timestamp:
		return timestampType
	default:
		return utf8Type
	}
}
