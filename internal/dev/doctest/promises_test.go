package doctest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// promising are the pages that promise something, each with a table at its end of what proves that.
var promising = []string{
	"docs/reliability.md", "docs/dedupe.md", "docs/warehouse.md", "docs/iceberg.md", "docs/files.md",
	"docs/design/kafka.md", "docs/design/commit-chain.md", "docs/design/delivery.md", "docs/design/objects.md",
}

const proofsHeading, proofsHead = "## What proves it", "| promise | proved by |"

var (
	spanned   = regexp.MustCompile("`([^`]*)`")
	testName  = regexp.MustCompile(`^([a-z0-9_]+(?:/[a-z0-9_]+)*)\.((?:Test|Fuzz)[A-Z]\w*)(?:/(.+))?$`)
	chaosName = regexp.MustCompile(`^make chaos: (\S+)$`)
)

// proof is a row of such a table: a promise, and the tests of it.
type proof struct {
	line    int
	promise string
	names   []string
}

// proofs returns the rows of the table at the end of a page.
func proofs(text string) (all []proof, err error) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	at := slices.Index(lines, proofsHeading)
	if at < 0 {
		return nil, fmt.Errorf("there is no %q at its end: it needs a table of the promises of the page and their tests", proofsHeading)
	}
	for i := at + 1; i < len(lines); i++ {
		line := lines[i]
		cells := strings.Split(line, "|")
		switch {
		case strings.HasPrefix(line, "#"):
			return nil, fmt.Errorf("line %d: %q comes behind %q, which has to be the last section", i+1, line, proofsHeading)
		case !strings.HasPrefix(line, "|") || line == proofsHead || strings.Trim(line, "|- ") == "":
			continue
		case len(cells) != 4:
			return nil, fmt.Errorf("line %d: %q has not two cells", i+1, line)
		}
		p := proof{line: i + 1, promise: strings.TrimSpace(cells[1])}
		for _, m := range spanned.FindAllStringSubmatch(cells[2], -1) {
			p.names = append(p.names, m[1])
		}
		if p.promise == "" || len(p.names) == 0 {
			return nil, fmt.Errorf("line %d: %q has no promise, or no test of it in backticks", i+1, line)
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%q has no table %q", proofsHeading, proofsHead)
	}
	return all, nil
}

// tested is what tests there are below a folder, looked up once.
type tested struct {
	dir       string
	packages  map[string]*testNames
	scenarios []string // of make chaos
}

// testNames are the functions that are tests of a package, and what names of their subtests are made of: the texts in its
// files of tests, and the names of files in its testdata, which are those of scripts and of configurations.
type testNames struct{ tests, texts map[string]bool }

// check returns what is wrong with the name of a test.
func (have *tested) check(name string) error {
	if m := chaosName.FindStringSubmatch(name); m != nil {
		if !slices.Contains(have.scenarios, m[1]) {
			return fmt.Errorf("make chaos has no scenario %s; it has %s", m[1], strings.Join(have.scenarios, ", "))
		}
		return nil
	}
	m := testName.FindStringSubmatch(name)
	if m == nil {
		return fmt.Errorf("it is neither path/of/package.TestName, nor path/of/package.TestName/subtest, nor make chaos: scenario")
	}
	names, err := have.of(m[1])
	switch {
	case err != nil:
		return err
	case !names.tests[m[2]]:
		return fmt.Errorf("no test of %s is called %s: what has taken its place?", m[1], m[2])
	case m[3] != "" && !names.texts[m[3]]:
		return fmt.Errorf("no subtest of %s is called %q", m[1], m[3])
	}
	return nil
}

// of returns the tests of a package, those for other systems and builds as well.
func (have *tested) of(dir string) (*testNames, error) {
	if names := have.packages[dir]; names != nil {
		return names, nil
	}
	files, err := filepath.Glob(filepath.Join(have.dir, filepath.FromSlash(dir), "*_test.go"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("there are no tests in the folder %s", dir)
	}
	names := &testNames{tests: map[string]bool{}, texts: map[string]bool{}}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(parsed, names.add)
	}
	cases, err := filepath.Glob(filepath.Join(have.dir, filepath.FromSlash(dir), "testdata", "*", "*.*"))
	for _, file := range cases {
		names.texts[strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))] = true
	}
	have.packages[dir] = names
	return names, err
}

// add takes a test or a text out of a file.
func (n *testNames) add(node ast.Node) bool {
	switch node := node.(type) {
	case *ast.FuncDecl:
		if node.Recv == nil && isTest(node.Type) {
			n.tests[node.Name.Name] = true
		}
	case *ast.BasicLit:
		if text, err := strconv.Unquote(node.Value); err == nil && node.Kind == token.STRING {
			n.texts[text] = true
		}
	}
	return true
}

// isTest reports whether a function takes what go test gives a test or a fuzz target, and not what it gives a benchmark or a helper.
func isTest(f *ast.FuncType) bool {
	if f.Results != nil || len(f.Params.List) != 1 || len(f.Params.List[0].Names) > 1 {
		return false
	}
	star, ok := f.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	sel, ok := star.X.(*ast.SelectorExpr)
	return ok && (sel.Sel.Name == "T" || sel.Sel.Name == "F")
}

// scenarios returns the names of what make chaos does, out of its source: it is a program.
func scenarios(dir string) (names []string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "internal", "dev", "chaos", "*.go"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(parsed, func(node ast.Node) bool {
			if spec, ok := node.(*ast.ValueSpec); ok && spec.Names[0].Name == "scenarios" && len(spec.Values) == 1 {
				names = append(names, firstTexts(spec.Values[0])...)
			}
			return true
		})
	}
	return names, nil
}

// firstTexts returns the first value of each element of a list of structs, where that is a text.
func firstTexts(list ast.Expr) (texts []string) {
	all, _ := list.(*ast.CompositeLit)
	if all == nil {
		return nil
	}
	for _, element := range all.Elts {
		if fields, ok := element.(*ast.CompositeLit); ok && len(fields.Elts) > 0 {
			if lit, ok := fields.Elts[0].(*ast.BasicLit); ok {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					texts = append(texts, text)
				}
			}
		}
	}
	return texts
}

// problems returns what is wrong with the table of a page.
func (have *tested) problems(page, text string) (all []string) {
	rows, err := proofs(text)
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", page, err)}
	}
	for _, row := range rows {
		for _, name := range row.names {
			if err := have.check(name); err != nil {
				all = append(all, fmt.Sprintf("%s:%d: the promise %q is to be proved by `%s`: %v", page, row.line, row.promise, name, err))
			}
		}
	}
	return all
}

func testedIn(t *testing.T, dir string) *tested {
	t.Helper()
	all, err := scenarios(dir)
	if err != nil {
		t.Fatal(err)
	}
	return &tested{dir: dir, packages: map[string]*testNames{}, scenarios: all}
}

// TestPromises checks that the tests that pages name as proofs of their promises are there.
func TestPromises(t *testing.T) {
	have := testedIn(t, root)
	if len(have.scenarios) < 10 {
		t.Errorf("make chaos has the scenarios %q: are they listed elsewhere now?", have.scenarios)
	}
	for _, page := range promising {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range have.problems(page, string(text)) {
			t.Error(problem)
		}
	}
}

// TestPromisesThatNothingProves checks that [TestPromises] would see tests that are not there, and tables that are none.
func TestPromisesThatNothingProves(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"sinks/x/x_test.go": "//go:build never\n\npackage x\n\nfunc TestKept(t *testing.T) { t.Run(\"in the rain\", nil) }\n\n" +
			"func BenchmarkKept(b *testing.B) {}\n\nfunc FuzzKept(f *testing.F) {}\n\nfunc TestHelper(t *testing.T, n int) {}\n\nfunc (w world) TestMethod(t *testing.T) {}\n",
		"sinks/x/testdata/script/act.txtar": "",
		"internal/dev/chaos/main.go":        "package main\n\nvar scenarios = []scenario{{\"storm\", \"all at once\", storm}}\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		write(t, file, text, 0o600)
	}
	page := func(rows ...string) string {
		return "# Page\n\nWe promise.\n\n" + proofsHeading + "\n\n" + proofsHead + "\n| --- | --- |\n" + strings.Join(rows, "\n") + "\n"
	}
	for text, want := range map[string]string{
		page("| kept | `sinks/x.TestKept`, `sinks/x.FuzzKept`, `sinks/x.TestKept/in the rain`, `sinks/x.TestKept/act`, `make chaos: storm` |"): "",

		page("| kept | `sinks/x.TestKept` |", "| once | `sinks/x.TestKpet` |"): "p.md:10: the promise \"once\" is to be proved by `sinks/x.TestKpet`: no test of sinks/x is called TestKpet",

		page("| once | `sinks/x.TestKept/in the snow` |"):   `no subtest of sinks/x is called "in the snow"`,
		page("| once | `sinks/x.BenchmarkKept` |"):          "`sinks/x.BenchmarkKept`: it is neither",
		page("| once | `sinks/x.TestHelper` |"):             "no test of sinks/x is called TestHelper",
		page("| once | `sinks/x.TestMethod` |"):             "no test of sinks/x is called TestMethod",
		page("| once | `sinks/y.TestKept` |"):               "there are no tests in the folder sinks/y",
		page("| once | `make chaos: strom` |"):              "make chaos has no scenario strom; it has storm",
		page("| once | of course |"):                        "no test of it in backticks",
		page("| once | `sinks/x.TestKept` | and more |"):    "has not two cells",
		page("| once | `sinks/x.TestKept` |", "", "## End"): "has to be the last section",
		page():                    "has no table",
		"# Page\n\nWe promise.\n": `there is no "## What proves it"`,
	} {
		got := strings.Join(testedIn(t, dir).problems("p.md", text), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s\ngot  %q\nwant %q", text, got, want)
		}
	}
}
