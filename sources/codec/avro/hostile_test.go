package avro

import (
	"runtime"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/sources/codec/schema"
)

// TestDeepSchema: a schema that nests deeply is an error in memory of its length.
func TestDeepSchema(t *testing.T) {
	const depth = 200_000
	text := strings.Repeat(`{"type":"array","items":`, depth) + `"int"` + strings.Repeat("}", depth)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := New(schema.Options{Schema: schemaregistry.Schema{Text: text}, URL: "/u"})
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "more than 500 brackets") {
		t.Error(err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > uint64(4*len(text)) {
		t.Errorf("%d bytes allocated %d", len(text), n)
	}
}
