package doctest

import (
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// root is the repository's.
var root, _ = filepath.Abs(filepath.Join("..", "..", ".."))

// block is a fenced block of commands.
type block struct {
	file   string
	line   int
	text   string
	reason string // why it is not run
}

const notRun = "<!-- not run: "

// blocks returns the blocks marked sh.
func blocks(file, text string) (all []block) {
	var open *block
	before := ""
	for i, line := range strings.Split(text, "\n") {
		switch {
		case open != nil && strings.HasPrefix(line, "```"):
			all = append(all, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		case line == "```sh":
			open = &block{file: file, line: i + 1}
			if reason, ok := strings.CutPrefix(before, notRun); ok {
				open.reason = strings.TrimSuffix(reason, " -->")
			}
		}
		before = line
	}
	return all
}

// documents returns the documents whose commands are run.
func documents(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(docs) < 8 {
		t.Fatalf("%d documents, %v", len(docs), err)
	}
	plugins, err := filepath.Glob(filepath.Join(root, "docs", "plugins", "*.md"))
	if err != nil || len(plugins) == 0 {
		t.Fatalf("%d documents of plugins, %v", len(plugins), err)
	}
	return append(append(docs, plugins...), filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"))
}

func TestCommands(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	bin := filepath.Dir(testproc.Urlmill(t))
	ran := 0
	for _, file := range documents(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks(filepath.Base(file), string(text)) {
			if b.reason != "" {
				t.Logf("%s:%d is not run: %s", b.file, b.line, b.reason)
				continue
			}
			ran++
			t.Run(fmt.Sprintf("%s:%d", b.file, b.line), func(t *testing.T) { run(t, bin, b) })
		}
	}
	if ran < 5 {
		t.Errorf("%d blocks were run", ran)
	}
}

// run runs the commands of a block in a folder of its own.
func run(t *testing.T, bin string, b block) {
	dir := t.TempDir()
	for from, to := range map[string]string{filepath.Join("testdata", "files"): dir, filepath.Join(root, "examples"): filepath.Join(dir, "examples")} {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	zip(t, filepath.Join(dir, "access.ndjson"))
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", b.text)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, b.text, out)
	}
}

// zip writes FILE.gz beside a file.
func zip(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(file + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	w := gzip.NewWriter(out)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestBlocks(t *testing.T) {
	got := blocks("x.md", "a\n```sh\none\ntwo\n```\n```\nno\n```\n<!-- not run: reasons -->\n```sh\nthree\n```\n")
	want := []block{{"x.md", 2, "one\ntwo\n", ""}, {"x.md", 10, "three\n", "reasons"}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%+v", got)
	}
}
