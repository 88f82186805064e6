package main

import (
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
	if err := run("", in, "some package 1.0", "", out); err != nil {
		t.Fatal(err)
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

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"outside":     "com\n",
		"not a label": "// ===BEGIN ICANN DOMAINS===\na\u0378b.com\n",
		"cut off":     "// ===BEGIN ICANN DOMAINS===\na/b\n",
	} {
		in := filepath.Join(dir, "in.dat")
		write(t, in, text)
		if err := run("", in, "", "", filepath.Join(dir, "out")); err == nil {
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
	if err := run("", "", "", "", ""); err == nil {
		t.Error("no source: no error")
	}
	if err := run("", filepath.Join(dir, "missing"), "", "", ""); err == nil {
		t.Error("missing file: no error")
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
