package kubernetes

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
	"sigs.k8s.io/yaml"
)

var (
	root = filepath.Join("..", "..", "..", "..")
	// deploy is where the manifests are, chartDir the chart, clicks the values that they are made of.
	deploy    = filepath.Join(root, "docs", "deploy")
	manifests = filepath.Join(deploy, "kubernetes.yaml")
	chartDir  = filepath.Join(deploy, "kubernetes", "urlmill")
	page      = filepath.Join(root, "docs", "plugins", "kubernetes.md")
	clicks    = filepath.Join(deploy, "kubernetes", "clicks.yaml")
)

// kubeVersion is that of the server that the tests are of: k8s.io/kubernetes in go.mod.
const kubeVersion = "v1.36.3"

// values is what a chart is rendered with.
type values = map[string]any

// valuesOf reads values as "helm -f" does.
func valuesOf(t *testing.T, text []byte) values {
	t.Helper()
	var v values
	if err := yaml.UnmarshalStrict(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// clicksWith returns the values of clicks.yaml and, over them, those of a text.
func clicksWith(t *testing.T, text string) values {
	t.Helper()
	return over(valuesOf(t, read(t, clicks)), valuesOf(t, []byte(text)))
}

// over merges values as Helm merges files: maps by key, everything else whole.
func over(under, upper values) values {
	for k, v := range upper {
		below, ok := under[k].(values)
		if m, isMap := v.(values); ok && isMap {
			v = over(below, m)
		}
		under[k] = v
	}
	return under
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// render renders the chart as "helm template RELEASE" does, its values judged by their schema, and returns the documents in
// the order in which they are applied.
func render(t *testing.T, release string, v values) (documents []string, err error) {
	t.Helper()
	chart, err := loader.Load(chartDir)
	if err != nil {
		t.Fatal(err)
	}
	caps := chartutil.DefaultCapabilities.Copy()
	if caps.KubeVersion = (chartutil.KubeVersion{Version: kubeVersion, Major: "1", Minor: "36"}); !chartutil.IsCompatibleRange(chart.Metadata.KubeVersion, caps.KubeVersion.Version) {
		t.Fatalf("Kubernetes %s is none of %s", caps.KubeVersion.Version, chart.Metadata.KubeVersion)
	}
	all, err := chartutil.ToRenderValues(chart, v, chartutil.ReleaseOptions{Name: release, Namespace: "default", Revision: 1, IsInstall: true}, caps)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(chart, all)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasSuffix(name, "NOTES.txt") })
	hooks, sorted, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return nil, err
	}
	if len(hooks) > 0 {
		t.Errorf("%d hooks, which the tests do not look at", len(hooks))
	}
	for _, m := range sorted {
		documents = append(documents, strings.TrimSpace(m.Content)+"\n")
	}
	return documents, nil
}

// mustRender is render of the release "urlmill", which does not fail.
func mustRender(t *testing.T, v values) []string {
	t.Helper()
	documents, err := render(t, "urlmill", v)
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

// split takes a file with several documents apart, and leaves out those that are comments alone.
func split(text []byte) []string {
	files := releaseutil.SplitManifests(string(text))
	names := slices.SortedFunc(maps.Keys(files), func(a, b string) int {
		if releaseutil.BySplitManifestsOrder([]string{a, b}).Less(0, 1) {
			return -1
		}
		return 1
	})
	var out []string
	for _, name := range names {
		var o any
		if err := yaml.Unmarshal([]byte(files[name]), &o); err == nil && o == nil {
			continue
		}
		out = append(out, files[name])
	}
	return out
}
