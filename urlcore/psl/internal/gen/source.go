package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/idna"
)

// fromFile reads a file in the format of publicsuffix.org.
func fromFile(name string) (*list, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	l := &list{source: filepath.Base(name)}
	var rules *[]string
	for n, line := range strings.Split(string(data), "\n") {
		comment, isComment := strings.CutPrefix(line, "//")
		line, _, _ = strings.Cut(strings.TrimRight(line, "\r"), " ")
		switch {
		case isComment && strings.Contains(comment, "===BEGIN ICANN DOMAINS==="):
			rules = &l.icann
		case isComment && strings.Contains(comment, "===BEGIN PRIVATE DOMAINS==="):
			rules = &l.private
		case isComment:
			l.comment(strings.TrimSpace(comment))
		case line == "":
		case rules == nil:
			return nil, fmt.Errorf("%s:%d: rule before the first section mark", name, n+1)
		default:
			rule, err := toASCII(line)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, n+1, err)
			}
			*rules = append(*rules, rule)
		}
	}
	return l, nil
}

// comment takes the version and commit that a published file tells in its head.
func (l *list) comment(text string) {
	if v, ok := strings.CutPrefix(text, "VERSION: "); ok {
		l.version = v
	}
	if v, ok := strings.CutPrefix(text, "COMMIT: "); ok {
		l.commit = v
	}
}

// fromModule downloads a version of github.com/weppos/publicsuffix-go, or a module of the same form, and
// reads the composite literals of its publicsuffix/rules.go. The module is neither compiled nor required.
func fromModule(module string) (*list, error) {
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go mod download %s: %w", module, err)
	}
	var info struct{ Dir string }
	if err := json.Unmarshal(out, &info); err != nil {
		return nil, err
	}
	l, err := fromGoSource(filepath.Join(info.Dir, "publicsuffix", "rules.go"))
	if err != nil {
		return nil, err
	}
	l.source = "Go module " + module
	return l, nil
}

// fromGoSource reads the rules and the version in a Go file.
func fromGoSource(name string) (*list, error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	l := &list{}
	var failed error
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			if n.Names[0].Name == "ListVersion" {
				failed = l.setVersion(n.Values[0])
			}
		case *ast.CompositeLit:
			if len(n.Elts) == 4 && n.Type == nil && failed == nil {
				failed = l.addRule(n.Elts)
			}
		}
		return failed == nil
	})
	if failed != nil {
		return nil, fmt.Errorf("%s: %w", name, failed)
	}
	return l, nil
}

var versionText = regexp.MustCompile(`^PSL version ([0-9a-f]+) \((.*)\)$`)

// setVersion reads `PSL version 7ef638 (Mon Mar  2 12:22:01 2026)`.
func (l *list) setVersion(value ast.Expr) error {
	text, err := stringOf(value)
	if err != nil {
		return err
	}
	m := versionText.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("unknown form of version: %q", text)
	}
	date, err := time.Parse(time.ANSIC, m[2])
	if err != nil {
		return err
	}
	l.version, l.commit = date.Format("2006-01-02"), m[1]
	return nil
}

// addRule reads {kind, "name", labels, private}, kind being 1 for a plain rule, 2 for a wildcard, 3 for an
// exception, of which the name is without "*." and "!".
func (l *list) addRule(fields []ast.Expr) error {
	name, err := stringOf(fields[1])
	if err != nil {
		return err
	}
	if name, err = toASCII(name); err != nil {
		return err
	}
	kind, ok := fields[0].(*ast.BasicLit)
	if !ok {
		return fmt.Errorf("rule %q: no kind", name)
	}
	prefix, ok := map[string]string{"1": "", "2": "*.", "3": "!"}[kind.Value]
	if !ok {
		return fmt.Errorf("rule %q: unknown kind %s", name, kind.Value)
	}
	private, ok := fields[3].(*ast.Ident)
	if !ok || private.Name != "true" && private.Name != "false" {
		return fmt.Errorf("rule %q: no section", name)
	}
	if private.Name == "true" {
		l.private = append(l.private, prefix+name)
	} else {
		l.icann = append(l.icann, prefix+name)
	}
	return nil
}

func stringOf(e ast.Expr) (string, error) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", fmt.Errorf("a string literal was expected")
	}
	return strconv.Unquote(lit.Value)
}

// toASCII brings the labels of a rule to A-labels.
func toASCII(rule string) (string, error) {
	prefix := ""
	for _, p := range []string{"!", "*."} {
		if rest, ok := strings.CutPrefix(rule, p); ok {
			prefix, rule = p, rest
		}
	}
	ascii, err := idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false)).ToASCII(rule)
	return prefix + ascii, err
}
