package testproc

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// script writes a program into a folder.
func script(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestJava(t *testing.T) {
	home := t.TempDir()
	t.Setenv("JAVA_HOME", home)
	if _, err := Java(17); err == nil || !strings.Contains(err.Error(), "install a JDK or JRE of version 17") {
		t.Errorf("without any: %v", err)
	}
	for said, want := range map[string]string{
		`openjdk version "17.0.15" 2025-04-15`: "",
		`openjdk version "21" 2023-09-19`:      "",
		`java version "1.8.0_392"`:             "is Java 8, and 17 or newer is needed",
		"nothing":                              "names no version",
	} {
		script(t, filepath.Join(home, "bin"), "java", fmt.Sprintf("echo '%s' >&2", said))
		java, err := Java(17)
		if want == "" && (err != nil || java != filepath.Join(home, "bin", "java")) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %q, %v", said, java, err)
		}
	}
}

// TestMaven: what Maven is asked for is kept, what it says when it fails is told, and it is asked again when it has failed.
func TestMaven(t *testing.T) {
	installPause = time.Millisecond
	t.Cleanup(func() { installPause = 2 * time.Second })
	cache, bin := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	t.Setenv("PATH", bin)
	goals := func(dir string) ([]string, error) { return []string{filepath.Join(dir, "jar")}, nil }
	if _, err := Maven("a", "jar", goals); err == nil || !strings.Contains(err.Error(), "install maven") {
		t.Errorf("without any: %v", err)
	}
	script(t, bin, "mvn", "echo no such artifact; exit 1")
	if _, err := Maven("a", "jar", goals); err == nil || !strings.Contains(err.Error(), "no such artifact") {
		t.Errorf("that fails: %v", err)
	}
	tried := filepath.Join(cache, "tried")
	script(t, bin, "mvn", `[ -e `+tried+` ] || { : >`+tried+`; echo connection reset; exit 1; }; echo "$1 $2" >"$3"`)
	jar, err := Maven("a", "jar", goals)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(jar); err != nil || string(text) != "-q -B\n" {
		t.Errorf("%q, %v", text, err)
	}
}
