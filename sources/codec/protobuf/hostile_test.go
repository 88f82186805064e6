package protobuf

import (
	"runtime"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/sources/codec/schema"
)

// TestDeepSchema: a schema that nests deeply, or a file that it imports, is an error in memory of its length.
func TestDeepSchema(t *testing.T) {
	const depth = 100_000
	text := `syntax = "proto3"; ` + strings.Repeat("message A {", depth) + strings.Repeat("}", depth)
	for name, s := range map[string]schemaregistry.Schema{
		"schema": {Text: text},
		"import": {Text: `syntax = "proto3"; import "a.proto"; message M {}`, References: []schemaregistry.Reference{{Name: "a.proto", Text: text}}},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := New(Options{Options: schema.Options{Schema: s, URL: "/u"}})
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "more than 500 brackets") {
			t.Errorf("%s: %v", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(4*len(text)) {
			t.Errorf("%s: %d bytes allocated %d", name, len(text), n)
		}
	}
}
