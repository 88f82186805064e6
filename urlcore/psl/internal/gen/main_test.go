package main

import (
	"archive/zip"
	"bytes"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore/psl"
)

const published = `// Some notice.
// VERSION: 2026-01-31_12-00-00_UTC
// COMMIT: abc

// ===BEGIN ICANN DOMAINS===
com
// a comment
*.ck
!www.ck
公司.cn and more
// ===END ICANN DOMAINS===
// ===BEGIN PRIVATE DOMAINS===
GitHub.io
// ===END PRIVATE DOMAINS===
`

// rulesGo is the form of the Go module.
const rulesGo = `package publicsuffix

const ListVersion = "PSL version 7ef638 (Mon Mar  2 12:22:01 2026)"

var r = [4]Rule{
	{1, "com", 1, false},
	{2, "ck", 2, false},
	{3, "www.ck", 2, false},
	{1, "公司.cn", 2, false},
	{1, "github.io", 2, true},
}
`

func TestRun(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.dat"), filepath.Join(dir, "list.txt")
	write(t, in, published)
	if code := command([]string{"-file", in, "-source", "some package 1.0", "-o", out}, t.Output()); code != 0 {
		t.Fatal(code)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	want := header + `
// SOURCE: some package 1.0
// VERSION: 2026-01-31_12-00-00_UTC
// COMMIT: abc

// ===BEGIN ICANN DOMAINS===
com
*.ck
!www.ck
xn--55qx5d.cn
// ===END ICANN DOMAINS===

// ===BEGIN PRIVATE DOMAINS===
github.io
// ===END PRIVATE DOMAINS===
`
	if string(data) != want {
		t.Errorf("got\n%s\nwant\n%s", data, want)
	}
	l, err := psl.Parse(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	if suffix, _ := l.PublicSuffix("a.b.ck"); suffix != "b.ck" {
		t.Errorf("suffix %q", suffix)
	}
}

func TestModuleForm(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "rules.go"), rulesGo)
	got, err := fromGoSource(filepath.Join(dir, "rules.go"))
	if err != nil {
		t.Fatal(err)
	}
	if got.version != "2026-03-02" || got.commit != "7ef638" {
		t.Errorf("version %q, commit %q", got.version, got.commit)
	}
	if rules := strings.Join(got.icann, " "); rules != "com *.ck !www.ck xn--55qx5d.cn" {
		t.Errorf("ICANN rules %s", rules)
	}
	if rules := strings.Join(got.private, " "); rules != "github.io" {
		t.Errorf("private rules %s", rules)
	}
}

// TestModule lets the go command download a module from a proxy in the file system.
func TestModule(t *testing.T) {
	proxy, cache, out := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "list.txt")
	versions := filepath.Join(proxy, "example.test", "list", "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		t.Fatal(err)
	}
	const gomod = "module example.test/list\n"
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for name, text := range map[string]string{"go.mod": gomod, "publicsuffix/rules.go": rulesGo} {
		w, err := z.Create("example.test/list@v1.0.0/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(versions, "v1.0.0.info"), `{"Version":"v1.0.0"}`)
	write(t, filepath.Join(versions, "v1.0.0.mod"), gomod)
	write(t, filepath.Join(versions, "v1.0.0.zip"), archive.String())
	t.Setenv("GOPROXY", (&url.URL{Scheme: "file", Path: filepath.ToSlash(proxy)}).String())
	t.Setenv("GOMODCACHE", cache)
	t.Setenv("GOFLAGS", "-modcacherw") // so that the test can remove it
	t.Setenv("GONOSUMDB", "*")
	if code := command([]string{"-module", "example.test/list@v1.0.0", "-version", "2030-01-01", "-o", out}, t.Output()); code != 0 {
		t.Fatal(code)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	l, err := psl.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Version(); got != "2030-01-01 7ef638" || l.Info().Source != "Go module example.test/list@v1.0.0" {
		t.Errorf("version %q, %+v", got, l.Info())
	}
}

func TestErrors(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"outside":     "com\n",
		"not a label": "// ===BEGIN ICANN DOMAINS===\na\u0378b.com\n",
		"cut off":     "// ===BEGIN ICANN DOMAINS===\na/b\n",
	} {
		in := filepath.Join(dir, "in.dat")
		write(t, in, text)
		if code := command([]string{"-file", in, "-o", filepath.Join(dir, "out")}, io.Discard); code != 1 {
			t.Errorf("%s: no error", name)
		}
	}
	for name, text := range map[string]string{
		"no Go":           "package",
		"unknown kind":    "package p\nvar r = []R{{4, \"com\", 1, false}}",
		"kind no literal": "package p\nvar r = []R{{x, \"com\", 1, false}}",
		"name no string":  "package p\nvar r = []R{{1, 2, 1, false}}",
		"bad name":        "package p\nvar r = []R{{1, \"a\u0378\", 1, false}}",
		"section":         "package p\nvar r = []R{{1, \"com\", 1, maybe}}",
		"version form":    "package p\nconst ListVersion = \"1\"",
		"version date":    "package p\nconst ListVersion = \"PSL version 7e (today)\"",
		"version literal": "package p\nconst ListVersion = 1",
	} {
		write(t, filepath.Join(dir, "rules.go"), text)
		if _, err := fromGoSource(filepath.Join(dir, "rules.go")); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for code, args := range map[int][]string{1: {"-o", "x"}, 2: {"-unknown"}} {
		if got := command(args, io.Discard); got != code {
			t.Errorf("%q: exit code %d", args, got)
		}
	}
	if code := command([]string{"-file", filepath.Join(dir, "missing")}, io.Discard); code != 1 {
		t.Errorf("missing file: exit code %d", code)
	}
	if code := command([]string{"-module", "no/such@module@"}, io.Discard); code != 1 {
		t.Errorf("bad module: exit code %d", code)
	}
	if _, err := fromGoSource(filepath.Join(dir, "missing")); err == nil {
		t.Error("missing Go file: no error")
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
