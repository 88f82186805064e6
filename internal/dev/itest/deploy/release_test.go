package deploy

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// release is what .goreleaser.yaml says that the tests look at.
type release struct {
	Version int
	Env     []string
	Before  struct{ Hooks []string }
	Builds  []struct {
		Main, Binary      string
		Env, Goos, Goarch []string
		Flags, Ldflags    []string
		ModTimestamp      string `yaml:"mod_timestamp"`
	}
	Archives []struct {
		Files []struct{ Src string }
	}
	Checksum struct {
		NameTemplate string `yaml:"name_template"`
		Algorithm    string
		ExtraFiles   []glob `yaml:"extra_files"`
	}
	Release struct {
		ExtraFiles []glob `yaml:"extra_files"`
	}
	Sboms       []struct{ Artifacts string }
	Signs       []signing
	DockerSigns []signing `yaml:"docker_signs"`
	Dockers     []struct {
		Dockerfile              string
		Images, Tags, Platforms []string
		ExtraFiles              []string `yaml:"extra_files"`
		Flags                   []string
		Sbom                    *bool
	} `yaml:"dockers_v2"`
}

// signing is how something is signed.
type signing struct {
	Cmd, Signature, Artifacts string
	Args                      []string
}

type glob struct{ Glob string }

func readRelease(t *testing.T) release {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var r release
	if err := yaml.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRelease checks that a release has what is promised: six platforms, static and reproducible, with man pages,
// completions, checksums and SBOMs.
func TestRelease(t *testing.T) {
	r := readRelease(t)
	if r.Version != 2 || len(r.Builds) != 1 || len(r.Archives) != 1 {
		t.Fatalf("%+v", r)
	}
	if want := []string{"GOTOOLCHAIN=" + toolchain(t, filepath.Join(root, "go.mod"))}; !slices.Equal(r.Env, want) {
		t.Errorf("built with %v and not with %v, as go.mod says", r.Env, want)
	}
	b := r.Builds[0]
	slices.Sort(b.Goos)
	slices.Sort(b.Goarch)
	if !slices.Equal(b.Goos, []string{"darwin", "linux", "windows"}) || !slices.Equal(b.Goarch, []string{"amd64", "arm64"}) {
		t.Errorf("platforms %v, %v", b.Goos, b.Goarch)
	}
	if !slices.Contains(b.Env, "CGO_ENABLED=0") || !slices.Contains(b.Flags, "-trimpath") || b.ModTimestamp == "" {
		t.Errorf("not reproducible: %+v", b)
	}
	if len(b.Ldflags) != 1 || !strings.Contains(b.Ldflags[0], "-X main.release={{ .Version }}") {
		t.Errorf("without the version: %q", b.Ldflags)
	}
	if _, err := os.Stat(filepath.Join(root, b.Main, "main.go")); err != nil {
		t.Error(err)
	}
	var files []string
	for _, f := range r.Archives[0].Files {
		files = append(files, f.Src)
		if strings.HasPrefix(f.Src, "dist-docs/") {
			continue // made by a hook
		}
		if found, err := filepath.Glob(filepath.Join(root, f.Src)); err != nil || len(found) == 0 {
			t.Errorf("there is no %s", f.Src)
		}
	}
	for _, want := range []string{"LICENSE", "dist-docs/THIRD_PARTY_LICENSES.txt", "dist-docs/man/*", "dist-docs/completions/*"} {
		if !slices.Contains(files, want) {
			t.Errorf("archives have no %s: %q", want, files)
		}
	}
	if r.Checksum.Algorithm != "sha256" || len(r.Sboms) == 0 {
		t.Errorf("checksums %+v, SBOMs %+v", r.Checksum, r.Sboms)
	}
	// The files of the plugins are made by a hook into one folder. The test of plugins/arrowc builds and runs them.
	if !slices.Contains(r.Before.Hooks, "make wheels WHEELS=dist-plugins RELEASE={{ .Version }}") {
		t.Errorf("no hook makes the wheels: %q", r.Before.Hooks)
	}
	if !slices.Contains(r.Before.Hooks, "make spark JVM=dist-plugins/jvm RELEASE={{ .Version }}") {
		t.Errorf("no hook makes the jars: %q", r.Before.Hooks)
	}
	plugins := []glob{{"./dist-plugins/*.whl"}, {"./dist-plugins/*.tar.gz"}, {"./dist-duckdb/*.tar.gz"}, {"./dist-plugins/jvm/*.jar"}}
	if !slices.Equal(r.Release.ExtraFiles, plugins) || !slices.Equal(r.Checksum.ExtraFiles, plugins) {
		t.Errorf("released besides: %v, with checksums: %v", r.Release.ExtraFiles, r.Checksum.ExtraFiles)
	}
}

// TestSigned checks that what is released is signed without a key that could be lost: the checksums, which are of everything
// else, and the image, by its digest.
func TestSigned(t *testing.T) {
	r := readRelease(t)
	sums := signing{"cosign", "${artifact}.sigstore.json", "checksum", []string{"sign-blob", "--bundle=${signature}", "${artifact}", "--yes"}}
	if len(r.Signs) != 1 || !reflect.DeepEqual(r.Signs[0], sums) {
		t.Errorf("files: %+v, want %+v", r.Signs, sums)
	}
	image := signing{Cmd: "cosign", Args: []string{"sign", "${artifact}@${digest}", "--yes"}}
	if len(r.DockerSigns) != 1 || !reflect.DeepEqual(r.DockerSigns[0], image) {
		t.Errorf("images: %+v, want %+v", r.DockerSigns, image)
	}
}

// TestReleaseImage checks that the image of a release is the Dockerfile's stage for it, and that what this stage copies is there.
func TestReleaseImage(t *testing.T) {
	r := readRelease(t)
	if len(r.Dockers) != 1 || len(r.Dockers[0].Images) != 1 || !slices.Equal(r.Dockers[0].Tags, []string{"{{ .Version }}"}) {
		t.Fatalf("images: %+v", r.Dockers)
	}
	d := r.Dockers[0]
	if !slices.Equal(d.Flags, []string{"--target=release"}) || d.Dockerfile != "Dockerfile" || d.Sbom == nil || !*d.Sbom {
		t.Errorf("%+v", d)
	}
	if !slices.Equal(d.Platforms, []string{"linux/amd64", "linux/arm64"}) {
		t.Errorf("platforms %q", d.Platforms)
	}
	there := append([]string{"$TARGETPLATFORM/" + r.Builds[0].Binary}, d.ExtraFiles...)
	stage := ""
	for _, i := range dockerfile(t) {
		if i[0] == "FROM" {
			stage = i[1]
		}
		if i[0] != "COPY" || strings.HasPrefix(i[1], "--from") || strings.HasSuffix(stage, " AS build") {
			continue
		}
		if from := strings.Fields(i[1])[0]; !slices.Contains(there, from) {
			t.Errorf("%s: COPY %s, and GoReleaser puts %q there", stage, i[1], there)
		}
	}
}

// TestReleaseHooks runs what the hooks run, and looks at what they make.
func TestReleaseHooks(t *testing.T) {
	bin, dir := build(t), t.TempDir()
	hooks := strings.Join(readRelease(t).Before.Hooks, "\n")
	for _, want := range []string{"urlmill man dist-docs/man", "./cmd/urlmill > dist-docs/THIRD_PARTY_LICENSES.txt", "urlmill completion", "bash zsh fish powershell"} {
		if !strings.Contains(hooks, want) {
			t.Errorf("no hook does %s:\n%s", want, hooks)
		}
	}
	run(t, bin, nil, "man", filepath.Join(dir, "man"))
	pages, err := filepath.Glob(filepath.Join(dir, "man", "*.1"))
	if err != nil || len(pages) < 15 {
		t.Errorf("%d man pages, %v", len(pages), err)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if text := run(t, bin, nil, "completion", shell); !strings.Contains(text, "urlmill") || len(text) < 1000 {
			t.Errorf("%s: %.100s", shell, text)
		}
	}
}

// TestReproducible builds the same sources in two places with the flags of a release: the binaries are the same, byte by
// byte.
func TestReproducible(t *testing.T) {
	b := readRelease(t).Builds[0]
	// What git says of the commit is left out: one of the places is no repository.
	args := append([]string{"build", "-buildvcs=false"}, b.Flags...)
	args = append(args, "-ldflags", strings.ReplaceAll(b.Ldflags[0], "{{ .Version }}", "1.2.3"))
	sum := func(dir string) string {
		bin := filepath.Join(t.TempDir(), "urlmill")
		cmd := exec.CommandContext(t.Context(), "go", append(slices.Clone(args), "-o", bin, b.Main)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off")
		cmd.Env = append(cmd.Env, b.Env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
		data, err := os.ReadFile(bin)
		if err != nil {
			t.Fatal(err)
		}
		if version := run(t, bin, nil, "version"); !strings.Contains(version, "urlmill 1.2.3") {
			t.Errorf("version:\n%s", version)
		}
		return fmt.Sprintf("%x", sha256.Sum256(data))
	}
	elsewhere := filepath.Join(t.TempDir(), "another", "place")
	copySources(t, elsewhere)
	if here, there := sum(root), sum(elsewhere); here != there {
		t.Errorf("%s here, %s in another folder", here, there)
	}
}

// copySources copies what the command is built from.
func copySources(t *testing.T, to string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch name := entry.Name(); {
		case entry.IsDir() && (name == ".git" || name == "bin" || name == "testdata" || rel == "benchmarks" || rel == "plugins"):
			return filepath.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case !entry.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}
