// Package results is what the JSON files of all benchmarks have in common.
package results

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/urlmill/urlmill/internal/dev/machine"
)

// Head says where a benchmark ran, and of what. Reports embed it as their first field.
type Head struct {
	Machine Machine `json:"machine"`
	Commit  string  `json:"commit"`
}

// Machine is what a benchmark ran on.
type Machine struct {
	CPU   string `json:"cpu"`
	Cores int    `json:"cores"`
	OS    string `json:"os"`
	Arch  string `json:"arch"`
	Go    string `json:"go"`
}

// NewHead returns the head of what is measured now, on this machine.
func NewHead() Head {
	return Head{
		Machine: Machine{CPU: cmp.Or(machine.CPU(), "unknown"), Cores: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version()},
		Commit:  commit(),
	}
}

// commit returns the commit that is checked out in short, "unknown" if nobody tells.
func commit() string {
	text, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

// Write writes a report into a file, whose folder is made if it is not there.
func Write(path string, report any) error {
	text, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
