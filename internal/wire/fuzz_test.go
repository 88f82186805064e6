package wire

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/urlmill/urlmill/config"
)

// FuzzLoad checks that nothing in a configuration makes reading or checking it panic, and that what is refused is refused
// with a place and a message.
func FuzzLoad(f *testing.F) {
	root := filepath.Join("..", "..")
	for _, pattern := range []string{"internal/wire/testdata/good/*.yaml", "internal/wire/testdata/bad/*.yaml", "examples/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
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
	env := config.Env{
		Lookup:   func(string) (string, bool) { return "kafka-1:9092", true },
		ReadFile: func(string) ([]byte, error) { return []byte("secret"), nil },
	}
	registry := Standard()
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := registry.Parse("fuzz.yaml", data, env)
		if err == nil {
			err = Check(c)
		}
		if err == nil {
			return
		}
		var e *config.Error
		if !errors.As(err, &e) || len(e.Problems) == 0 {
			t.Fatalf("error %v, want *config.Error with problems", err)
		}
		for _, p := range e.Problems {
			if p.Message == "" {
				t.Errorf("no message at %d:%d", p.Line, p.Column)
			}
		}
	})
}
