package deploy

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/goccy/go-yaml"
)

// root is the root of the repository.
var root = func() string {
	dir, err := filepath.Abs("../../../..")
	if err != nil {
		panic(err)
	}
	return dir
}()

// load loads docker-compose.yml with all its profiles, strictly, and with no variable of the environment.
func load(t *testing.T) *types.Project {
	t.Helper()
	name := filepath.Join(root, "docker-compose.yml")
	p, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir:  root,
		ConfigFiles: []types.ConfigFile{{Filename: name}},
		Environment: types.Mapping{},
	}, func(o *loader.Options) { o.Profiles = []string{"*"} })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// binDir holds the binary, which all tests share.
var binDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "deploy")
	if err != nil {
		panic(err)
	}
	binDir = dir
	code := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// build builds the binary as the Dockerfile does, once, and returns its path.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(binDir, "urlmill")
	if _, err := os.Stat(bin); err == nil {
		return bin
	}
	args := []string{"build"}
	_, flags, _ := strings.Cut(dockerfile(t).run("go build "), "go build ")
	for _, arg := range strings.Fields(flags) {
		if arg == "/out/urlmill" {
			arg = bin
		}
		args = append(args, arg)
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %v: %v\n%s", args, err, out)
	}
	return bin
}

// run runs the binary with an environment of its own.
func run(t *testing.T, bin string, env []string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("urlmill %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func TestServices(t *testing.T) {
	p := load(t)
	profiles := map[string][]string{"kafka": nil, "topic": nil, "urlmill": nil, "generator": {"generator"}, "s3": {"s3"}}
	if len(p.Services) != len(profiles) {
		t.Errorf("services %v", p.ServiceNames())
	}
	for name, want := range profiles {
		s, err := p.GetService(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if strings.Join(s.Profiles, " ") != strings.Join(want, " ") {
			t.Errorf("%s is in the profiles %v, want %v", name, s.Profiles, want)
		}
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s: port %d is open to the network", name, port.Target)
			}
		}
		if strings.HasSuffix(s.Image, ":latest") || s.Build == nil && !strings.Contains(s.Image, ":") {
			t.Errorf("%s: the version of %q is not given", name, s.Image)
		}
	}
}

// TestMounts checks that every file that is mounted or built from is in the repository.
func TestMounts(t *testing.T) {
	for name, s := range load(t).Services {
		for _, v := range s.Volumes {
			if v.Type != types.VolumeTypeBind {
				continue
			}
			if info, err := os.Stat(v.Source); err != nil || !info.Mode().IsRegular() || !v.ReadOnly {
				t.Errorf("%s: %s is mounted: %v, read-only %t", name, v.Source, err, v.ReadOnly)
			}
		}
		if s.Build != nil {
			if _, err := os.Stat(filepath.Join(s.Build.Context, s.Build.Dockerfile)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestCommands has the binary itself judge every command, its configuration, and the health check.
func TestCommands(t *testing.T) {
	bin := build(t)
	commands := 0
	for name, s := range load(t).Services {
		if s.Build == nil {
			continue
		}
		commands++
		// Flags are parsed before help is printed, so that a wrong one is an error.
		help := run(t, bin, nil, append(append([]string{}, s.Command...), "--help")...)
		if !strings.Contains(help, "urlmill "+s.Command[0]) {
			t.Errorf("%s: %q is no command:\n%s", name, s.Command[0], help)
		}
		if s.User != "" && !strings.HasPrefix(s.User, "65532") {
			t.Errorf("%s runs as %s", name, s.User)
		}
		if s.Command[0] == "run" {
			lint(t, bin, s)
		}
	}
	if commands == 0 {
		t.Error("no service runs urlmill")
	}
	run(t, bin, nil, dockerfile(t).list("HEALTHCHECK")[1:]...)
	run(t, bin, nil, dockerfile(t).list("CMD")...)
}

// lint checks the configuration that a service mounts, with the environment that it has.
func lint(t *testing.T, bin string, s types.ServiceConfig) {
	t.Helper()
	source := ""
	for _, v := range s.Volumes {
		if v.Target == s.Command[1] {
			source = v.Source
		}
	}
	if source == "" {
		t.Fatalf("%s: nothing is mounted at %s", s.Name, s.Command[1])
	}
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	var env []string
	for name, value := range s.Environment {
		env = append(env, name+"="+*value)
		if !bytes.Contains(text, []byte("${"+name)) {
			t.Errorf("%s: nothing in %s asks for %s", s.Name, source, name)
		}
	}
	run(t, bin, env, "lint", source)
	var c struct {
		Sink     map[string]struct{ Path string }
		Pipeline struct {
			DrainTimeout time.Duration `yaml:"drain_timeout"`
		}
	}
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	if s.StopGracePeriod == nil || time.Duration(*s.StopGracePeriod) <= c.Pipeline.DrainTimeout {
		t.Errorf("%s: the grace period %v is not longer than the drain timeout %v", s.Name, s.StopGracePeriod, c.Pipeline.DrainTimeout)
	}
	// The output is in a volume, or it would be gone with the container, which cannot write elsewhere.
	output, inVolume := *s.Environment["OUTPUT"], false
	for _, v := range s.Volumes {
		inVolume = inVolume || v.Type == types.VolumeTypeVolume && strings.HasPrefix(output, v.Target+"/")
	}
	if !inVolume {
		t.Errorf("%s: %s is in no volume", s.Name, output)
	}
}
