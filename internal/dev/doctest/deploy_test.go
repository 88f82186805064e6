package doctest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/wire"
)

// TestKubernetes checks that the manifests are YAML, and the configuration in them one.
func TestKubernetes(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "deploy", "kubernetes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var doc struct {
			Kind string
			Data map[string]string
		}
		if err := d.Decode(&doc); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		kinds[doc.Kind] = true
		for name, pipeline := range doc.Data {
			// Everything that is secret comes from variables, which the Deployment has of a Secret.
			env := config.Env{Lookup: func(string) (string, bool) { return "0123456789abcdef", true }, ReadFile: os.ReadFile}
			if _, err := wire.Standard().Parse(name, []byte(pipeline), env); err != nil {
				t.Error(err)
			}
		}
	}
	if !kinds["ConfigMap"] || !kinds["Deployment"] {
		t.Errorf("kinds: %v", kinds)
	}
}
