package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// unit returns the systemd unit.
func unit(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "deploy", "urlmill.service"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// setting returns the values of a setting of the unit.
func setting(text, name string) (values []string) {
	for _, found := range regexp.MustCompile(`(?m)^`+name+`=(.*)$`).FindAllStringSubmatch(text, -1) {
		values = append(values, found[1])
	}
	return values
}

// TestUnit has systemd itself judge the unit, with the binary in the place that it names.
func TestUnit(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		testproc.Missing(t, "URLMILL_REQUIRE_SYSTEMD", "systemd-analyze is not installed: apt-get install systemd")
	}
	file := filepath.Join(t.TempDir(), "urlmill.service")
	text := regexp.MustCompile(`(?m)^(ExecStart\w*=)urlmill `).ReplaceAllString(unit(t), "${1}"+build(t)+" ")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), analyze, "verify", file).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), analyze, "security", "--no-pager", "--offline=true", file).CombinedOutput()
	if err != nil {
		t.Fatalf("systemd-analyze security: %v\n%s", err, out)
	}
	found := regexp.MustCompile(`Overall exposure level for urlmill.service: ([0-9.]+)`).FindSubmatch(out)
	if found == nil {
		t.Fatalf("no level in\n%s", out)
	}
	const most = 2 // what a service that talks to the network can do well below, see systemd.exec(5)
	if level, err := strconv.ParseFloat(string(found[1]), 64); err != nil || level > most {
		t.Errorf("exposed by %s, more than %d:\n%s", found[1], most, out)
	}
}

// TestUnitCommands has the binary judge the commands of the unit, and compares times and exit codes.
func TestUnitCommands(t *testing.T) {
	text, bin := unit(t), build(t)
	for _, name := range []string{"ExecStartPre", "ExecStart"} {
		values := setting(text, name)
		if len(values) != 1 {
			t.Fatalf("%s: %q", name, values)
		}
		words := strings.Fields(values[0])
		run(t, bin, nil, append(words[1:], "--help")...)
	}
	seconds, err := strconv.Atoi(strings.Join(setting(text, "TimeoutStopSec"), ""))
	reference := run(t, bin, nil, "config", "reference")
	drain := regexp.MustCompile("`drain_timeout` \\|[^|]*\\| `([^`]+)`").FindStringSubmatch(reference)
	if err != nil || drain == nil {
		t.Fatalf("%v; default of drain_timeout: %v", err, drain)
	}
	if d, err := time.ParseDuration(drain[1]); err != nil || time.Duration(seconds)*time.Second <= d {
		t.Errorf("the unit is killed after %d s, and drains for up to %s", seconds, drain[1])
	}
	if codes := run(t, bin, nil, "help", "exit-codes"); !strings.Contains(codes, "2  the command line or the configuration is wrong") ||
		strings.Join(setting(text, "RestartPreventExitStatus"), "") != "2" {
		t.Error("a wrong configuration is tried again")
	} else if !strings.Contains(codes, "134  it crashed") || strings.Join(setting(text, "Restart"), "") != "on-failure" {
		t.Error("a crash is not tried again")
	}
}
