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
	kinds := map[string]bool{}
	for _, name := range []string{"kubernetes.yaml", "cronjob.yaml"} {
		manifests(t, filepath.Join(root, "docs", "deploy", name), kinds)
	}
	if !kinds["ConfigMap"] || !kinds["Deployment"] || !kinds["CronJob"] {
		t.Errorf("kinds: %v", kinds)
	}
}

// manifests checks those of a file, and adds their kinds.
func manifests(t *testing.T, file string, kinds map[string]bool) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
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
}
