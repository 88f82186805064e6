package packages

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goreleaser/goreleaser/v2/pkg/config"
	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
	"github.com/sassoftware/go-rpmutils"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

const (
	version       = "1.2.3"
	largestBinary = 60_000_000 // in bytes, stripped; for linux/amd64 it has 59.1 million
)

// project reads .goreleaser.yaml in a folder that has what the hooks of a release make, and makes that the working directory.
func project(t *testing.T) config.Project {
	t.Helper()
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	p, err := config.Load(filepath.Join(root, ".goreleaser.yaml")) // strictly: a key that GoReleaser does not know is an error
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	bin := binary(t, root, filepath.Join(dir, "built"), p.Builds[0])
	t.Chdir(dir)
	for _, name := range []string{"LICENSE", "README.md", "examples", "docs"} {
		if err := os.Symlink(filepath.Join(root, name), name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(bin, "urlmill"); err != nil {
		t.Fatal(err)
	}
	run(t, bin, "man", "dist-docs/man")
	if err := os.Mkdir("dist-docs/completions", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		write(t, "dist-docs/completions/urlmill."+shell, run(t, bin, "completion", shell))
	}
	write(t, "dist-docs/THIRD_PARTY_LICENSES.txt", []byte("made by a hook that deploy.TestReleaseHooks looks at\n"))
	return p
}

// binary builds urlmill as a release does, and returns its path.
func binary(t *testing.T, root, folder string, b config.Build) string {
	t.Helper()
	name := filepath.Join(folder, b.Binary)
	ldflags := strings.ReplaceAll(strings.Join(b.Ldflags, " "), "{{ .Version }}", version)
	cmd := exec.CommandContext(t.Context(), "go", slices.Concat([]string{"build", "-o", name, "-ldflags", ldflags}, b.Flags, []string{b.Main})...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), b.Env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return name
}

func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, stderr.Bytes())
	}
	return out
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// build builds a package as GoReleaser does, and returns its name.
func build(t *testing.T, p config.NFPM, format string) string {
	t.Helper()
	at := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC) // for {{ .CommitDate }}
	contents := files.Contents{{
		Source: "urlmill", Destination: filepath.Join(p.Bindir, "urlmill"), FileInfo: &files.ContentFileInfo{Mode: 0o755, MTime: at},
	}}
	for _, c := range p.Contents {
		contents = append(contents, &files.Content{
			Source: c.Source, Destination: c.Destination, Type: c.Type, Packager: c.Packager,
			FileInfo: &files.ContentFileInfo{Mode: c.FileInfo.Mode, MTime: at},
		})
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "urlmill", Arch: "amd64", Platform: "linux", Version: version, Section: p.Section, Maintainer: p.Maintainer,
		Description: p.Description, Vendor: p.Vendor, Homepage: p.Homepage, License: p.License, MTime: at,
		Overridables: nfpm.Overridables{Contents: contents, Umask: 0o2},
	})
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		t.Fatal(err)
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := packager.Package(info, &out); err != nil {
		t.Fatal(err)
	}
	folder := os.Getenv("PACKAGES")
	if folder == "" {
		folder = t.TempDir()
	}
	name := filepath.Join(folder, packager.ConventionalFileName(info))
	write(t, name, out.Bytes())
	return name
}

// installed are files that every package has to have.
var installed = []string{
	"etc/urlmill/pipeline.yaml",
	"usr/bin/urlmill",
	"usr/lib/systemd/system/urlmill.service",
	"usr/share/bash-completion/completions/urlmill",
	"usr/share/doc/urlmill/THIRD_PARTY_LICENSES.txt",
	"usr/share/doc/urlmill/copyright",
	"usr/share/doc/urlmill/examples/clickstream.yaml",
	"usr/share/fish/vendor_completions.d/urlmill.fish",
	"usr/share/man/man1/urlmill-run.1",
	"usr/share/man/man1/urlmill.1",
}

// TestPackages builds a package of each format. The deb is installed by dpkg into a folder: what was installed runs, takes the
// configuration that came with it, and goes again.
func TestPackages(t *testing.T) {
	p := project(t)
	if len(p.NFPMs) != 1 || !slices.Equal(p.NFPMs[0].Formats, []string{"deb", "rpm", "apk"}) {
		t.Fatalf("%+v", p.NFPMs)
	}
	info, err := os.Stat("urlmill")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the binary of a release: %d bytes", info.Size())
	if info.Size() > largestBinary {
		t.Errorf("the binary of a release has %d bytes, and not %d or less: docs/design/tools.md says what has made it larger before, and how to find it",
			info.Size(), largestBinary)
	}
	packages := map[string]string{}
	for _, format := range p.NFPMs[0].Formats {
		packages[format] = build(t, p.NFPMs[0], format)
	}
	testRPM(t, packages["rpm"])
	list := string(run(t, "tar", "--ignore-zeros", "-tzf", packages["apk"])) // three archives, one behind the other
	for _, name := range append([]string{"usr/share/zsh/site-functions/_urlmill"}, installed...) {
		if !strings.Contains(list, name+"\n") {
			t.Errorf("the apk has no %s:\n%s", name, list)
		}
	}
	if _, err := exec.LookPath("dpkg"); err != nil {
		testproc.Missing(t, "URLMILL_REQUIRE_DPKG", "there is no dpkg: the deb is not installed")
	}
	testDeb(t, packages["deb"])
}

func testRPM(t *testing.T, name string) {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rpm, err := rpmutils.ReadRpm(f)
	if err != nil {
		t.Fatal(err)
	}
	list, err := rpm.Header.GetFiles()
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, f := range list {
		has[f.Name()] = true
	}
	for _, name := range append([]string{"usr/share/zsh/site-functions/_urlmill"}, installed...) {
		if !has["/"+name] {
			t.Errorf("the rpm has no %s", name)
		}
	}
}

func testDeb(t *testing.T, deb string) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg/info"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "var/lib/dpkg/status"), nil)
	dpkg := func(args ...string) string {
		t.Helper()
		return string(run(t, "dpkg", append([]string{"--root=" + root, "--force-not-root", "--force-script-chrootless", "--force-architecture", "--log=/dev/null"}, args...)...))
	}
	dpkg("--install", deb)
	if got := dpkg("--status", "urlmill"); !strings.Contains(got, "Status: install ok installed") || !strings.Contains(got, "Version: "+version) {
		t.Error(got)
	}
	for _, name := range append([]string{"usr/share/zsh/vendor-completions/_urlmill"}, installed...) {
		if info, err := os.Stat(filepath.Join(root, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	bin, config := filepath.Join(root, "usr/bin/urlmill"), filepath.Join(root, "etc/urlmill/pipeline.yaml")
	if out := string(run(t, bin, "lint", config)); !strings.HasSuffix(out, "pipeline.yaml: ok\n") {
		t.Error(out)
	}
	unit, err := os.ReadFile(filepath.Join(root, "usr/lib/systemd/system/urlmill.service"))
	if err != nil || !strings.Contains(string(unit), "ExecStart=urlmill run /etc/urlmill/pipeline.yaml") {
		t.Errorf("%v\n%s", err, unit)
	}
	write(t, config, []byte("mine"))
	dpkg("--remove", "urlmill")
	if _, err := os.Stat(bin); !os.IsNotExist(err) {
		t.Errorf("removed, and %s: %v", bin, err)
	}
	if data, err := os.ReadFile(config); err != nil || string(data) != "mine" {
		t.Errorf("the configuration is its owner's: %q, %v", data, err)
	}
}

// TestCask checks that what a cask of Homebrew names is in the archives, all pages of the manual among it, and that the manifest
// of winget says what it has to.
func TestCask(t *testing.T) {
	p := project(t)
	if len(p.Casks) != 1 || len(p.Winget) != 1 {
		t.Fatalf("%d casks, %d manifests", len(p.Casks), len(p.Winget))
	}
	cask, has := p.Casks[0], map[string]bool{}
	for _, f := range p.Archives[0].Files {
		found, err := filepath.Glob(f.Source)
		if err != nil || len(found) == 0 {
			t.Errorf("%s: %v, %v", f.Source, found, err)
		}
		for _, name := range found {
			has[filepath.Join(f.Destination, filepath.Base(name))] = true
		}
	}
	var pages []string
	err := fs.WalkDir(os.DirFS("dist-docs/man"), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			pages = append(pages, "man/"+path)
		}
		return err
	})
	if err != nil || !slices.Equal(pages, cask.Manpages) {
		t.Errorf("the cask has %q, there are %q, %v", cask.Manpages, pages, err)
	}
	for _, name := range append(pages, cask.Completions.Bash, cask.Completions.Zsh, cask.Completions.Fish) {
		if !has[name] {
			t.Errorf("archives have no %s", name)
		}
	}
	if w := p.Winget[0]; w.License != p.NFPMs[0].License || w.License != cask.License || w.Publisher == "" || w.ShortDescription == "" ||
		!w.Repository.PullRequest.Enabled || len(w.ShortDescription) > 80 {
		t.Errorf("%+v", w)
	}
}
