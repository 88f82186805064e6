package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// compiler returns the C compiler, or skips the test.
func compiler(t testing.TB) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the programs of this test are for Linux")
	}
	cc, err := exec.LookPath("cc")
	if err == nil {
		return cc
	}
	if os.Getenv("URLMILL_REQUIRE_CC") != "" {
		t.Fatal("there is no C compiler (cc): apt-get install gcc libc6-dev")
	}
	t.Skip("there is no C compiler (cc): apt-get install gcc libc6-dev")
	return ""
}

func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// library builds the library as the Makefile does, and returns its folder.
func library(t testing.TB, tags string, exports bool) string {
	t.Helper()
	dir := t.TempDir()
	args := []string{"build", "-buildmode=c-shared", "-o", filepath.Join(dir, "liburlmill.so"), "-tags", tags}
	if exports {
		here, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, "-ldflags", "-extldflags=-Wl,--version-script="+filepath.Join(here, "exports.map"))
	}
	run(t, "go", append(args, ".")...)
	return dir
}

// program compiles a program of the folder test against the library in dir.
func program(t testing.TB, cc, dir, source string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "program")
	args := append([]string{"-O1", "-g", "-Wall", "-Wextra", "-Werror", "-o", out, filepath.Join("test", source)}, flags...)
	run(t, cc, append(args, "-L"+dir, "-lurlmill", "-lpthread", "-Wl,-rpath,"+dir)...)
	return out
}

// sanitizes returns an error where the compiler has no AddressSanitizer.
func sanitizes(t testing.TB, cc string) error {
	t.Helper()
	probe := filepath.Join(t.TempDir(), "probe.c")
	if err := os.WriteFile(probe, []byte("int main(void) { return 0; }"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-fsanitize=address", "-o", probe+".out", probe).CombinedOutput(); err != nil {
		return fmt.Errorf("the compiler has no AddressSanitizer: %s", out)
	}
	return nil
}

// A C program sees what urlmill.h promises, and 10,000 batches leave nothing behind: by the count of malloc, by the library's
// own, and, where the compiler has it, by the sanitizer of leaks.
func TestBorder(t *testing.T) {
	cc := compiler(t)
	dir := library(t, "", true)
	border := program(t, cc, dir, "border.c")
	t.Log(run(t, border, "10000"))
	t.Log(run(t, program(t, cc, dir, "array.c"), "10000"))
	t.Log(run(t, program(t, cc, dir, "malformed.c")))
	run(t, border, "never-released")
	t.Run("sanitizer", func(t *testing.T) {
		if err := sanitizes(t, cc); err != nil {
			t.Skip(err)
		}
		run(t, program(t, cc, dir, "border.c", "-fsanitize=address"), "1000")
		run(t, program(t, cc, dir, "array.c", "-fsanitize=address"), "1000")
		run(t, program(t, cc, dir, "malformed.c", "-fsanitize=address"))
	})
	t.Run("pins", func(t *testing.T) {
		if testing.Short() {
			t.Skip("not with -short: all of the library is compiled once more")
		}
		t.Setenv("GOEXPERIMENT", "cgocheck2") // ends a process that writes a pointer into C's memory that is not pinned
		t.Setenv("GOGC", "10")
		dir := library(t, "", true)
		run(t, program(t, cc, dir, "border.c"), "500")
		run(t, program(t, cc, dir, "array.c"), "500")
	})
	t.Run("exports", func(t *testing.T) {
		nm, err := exec.LookPath("nm")
		if err != nil {
			t.Skip("there is no nm: apt-get install binutils")
		}
		for line := range strings.Lines(run(t, nm, "-D", "--defined-only", filepath.Join(dir, "liburlmill.so"))) {
			if name := strings.Fields(line); !strings.HasPrefix(name[len(name)-1], "urlmill_") {
				t.Errorf("the library exports %s, which may be another's in the same process", line)
			}
		}
	})
}

// The program that measures the border works; what it measures is no matter of a test.
func TestCrossing(t *testing.T) {
	cc := compiler(t)
	out := run(t, program(t, cc, library(t, "crossing", false), "crossing.c"), "1", "1")
	if shapes, samples := strings.Count(out, "shape\t"), strings.Count(out, "sample\t"); shapes != 8 || samples != 8*8 {
		t.Errorf("%d shapes, %d samples, want 8 and 64:\n%s", shapes, samples, out)
	}
}

// The page's example does what it says, and it and the header are C and C++ without a warning.
func TestPage(t *testing.T) {
	cc := compiler(t)
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "plugins", "arrow-c.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```c\n")
	block, _, ok := strings.Cut(block, "```")
	if !ok {
		t.Fatal("the page has no example in C")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir, lib := t.TempDir(), library(t, "", true)
	compile := func(t *testing.T, compiler, name, before string, flags ...string) string {
		source, out := filepath.Join(dir, name), filepath.Join(dir, name+".out")
		if err := os.WriteFile(source, []byte(before+block+"\treturn used != 1;\n}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"-I" + here, "-I" + filepath.Join(here, "test"), "-Wall", "-Wextra", "-Werror", "-o", out, source}, flags...)
		run(t, compiler, append(args, "-L"+lib, "-lurlmill", "-Wl,-rpath,"+lib)...)
		return out
	}
	const use = "static int used;\nstatic void use(struct ArrowArray *a) { used += a->n_children == 4; }\n"
	run(t, compile(t, cc, "run.c", "#include \"input.h\"\n"+use+`int main(void) {
	struct feed f;
	feed_new(&f, 10, 0);
	struct ArrowArrayStream in = feed_stream(&f, RECORDS, 1);
`, "-Wno-unused-function"))
	const alone = "#include <stdio.h>\n#include \"urlmill.h\"\n" + use + "static struct ArrowArrayStream in;\nint main(void) {\n"
	compile(t, cc, "c99.c", alone, "-std=c99", "-Wpedantic", "-Wconversion", "-Wstrict-prototypes")
	if cpp, err := exec.LookPath("c++"); err == nil {
		compile(t, cpp, "cpp17.cc", alone, "-std=c++17", "-Wpedantic", "-Wconversion")
	}
}

// Errors name types as people do.
func TestTypesHaveNames(t *testing.T) {
	for want, given := range map[string]foreign{
		`int64 ("l" in the Arrow C Data Interface)`:                                    {format: "l"},
		`timestamp ("tsu:Europe/Berlin" in the Arrow C Data Interface)`:                {format: "tsu:Europe/Berlin"},
		`run_end_encoded ("+r" in the Arrow C Data Interface)`:                         {format: "+r"},
		`dictionary of float64 ("c" of "g" in the Arrow C Data Interface)`:             {format: "c", values: "g"},
		`+new:1 ("+new:1" in the Arrow C Data Interface)`:                              {format: "+new:1"},
		`dictionary of fixed_size_binary ("c" of "w:4" in the Arrow C Data Interface)`: {format: "c", values: "w:4"},
	} {
		if got := given.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		`{"includes": []}`:   `unknown field "includes"`,
		`{} {}`:              "there is more behind",
		`[`:                  "options: ",
		`{"params": "tree"}`: `params is "tree"; it is one of list, map`,
		`{"tracking": "x"}`:  "it is one of keep, separate",
		`{"promote": [{"param":"a","take":"any"}]}`: "it is one of first, last, all",
		`{"canonical": {"form": "x"}}`:              "options: canonical",
		`{"canonical": {"with": ["x"]}}`:            "options: canonical",
		`{"batch_rows": -1}`:                        "batch_rows is -1",
		`{"psl": "/nowhere"}`:                       "options: psl",
		`{"tracking_rules": "/nowhere"}`:            "options: tracking_rules",
	} {
		if _, _, err := parseOptions(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	o, _, err := parseOptions(`{"url":"u","carry":[],"params":"map","tracking":"separate","promote":[{"param":"a","or":["b"],"take":"all"}],"canonical":{}}`)
	if err != nil {
		t.Fatal(err)
	}
	if o.URL != "u" || o.Carry == nil || !o.ParamsAsMap || !o.Tracking || o.Promote[0].Name != "a" || len(o.Promote[0].Params) != 2 || o.Canonical == nil {
		t.Errorf("%+v", o)
	}
	if o, _, err := parseOptions(" "); err != nil || o.Carry != nil {
		t.Errorf("%+v, %v", o, err)
	}
}
