package file

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// tree makes a folder with these files, each with its own name as content, and makes it the working directory.
func tree(t *testing.T, names ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range names {
		put(t, name, []byte(name+"\n"))
	}
}

var names = []string{
	"a.log", "b.log", "c.txt", "[x].log", "_tmp.log", ".hidden.log",
	"logs/1.gz", "logs/2.gz", "logs/2026/07/01.log", "logs/2026/07/_SUCCESS", "logs/2026/08/02.log", "logs/.git/3.gz", "logs/_temporary/4.gz",
	"logs/2026/a.log/inside.txt",
}

// finding is what is asked for, and what is found, or the error.
type finding struct{ paths, want string }

var findings = []finding{
	{"a.log", "a.log"},
	{"./a.log a.log logs/../a.log", "a.log"},
	{"b.log a.log", "b.log a.log"},
	{"*.log", "[x].log a.log b.log"},
	{"[ab].log", "a.log b.log"},
	{"[x].log", "[x].log"},
	{`\[?\].log`, "[x].log"},
	{"_*", "_tmp.log"},
	{"_tmp.log .hidden.log", "_tmp.log .hidden.log"},
	{".h*", ".hidden.log"},
	{"logs", "logs/1.gz logs/2.gz logs/2026/07/01.log logs/2026/08/02.log logs/2026/a.log/inside.txt logs/link.log"},
	{"logs/", "logs/1.gz logs/2.gz logs/2026/07/01.log logs/2026/08/02.log logs/2026/a.log/inside.txt logs/link.log"},
	{"logs/_temporary", "logs/_temporary/4.gz"},
	{"logs/*.gz", "logs/1.gz logs/2.gz"},
	{"logs/2026/*", "logs/2026/07/01.log logs/2026/08/02.log logs/2026/a.log/inside.txt"},
	{"**/*.gz", "logs/1.gz logs/2.gz"},
	{"**/**/*.gz", "logs/1.gz logs/2.gz"},
	{"./**/1.gz", "logs/1.gz"},
	{"logs/**/*.log", "logs/2026/07/01.log logs/2026/08/02.log logs/2026/a.log/inside.txt logs/link.log"},
	{"logs/**/07/*", "logs/2026/07/01.log"},
	{"logs/2026/**", "logs/2026/07/01.log logs/2026/08/02.log logs/2026/a.log/inside.txt"},
	{"logs/2026/**/*", "logs/2026/07/01.log logs/2026/08/02.log logs/2026/a.log/inside.txt"},
	{"*/1.gz", "logs/1.gz"},
	{"logs/link.log", "logs/link.log"},
	{"logs/.*/*", "logs/.git/3.gz"},
	{"- a.log -", "- a.log"},
	{"logs/2026 logs", "logs/2026/07/01.log logs/2026/08/02.log logs/2026/a.log/inside.txt logs/1.gz logs/2.gz logs/link.log"},
	{"logs logs", "logs/1.gz logs/2.gz logs/2026/07/01.log logs/2026/08/02.log logs/2026/a.log/inside.txt logs/link.log"},
	{"*.txt empt[y] c.txt", "paths[1]: empt[y]: the pattern matches no file"},
	{"/no/such/file", "paths[0]: /no/such/file: there is no such file or directory"},
	{"*.nope", "paths[0]: *.nope: the pattern matches no file"},
	{"no/**/such", "paths[0]: no/**/such: the pattern matches no file"},
	{"a.log/*", "paths[0]: a.log/*: the pattern matches no file"},
	{"a.log/b", "paths[0]: a.log/b: there is no such file or directory"},
	{"a[", `paths[0]: a[: syntax error in pattern in "a["`},
	{"empty", "paths[0]: empty: the directory has no files to read"},
	{"empty/*", "paths[0]: empty/*: the pattern matches no file"},
	{"missing a.log *.nope", "paths[0]: missing: there is no such file or directory"},
}

func TestFind(t *testing.T) {
	tree(t, names...)
	if err := os.MkdirAll("empty/deeper", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../a.log", "logs/link.log"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("..", "logs/loop"); err != nil {
		t.Fatal(err)
	}
	abs, err := filepath.Abs("a.log")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range append([]finding{
		{abs, abs},
		{filepath.Dir(abs) + "/?.log", abs + " " + filepath.Dir(abs) + "/b.log"},
		{"missing.log", "paths[0]: missing.log: there is no such file or directory (looked for in " + filepath.Dir(abs) + ")"},
	}, findings...) {
		inputs, err := find(strings.Fields(test.paths), os.Stdin, slog.New(slog.DiscardHandler))
		if err != nil {
			if !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%s: %v, want %s", test.paths, err, test.want)
			}
			continue
		}
		var got []string
		for _, in := range inputs {
			got = append(got, in.path)
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s: %s, want %s", test.paths, s, test.want)
		}
	}
	if _, err := find([]string{"missing", "a.log", "*.nope"}, nil, slog.New(slog.DiscardHandler)); err == nil || len(pipeline.FieldErrors(err)) != 2 {
		t.Errorf("not every problem: %v", err)
	}
}

// TestFindRead reads a tree and gets every file once.
func TestFindRead(t *testing.T) {
	tree(t, names...)
	s := newSource(t, Options{Paths: []string{"**/*.log", "logs", "c.txt"}})
	if want := []string{
		"[x].log", "a.log", "b.log", "logs/2026/07/01.log", "logs/2026/08/02.log", "logs/2026/a.log/inside.txt",
		"logs/1.gz", "logs/2.gz", "c.txt",
	}; !slices.Equal(s.Paths(), want) {
		t.Errorf("%q", s.Paths())
	}
	r, err := run(t, s)
	if err != nil {
		t.Fatal(err)
	}
	want := s.Paths()
	slices.Sort(want)
	same(t, "rows", r.all(), want)
}

func TestFindDanglingLink(t *testing.T) {
	tree(t, "logs/a.log")
	if err := os.Symlink("gone", "logs/z.log"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"logs", "logs/*", "logs/z.log"} {
		if _, err := find([]string{path}, nil, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "logs/z.log") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestValidate(t *testing.T) {
	err := Options{Parallel: -1, MaxRecordBytes: MaxMaxRecordBytes + 1}.Validate()
	for _, prefix := range []string{"paths: ", "parallel: ", "max_record_bytes: "} {
		if err == nil || !slices.ContainsFunc(strings.Split(err.Error(), "\n"), func(s string) bool { return strings.HasPrefix(s, prefix) }) {
			t.Errorf("no %q in %v", prefix, err)
		}
	}
	if _, err := New(Options{Paths: []string{"a", ""}}, codec.NewLines(codec.LinesOptions{}), nil); err == nil || !strings.HasPrefix(err.Error(), "paths[1]: ") {
		t.Error(err)
	}
	if err := (Options{Paths: []string{"a"}}).Validate(); err != nil {
		t.Error(err)
	}
}
