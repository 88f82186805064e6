// Command gen writes list.txt, the list that package psl embeds: the Public Suffix List in its own format, with
// A-labels and without comments other than the section marks and where it is from.
//
// The source is either a Go module that holds the list as Go data, which the go command downloads, or a file in the
// list's own format such as Debian's /usr/share/publicsuffix/public_suffix_list.dat:
//
//	go run ./internal/gen -module github.com/weppos/publicsuffix-go@v0.50.3 -o list.txt
//	go run ./internal/gen -file public_suffix_list.dat -source "..." -version 2026-01-31 -o list.txt
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urlmill/urlmill/urlcore/psl"
)

// header is the notice that the list's licence asks for.
const header = `// This Source Code Form is subject to the terms of the Mozilla Public
// License, v. 2.0. If a copy of the MPL was not distributed with this
// file, You can obtain one at https://mozilla.org/MPL/2.0/.

// The Public Suffix List (https://publicsuffix.org/list/), with IDN labels as A-labels and
// without its comments. Written by urlcore/psl/internal/gen; DO NOT EDIT.
`

// A list is what both kinds of source give.
type list struct {
	source, version, commit string
	icann, private          []string // rules, IDN labels as A-labels
}

func main() { os.Exit(command(os.Args[1:], os.Stderr)) }

// command runs the program with the given arguments and returns its exit code.
func command(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("gen", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var o options
	flags.StringVar(&o.module, "module", "", "take the list from this Go `module@version`")
	flags.StringVar(&o.file, "file", "", "take the list from this `file` in the format of publicsuffix.org")
	flags.StringVar(&o.source, "source", "", "say that the list is from here")
	flags.StringVar(&o.version, "version", "", "say that the list is of this date")
	flags.StringVar(&o.out, "o", "list.txt", "write to this `file`")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if err := o.run(); err != nil {
		_, _ = fmt.Fprintln(stderr, "gen:", err)
		return 1
	}
	return 0
}

type options struct{ module, file, source, version, out string }

// run reads the list, checks it and writes it.
func (o *options) run() error {
	var l *list
	var err error
	switch {
	case o.module != "" && o.file == "":
		l, err = fromModule(o.module)
	case o.file != "" && o.module == "":
		l, err = fromFile(o.file)
	default:
		return fmt.Errorf("give either -module or -file")
	}
	if err != nil {
		return err
	}
	if o.source != "" {
		l.source = o.source
	}
	if o.version != "" {
		l.version = o.version
	}
	text := l.text()
	if _, err := psl.Parse(bytes.NewReader(text)); err != nil {
		return fmt.Errorf("what would be written is no list: %w", err)
	}
	return os.WriteFile(o.out, text, 0o644)
}

// text returns the list in the format of publicsuffix.org.
func (l *list) text() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n// SOURCE: %s\n// VERSION: %s\n", header, l.source, l.version)
	if l.commit != "" {
		fmt.Fprintf(&b, "// COMMIT: %s\n", l.commit)
	}
	for _, section := range []struct {
		name  string
		rules []string
	}{{"ICANN", l.icann}, {"PRIVATE", l.private}} {
		fmt.Fprintf(&b, "\n// ===BEGIN %s DOMAINS===\n%s\n// ===END %s DOMAINS===\n",
			section.name, strings.Join(section.rules, "\n"), section.name)
	}
	return b.Bytes()
}
