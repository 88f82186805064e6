package deploy

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// instructions are those of the Dockerfile, as pairs of instruction and argument.
type instructions [][2]string

func dockerfile(t *testing.T) instructions {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	var out instructions
	for _, line := range regexp.MustCompile(`(?m)^[^#\n](?:.*\\\n)*.*$`).FindAllString(string(text), -1) {
		name, arg, _ := strings.Cut(strings.ReplaceAll(line, "\\\n", " "), " ")
		out = append(out, [2]string{name, strings.TrimSpace(arg)})
	}
	return out
}

// all returns the arguments of every instruction of a name.
func (f instructions) all(name string) []string {
	var args []string
	for _, i := range f {
		if i[0] == name {
			args = append(args, i[1])
		}
	}
	return args
}

// run returns the RUN instruction that contains a text.
func (f instructions) run(text string) string {
	for _, arg := range f.all("RUN") {
		if strings.Contains(arg, text) {
			return arg
		}
	}
	return ""
}

// list returns the words of the last instruction of a name in its JSON form.
func (f instructions) list(name string) []string {
	all := f.all(name)
	last := all[len(all)-1]
	var words []string
	_ = json.Unmarshal([]byte(last[strings.Index(last, "["):]), &words)
	return words
}

// pinned is an image by tag and digest.
var pinned = regexp.MustCompile(`^[^\s@]+:[^\s@:/]+@sha256:[0-9a-f]{64}$`)

// unpinned returns what the stages of a Dockerfile begin with that is neither a stage before it nor named by digest.
func (f instructions) unpinned() (images []string) {
	stages := map[string]bool{}
	for _, arg := range f.all("FROM") {
		words := slices.DeleteFunc(strings.Fields(arg), func(w string) bool { return strings.HasPrefix(w, "--") })
		if !stages[words[0]] && !pinned.MatchString(words[0]) {
			images = append(images, words[0])
		}
		if len(words) == 3 && strings.EqualFold(words[1], "as") {
			stages[words[2]] = true
		}
	}
	return images
}

// TestPinned checks that what an image begins with cannot be exchanged for something else.
func TestPinned(t *testing.T) {
	if images := dockerfile(t).unpinned(); len(images) > 0 {
		t.Errorf("without a digest: %q", images)
	}
	digest := "@sha256:" + strings.Repeat("0a", 32)
	for from, want := range map[string]string{
		"golang:1.27.2 AS build":                           "golang:1.27.2",
		"--platform=$BUILDPLATFORM golang:1.27.2 AS build": "golang:1.27.2",
		"golang:1.27.2" + digest[:40]:                      "golang:1.27.2" + digest[:40],
		"base":                                             "base",
		"--platform=$BUILDPLATFORM golang:1.27.2" + digest + " AS build": "",
	} {
		if images := (instructions{{"FROM", from}}).unpinned(); strings.Join(images, " ") != want {
			t.Errorf("FROM %s: %q, want %q", from, images, want)
		}
	}
	if images := (instructions{{"FROM", "golang:1" + digest + " AS build"}, {"FROM", "build"}}).unpinned(); len(images) > 0 {
		t.Errorf("a stage before it: %q", images)
	}
}

func TestDockerfile(t *testing.T) {
	f := dockerfile(t)
	if from := f.all("FROM"); len(from) != 4 || !strings.Contains(from[1], "distroless/static") || from[2] != "base AS release" || from[3] != "base" {
		t.Errorf("stages %q", from)
	}
	// The last stage runs as a number that is not root: orchestrators refuse names that they cannot look up.
	if user := f.all("USER"); len(user) != 1 || !regexp.MustCompile(`^[1-9]\d*:[1-9]\d*$`).MatchString(user[0]) {
		t.Errorf("user %q", user)
	}
	if got := f.list("ENTRYPOINT"); !slices.Equal(got, f.list("HEALTHCHECK")[:1]) {
		t.Errorf("the health check runs %q, the entry point is %q", f.list("HEALTHCHECK"), got)
	}
	for _, arg := range f.all("COPY") {
		words := strings.Fields(arg)
		if strings.HasPrefix(arg, "$TARGETPLATFORM/") || strings.HasPrefix(arg, "dist-docs/") {
			continue // of the stage of a release, see TestReleaseImage
		}
		if strings.HasPrefix(arg, "--from") {
			if !strings.HasPrefix(words[len(words)-2], "/out/") {
				t.Errorf("COPY %s", arg)
			}
			continue
		}
		for _, name := range words[:len(words)-1] {
			if _, err := os.Stat(filepath.Join(root, name)); err != nil {
				t.Errorf("COPY %s: %v", arg, err)
			}
		}
	}
	version := toolchain(t, filepath.Join(root, "go.mod"))
	if env := f.all("ENV"); !slices.Contains(env, "GOTOOLCHAIN="+version) {
		t.Errorf("builds with %q, go.mod says %s", env, version)
	}
}

// TestStatic checks that the binary needs no other file: the image has none.
func TestStatic(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the image is built for Linux, and so is its binary")
	}
	f, err := elf.Open(build(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	libraries, err := f.ImportedLibraries()
	if err != nil || len(libraries) > 0 {
		t.Errorf("the binary is linked with %v, %v", libraries, err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the binary needs a dynamic linker")
		}
	}
}

// TestNoSentry checks that of sentry-go, which Pebble's errors import, no client is linked: nothing could report anything.
func TestNoSentry(t *testing.T) {
	data, err := os.ReadFile(build(t))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte("cockroachdb/pebble.Open")) {
		t.Fatal("the binary names no functions")
	}
	for _, name := range []string{"sentry-go.NewClient", "sentry-go.Init", "sentry-go.(*Client)", "sentry-go.(*HTTPTransport)"} {
		if bytes.Contains(data, []byte(name)) {
			t.Errorf("%s is linked", name)
		}
	}
}
