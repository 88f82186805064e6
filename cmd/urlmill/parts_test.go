package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/wire"
)

// TestBuiltWithout: a binary that is built without parts says so, and says it before it starts what needs them.
func TestBuiltWithout(t *testing.T) {
	run := func(args ...string) (stdout, stderr string, code int) {
		var out, err bytes.Buffer
		code = execute(args, &app{in: strings.NewReader(""), out: &out, err: &err, components: wire.Light()})
		return out.String(), err.String(), code
	}
	for use, part := range map[string]string{"dedupe": "the search for duplicates", "warehouse": "Iceberg tables"} {
		stdout, stderr, code := run("demo", "--use", use, "--records", "10")
		if stdout != "" || code == 0 || !strings.HasPrefix(stderr, "examples/"+use+".yaml:") || !strings.Contains(stderr, "built without "+part) {
			t.Errorf("%s: %d\n%s%s", use, code, stdout, stderr)
		}
	}
	if _, stderr, code := run("verify", "s3://lake/clicks"); code != exitUsage || !strings.Contains(stderr, "built without S3: take a release") {
		t.Errorf("verify of a place on S3: %d %s", code, stderr)
	}
	if stdout, _, _ := run("version"); !strings.Contains(stdout, "\nbuilt without        azure, dedupe, duckdb, gcs, iceberg, ") {
		t.Error(stdout)
	}
	var v struct {
		LeftOut []string `json:"left_out"`
	}
	stdout, _, _ := run("version", "--json")
	if err := json.NewDecoder(strings.NewReader(stdout)).Decode(&v); err != nil || len(v.LeftOut) != len(wire.Light().LeftOut()) {
		t.Errorf("%v: %s", err, stdout)
	}
	out := new(bytes.Buffer)
	execute([]string{"version"}, &app{out: out, err: io.Discard, components: wire.Standard()})
	if without := strings.Join(wire.Standard().LeftOut(), ", "); !strings.HasSuffix(out.String(), "built without        "+without+"\n") {
		t.Errorf("%s, without %s", out, without)
	}
}
