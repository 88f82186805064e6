package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestProgram looks for the licences of what the program and the C library are made of.
func TestProgram(t *testing.T) {
	for _, test := range []struct {
		o    options
		want []string
		not  string
	}{
		{options{folder: "../../..", tags: "grpcnotrace", platforms: []string{"linux/amd64", "windows/arm64"}, packages: []string{"./cmd/urlmill"}}, []string{
			"Go's standard library, " + runtime.Version() + "\n", "Copyright 2009 The Go Authors.",
			"github.com/apache/arrow/go/v15 v15.", "Apache License\n",
			"github.com/segmentio/kafka-go v", "Copyright (c) 2017 Segment",
			"golang.org/x/sys v", // both platforms are
		}, "\n" + ours},
		{options{folder: "../../..", platforms: []string{"linux/amd64"}, packages: []string{"./urlcore"}}, []string{"golang.org/x/net v"}, "apache"},
	} {
		var b bytes.Buffer
		if err := notices(&b, test.o); err != nil {
			t.Fatal(err)
		}
		for _, want := range test.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%v: there is no %q", test.o.packages, want)
			}
		}
		if strings.Contains(b.String(), test.not) {
			t.Errorf("%v: there is %q", test.o.packages, test.not)
		}
	}
}

func TestMade(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"program/go.mod":        "module example.com/program\n\ngo 1.26\n\nrequire (\n\texample.com/a v1.0.0\n\texample.com/b v1.0.0\n)\n\nreplace (\n\texample.com/a => ../a\n\texample.com/b => ../b\n)\n",
		"program/main.go":       "package main\n\nimport (\n\t_ \"example.com/a/x\"\n\t_ \"example.com/b\"\n)\n\nfunc main() {}\n",
		"a/go.mod":              "module example.com/a\n",
		"a/LICENSE":             "that of a",
		"a/licenses.go":         "package a // no licence",
		"a/x/x.go":              "package x\n",
		"a/x/COPYING":           "that of x",
		"a/x/LICENSE":           "that of a\n",
		"a/y/LICENSE":           "that of y",
		"a/y/y.go":              "package y // not linked",
		"b/go.mod":              "module example.com/b\n",
		"b/b.go":                "package b\n",
		"b/README.md":           "Read me.",
		"b/testdata/LICENSE.md": "of something else",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := options{folder: filepath.Join(dir, "program"), platforms: []string{"linux/amd64"}, packages: []string{"."}}
	if err := notices(&bytes.Buffer{}, o); err == nil || !strings.Contains(err.Error(), "example.com/b v1.0.0 => ../b has no licence") {
		t.Errorf("a module without a licence: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "b/README.md"), []byte("Permission is hereby granted, ..."), 0o600); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := notices(&b, o); err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(b.String(), "example.com/a")
	got = strings.ReplaceAll(got, strings.Repeat("=", 100), "=")
	if want := " v1.0.0 => ../a\n=\n\nthat of a\n\nthat of x\n\n=\nexample.com/b v1.0.0 => ../b\n=\n\nPermission is hereby granted, ...\n\n"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	o.platforms = []string{"linux"}
	if err := notices(&b, o); err == nil || !strings.Contains(err.Error(), "GOOS/GOARCH") {
		t.Errorf("a platform without an architecture: %v", err)
	}
}
