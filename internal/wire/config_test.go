package wire

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/dev/alloctest"
)

// theSecret must not be in any message.
const theSecret = "hunter2"

// testEnv knows a few variables, and the real files.
func testEnv() config.Env {
	variables := map[string]string{
		"PASSWORD": theSecret,
		"BROKERS":  "kafka-1:9092, kafka-2:9092",
		"TOPIC":    "clicks",
		"TLS":      "true",
		"SIZE":     "4MiB",
		"BUFFERS":  "5",
		"EMPTY":    "",
	}
	return config.Env{
		Lookup:   func(name string) (string, bool) { v, ok := variables[name]; return v, ok },
		ReadFile: os.ReadFile,
	}
}

// TestBad checks that every file of testdata/bad is refused with exactly the problems that its lines "# want" name.
func TestBad(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for line := range strings.Lines(string(data)) {
				if w, ok := strings.CutPrefix(line, "# want "); ok {
					want = append(want, strings.TrimSuffix(w, "\n"))
				}
			}
			c, err := Standard().Load(file, testEnv())
			if err == nil {
				err = Check(c)
			}
			var e *config.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v, want *Error", err)
			}
			var got []string
			for _, p := range e.Problems {
				got = append(got, fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Message))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if strings.Contains(err.Error(), theSecret) || strings.Contains(err.Error(), "12345678") {
				t.Errorf("the secret is in the message: %v", err)
			}
			if !strings.HasPrefix(err.Error(), file+":") {
				t.Errorf("message without the file: %v", err)
			}
		})
	}
}

// TestEndless checks that files without an end are refused, and neither read for ever nor kept.
func TestEndless(t *testing.T) {
	const endless = "/dev/zero"
	if _, err := os.Stat(endless); err != nil {
		t.Skip("this system has no " + endless)
	}
	if _, err := Standard().Load(endless, config.OSEnv()); err == nil || !strings.Contains(err.Error(), "larger than 1MiB") {
		t.Errorf("as a configuration: %v", err)
	}
	if _, err := Standard().Parse("c.yaml", []byte("on_error: ${file:"+endless+"}"), config.OSEnv()); err == nil || !strings.Contains(err.Error(), "it has to hold a single value") {
		t.Errorf("as a value: %v", err)
	}
	for _, list := range []string{"columns: {tracking: separate, tracking_rules: ", "enrich: {acquisition: {channels: ", "enrich: {address: {field: a, files: [", "privacy: {method: hash, keys: "} {
		text := "source: {file: {paths: [a]}, codec: {ndjson: {url: /u, carry: [{name: a, pointer: /a}]}}}\nsink: {parquet: {path: out}}\n" + list + endless
		c, err := Standard().Parse("c.yaml", []byte(text+strings.Repeat("]", strings.Count(list, "["))+strings.Repeat("}", strings.Count(list, "{"))), config.OSEnv())
		if err != nil {
			t.Fatal(err)
		}
		if _, err = ReadLists(c); err == nil || !strings.Contains(err.Error(), "/dev/zero is no regular file") {
			t.Errorf("%s: %v", list, err)
		}
	}
}

// TestGood checks what every file of testdata/good says, against the keys and values in the file beside it.
func TestGood(t *testing.T) {
	files, err := filepath.Glob("testdata/good/*.yaml")
	if err != nil || len(files) < 16 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			c, err := Standard().Load(file, testEnv())
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, s := range config.Settings(c.Section()) {
				fmt.Fprintf(&got, "%s: %s\n", s.Path, s.Value)
			}
			want, err := os.ReadFile(strings.TrimSuffix(file, ".yaml") + ".settings")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if c.File() != file {
				t.Errorf("File() = %q", c.File())
			}
		})
	}
}

func TestProblemPositions(t *testing.T) {
	c, err := Standard().Parse("x.yaml", []byte("source:\n  file:\n    paths:\n      - a\n      - b\nsink: {parquet: {path: out}}\n"), testEnv())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"source.file.paths[1]":    "x.yaml:5:9: no",
		"source.file.paths[7]":    "x.yaml:4:7: no",
		"source.file.parallel":    "x.yaml:2:3: no",
		"sink.parquet.path":       "x.yaml:6:24: no",
		"sink.roll.bytes":         "x.yaml:6:1: no",
		"pipeline.batch_rows":     "x.yaml: no",
		"source.kafka.brokers[0]": "x.yaml:1:1: no",
	} {
		if got := c.Errors([]config.Problem{c.Problem(path, "%s", "no")}).Error(); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	v, err := Standard().Parse("x.yaml", []byte("source: {file: {paths: ['${PASSWORD}/a']}}\nsink: {parquet: {path: '${TOPIC}'}}\n"), testEnv())
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Problem("source.file.paths[0]", "%s is no clicks", v.Source.Options.Asks().Paths[0]).Message; got != "${PASSWORD}/a is no clicks" {
		t.Errorf("message %q", got)
	}
	if c.Errors(nil) != nil {
		t.Error("an error without problems")
	}
	if got := c.Hash(); got == v.Hash() || len(got) != len("sha256:")+64 {
		t.Errorf("Hash() = %q", got)
	}
	if !c.Given("source.file.paths") || c.Given("source.kafka") {
		t.Error("Given is wrong")
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := Standard().Load(filepath.Join(dir, "none.yaml"), testEnv()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := Standard().Load(dir, testEnv()); err == nil {
		t.Error("a folder was read")
	}
	big := filepath.Join(dir, "big.yaml")
	if err := os.WriteFile(big, bytes.Repeat([]byte("#\n"), config.MaxFileSize), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Standard().Load(big, testEnv()); err == nil || !strings.Contains(err.Error(), "larger than 1MiB") {
		t.Errorf("large file: %v", err)
	}
	_, err := Standard().Parse("x", []byte("source: é\nsink: é\xff\n"), testEnv())
	if err == nil || err.Error() != "x:2:8: not UTF-8 here; save the file as UTF-8" {
		t.Errorf("invalid UTF-8: %v", err)
	}
	_, err = Standard().Parse("x", []byte("a:\n"+strings.Repeat("[", config.MaxFileSize-10)), testEnv())
	if err == nil || err.Error() != "x:2:501: more than 500 brackets are open here; close some" {
		t.Errorf("deep nesting: %v", err)
	}
	_, err = Standard().Parse("x", bytes.Repeat([]byte("#\n"), config.MaxFileSize), testEnv())
	if err == nil || !strings.Contains(err.Error(), "larger than 1MiB") {
		t.Errorf("large text: %v", err)
	}
}

func TestLargeSubstitutedFile(t *testing.T) {
	env := testEnv()
	env.ReadFile = func(string) ([]byte, error) { return make([]byte, config.MaxFileSize+1), nil }
	_, err := Standard().Parse("x", []byte("source: {file: {paths: [\"${file:a}\"]}}\nsink: {parquet: {path: out}}\n"), env)
	if err == nil || !strings.Contains(err.Error(), "has to hold a single value") {
		t.Error(err)
	}
}

// FuzzParse checks that no input makes Parse panic, that its errors have positions within the file, and that
// what a variable held is in none of them.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/good/*.yaml", "testdata/bad/*.yaml", "../../examples/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	env := testEnv()
	env.ReadFile = func(string) ([]byte, error) { return nil, os.ErrNotExist }
	registry := Standard()
	f.Fuzz(func(t *testing.T, data []byte) {
		var c *Config
		var err error
		parsed := false
		alloctest.Bound(t, len(data), 16<<10, 64<<20, func() { // rules of user agents take 40 MiB
			if c, err = registry.Parse("f.yaml", data, env); err == nil {
				parsed, err = true, Check(c)
			}
		})
		if parsed && (c.Sink.Options == nil || c.Source.Options == nil) {
			t.Error("accepted without a sink, or without a source")
		}
		if err == nil {
			return
		}
		var e *config.Error
		if !errors.As(err, &e) || len(e.Problems) == 0 {
			t.Fatalf("error %T %v", err, err)
		}
		for _, p := range e.Problems {
			if p.Message == "" {
				t.Errorf("no message at %d:%d", p.Line, p.Column)
			}
			if p.Line < 1 || p.Column < 1 || p.Line > bytes.Count(data, []byte("\n"))+bytes.Count(data, []byte("\r"))+1 {
				t.Errorf("position %d:%d of %q", p.Line, p.Column, p.Message)
			}
		}
		if strings.Contains(err.Error(), theSecret) && !bytes.Contains(data, []byte(theSecret)) {
			t.Errorf("the secret is in the message: %v", err)
		}
	})
}
