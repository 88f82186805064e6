// Notices prints the licences of what is linked into programs: of Go's standard library, and of every module that a package
// comes from. Archives, images and wheels carry them, as most of these licences ask for.
//
//	go run ./internal/dev/notices [-C FOLDER] [-tags TAGS] [-platforms GOOS/GOARCH,...] PACKAGE...
//
// A module without a licence is an error: it may not be handed on.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

func main() {
	var o options
	flag.StringVar(&o.folder, "C", ".", "the module's folder")
	flag.StringVar(&o.tags, "tags", "", "build tags, with commas between them")
	platforms := flag.String("platforms", runtime.GOOS+"/"+runtime.GOARCH, "what the programs are built for")
	flag.Parse()
	o.platforms, o.packages = strings.Split(*platforms, ","), flag.Args()
	var out bytes.Buffer
	if err := notices(&out, o); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
	if _, err := os.Stdout.Write(out.Bytes()); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// options say what is linked.
type options struct {
	folder, tags string
	platforms    []string // GOOS/GOARCH
	packages     []string
}

// listed is a package, as go list tells of it.
type listed struct {
	ImportPath string
	Dir, Root  string
	Standard   bool
	Module     *struct {
		Path, Version, Dir string
		Main               bool
		Replace            *struct{ Path, Version string }
	}
}

// part is a module, or the standard library.
type part struct {
	name  string
	texts []string // paths of files, sorted
}

// notices writes the licences, sorted by modules.
func notices(w io.Writer, o options) error {
	parts := map[string]*part{}
	for _, platform := range o.platforms {
		packages, err := list(o, platform)
		if err != nil {
			return err
		}
		for _, p := range packages {
			if err := add(parts, p); err != nil {
				return err
			}
		}
	}
	var bare []error
	for _, p := range sorted(parts) {
		if len(p.texts) == 0 {
			bare = append(bare, fmt.Errorf("%s has no licence: do without it, or ask its authors for one", p.name))
			continue
		}
		if err := p.write(w); err != nil {
			return err
		}
	}
	return errors.Join(bare...)
}

// list returns the packages that are linked for a platform.
func list(o options, platform string) (packages []listed, err error) {
	goos, goarch, ok := strings.Cut(platform, "/")
	if !ok {
		return nil, fmt.Errorf("platform %q: want GOOS/GOARCH, as linux/amd64", platform)
	}
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=ImportPath,Dir,Root,Standard,Module", "-tags=" + o.tags}, o.packages...)...)
	cmd.Dir = o.folder
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go list for %s: %w: %s", platform, err, bytes.TrimSpace(stderr.Bytes()))
	}
	for decoder := json.NewDecoder(&stdout); decoder.More(); {
		var p listed
		if err := decoder.Decode(&p); err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
	return packages, nil
}

// ours is the module that needs no notice, with those below it.
const ours = "github.com/urlmill/urlmill"

// add adds what a package is licensed by: the files in its folder and in those above, up to its module's.
func add(parts map[string]*part, p listed) error {
	name, dir, top := "Go's standard library, "+runtime.Version(), p.Root, p.Root
	switch m := p.Module; {
	case p.Standard:
	case m == nil || m.Main || m.Path == ours || strings.HasPrefix(m.Path, ours+"/"):
		name, dir = "Lists in "+p.ImportPath, filepath.Join(p.Dir, "lists") // made of others' lists, whose licences lie beside them
		if top = dir; parts[name] != nil || !hasLicence(dir) {
			return nil
		}
	default:
		name, dir, top = strings.TrimSpace(m.Path+" "+m.Version), p.Dir, m.Dir
		if r := m.Replace; r != nil {
			name += strings.TrimRight(" => "+r.Path+" "+r.Version, " ")
		}
	}
	it := parts[name]
	if it == nil {
		it = &part{name: name}
		parts[name] = it
	}
	for ; strings.HasPrefix(dir, top); dir = filepath.Dir(dir) {
		files, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, f := range files {
			path := filepath.Join(dir, f.Name())
			if f.Type().IsRegular() && !slices.Contains(it.texts, path) && isLicence(path) {
				it.texts = append(it.texts, path)
			}
		}
	}
	return nil
}

// hasLicence reports whether there is a licence in a folder, or false if there is no such folder.
func hasLicence(dir string) bool {
	files, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(files, func(f os.DirEntry) bool { return isLicence(filepath.Join(dir, f.Name())) })
}

var licence = regexp.MustCompile(`(?i)licen[cs]e|copying|copyright|notice|patents`)

// isLicence tells licences by their names, and a README by what the licences of MIT and ISC begin with.
func isLicence(path string) bool {
	name := filepath.Base(path)
	switch filepath.Ext(name) {
	case ".go", ".s", ".c", ".h", ".sh", ".py", ".tmpl", ".json", ".yaml", ".yml", ".toml":
		return false
	}
	if strings.HasPrefix(strings.ToUpper(name), "README") {
		text, err := os.ReadFile(path)
		return err == nil && (bytes.Contains(text, []byte("Permission is hereby granted")) || bytes.Contains(text, []byte("Permission to use, copy, modify")))
	}
	return licence.MatchString(name)
}

func sorted(parts map[string]*part) []*part {
	var all []*part
	for _, p := range parts {
		slices.Sort(p.texts)
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *part) int { return cmp.Compare(a.name, b.name) })
	return all
}

// write writes the texts of a part, each of them once.
func (p *part) write(w io.Writer) error {
	rule := strings.Repeat("=", 100)
	if _, err := fmt.Fprintf(w, "%s\n%s\n%[1]s\n\n", rule, p.name); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, path := range p.texts {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if text = bytes.TrimSpace(text); seen[string(text)] {
			continue
		}
		seen[string(text)] = true
		if _, err := fmt.Fprintf(w, "%s\n\n", text); err != nil {
			return err
		}
	}
	return nil
}
