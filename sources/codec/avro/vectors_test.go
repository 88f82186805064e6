package avro

import (
	"testing"

	"github.com/urlmill/urlmill/sources/codec/schema"
	"github.com/urlmill/urlmill/sources/codec/schema/schematest"
)

// TestVectors reads what another implementation has written; see testdata/vectors.py.
func TestVectors(t *testing.T) {
	schematest.Vectors(t, func(o schema.Options, record []byte) map[string]any {
		return row(t, o, record)
	})
}
