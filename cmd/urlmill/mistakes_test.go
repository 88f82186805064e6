//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/wire"
)

// mistakesFile has a case behind each line "=== what was meant": the files that there are, the command line, and all that standard
// error says with the exit code. What stands before the first case are the files of all.
const mistakesFile = "testdata/mistakes.txt"

// mistake is a case: the comment of the archive is the command line, and its last file what is said.
type mistake struct {
	title   string
	archive *txtar.Archive
	lines   [][]string // of words; what the last of them says is compared
}

func readMistakes(t *testing.T) (shared *txtar.Archive, all []mistake) {
	t.Helper()
	data, err := os.ReadFile(mistakesFile)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split("\n"+strings.TrimSuffix(string(data), "\n"), "\n=== ")
	for _, part := range parts[1:] {
		title, rest, _ := strings.Cut(part, "\n")
		a := txtar.Parse([]byte(rest + "\n"))
		m := mistake{title: title, archive: a}
		for line := range strings.Lines(string(a.Comment)) {
			m.lines = append(m.lines, strings.Fields(strings.TrimPrefix(line, "$ urlmill ")))
		}
		all = append(all, m)
	}
	return txtar.Parse([]byte(parts[0])), all
}

// What differs from run to run, and from machine to machine.
var (
	counts      = regexp.MustCompile(`(?m)^[0-9,]+ (rows? in|files?,) .*\n`)
	leastMemory = regexp.MustCompile(`at least [0-9]+MiB`)
)

// TestMistakes makes the mistakes of users, and compares what they are told. With UPDATE_SCRIPTS=1 that is written anew, to be looked
// at.
func TestMistakes(t *testing.T) {
	shared, all := readMistakes(t)
	const least = 75
	if len(all) < least {
		t.Errorf("%d mistakes", len(all))
	}
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Close() }()
	broker := kafkatest.Fake(t)
	kafkatest.CreateTopic(t, kafkatest.Client(t, broker.ListenAddrs()), "clicks", 1)
	for name, value := range map[string]string{"AWS_EC2_METADATA_DISABLED": "true", "HOME": t.TempDir(), "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_PROFILE": ""} {
		t.Setenv(name, value)
	}
	var written bytes.Buffer
	writeFiles(&written, shared.Files)
	for _, m := range all {
		t.Run(m.title, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			real, err := filepath.EvalSymlinks(dir)
			if err != nil {
				t.Fatal(err)
			}
			names := []string{"$BUSY", busy.Addr().String(), "$BROKER", broker.ListenAddrs()[0], "$WORK", real}
			values := make([]string, len(names))
			for i := range names {
				values[i] = names[i^1]
			}
			last := len(m.archive.Files) - 1
			prepareMistake(t, shared.Files, strings.NewReplacer())
			prepareMistake(t, m.archive.Files[:last], strings.NewReplacer(names...))
			var stderr bytes.Buffer
			code := 0
			for _, args := range m.lines {
				stderr.Reset()
				code = execute(args, &app{in: strings.NewReader(""), out: io.Discard, err: &stderr, components: wire.Standard()})
			}
			said := strings.NewReplacer(values...).Replace(counts.ReplaceAllString(stderr.String(), ""))
			got := fmt.Sprintf("exit %d\n%s", code, leastMemory.ReplaceAllString(said, "at least $$SIZE"))
			if diff := cmp.Diff(string(m.archive.Files[last].Data), got); diff != "" && os.Getenv("UPDATE_SCRIPTS") != "1" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			m.archive.Files[last].Data = []byte(got)
			fmt.Fprintf(&written, "=== %s\n%s", m.title, m.archive.Comment)
			writeFiles(&written, m.archive.Files)
		})
	}
	if os.Getenv("UPDATE_SCRIPTS") == "1" {
		if err := os.WriteFile(mistakesFile, written.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func writeFiles(b *bytes.Buffer, files []txtar.File) {
	b.Write(txtar.Format(&txtar.Archive{Files: files}))
}

// prepareMistake writes files into the working directory. A name that ends with @ is that of a symbolic link.
func prepareMistake(t *testing.T, files []txtar.File, r *strings.Replacer) {
	t.Helper()
	for _, f := range files {
		err := os.MkdirAll(filepath.Dir(f.Name), 0o700)
		if link, ok := strings.CutSuffix(f.Name, "@"); ok && err == nil {
			err = os.Symlink(strings.TrimSpace(string(f.Data)), link)
		} else if err == nil {
			err = os.WriteFile(f.Name, []byte(r.Replace(string(f.Data))), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
