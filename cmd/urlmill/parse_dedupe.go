package main

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/urlcore/canon"
)

// dedupeFlags are the flags of "urlmill parse" that are about duplicates.
type dedupeFlags struct {
	mode, canonical, seen, memory string
}

func canonicalForms() []string {
	var names []string
	for _, form := range []canon.Form{canon.Dedupe, canon.Strict, canon.SURTIA, canon.SURTCC} {
		names = append(names, form.String())
	}
	return names
}

func (f *dedupeFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.mode, "dedupe", "", "find pages that are there several times: mark (adds is_duplicate) or drop")
	flags.StringVar(&f.seen, "seen", "", "folder that remembers the pages for the next run (default: forgotten in the end)")
	flags.StringVar(&f.memory, "dedupe-memory", "128MiB", "memory for finding duplicates; 256MiB are enough for a hundred million pages")
	flags.StringVar(&f.canonical, "canonical", "", "add canonical_url and url_key in this form: "+strings.Join(canonicalForms(), ", ")+" (default with --dedupe: dedupe)")
	completeFlag(cmd, "dedupe", "mark", "drop")
	completeFlag(cmd, "canonical", canonicalForms()...)
}

// set puts the flags into a configuration that has all others. Where the state is not to be kept, done removes it.
func (f dedupeFlags) set(c *settings.Config, out string) (done func() error, err error) {
	done = func() error { return nil }
	if f.mode == "" && f.seen != "" {
		return done, usagef("--seen needs --dedupe mark or --dedupe drop")
	}
	if form := f.canonical; form != "" {
		if err := checkChoice("--canonical", form, canonicalForms()); err != nil {
			return done, err
		}
		c.Columns.Canonical = &settings.Canonical{Form: form}
	}
	if f.mode == "" {
		return done, nil
	}
	if err := checkChoice("--dedupe", f.mode, []string{"mark", "drop"}); err != nil {
		return done, err
	}
	if c.Columns.Canonical == nil {
		c.Columns.Canonical = &settings.Canonical{Form: canon.Dedupe.String()}
	}
	if slices.Contains(c.Columns.Exclude, keyColumn) {
		return done, usagef("--dedupe compares rows by %s, which --exclude leaves out; take it out of there", keyColumn)
	}
	d := settings.DefaultDedupe()
	d.Mode, d.Path, d.AnyOutput = f.mode, f.seen, true
	if len(c.Columns.Include) > 0 && !slices.Contains(c.Columns.Include, keyColumn) {
		c.Columns.Include = append(slices.Clip(c.Columns.Include), keyColumn)
		d.HideKey = true // nobody has asked for it
	}
	if d.Memory, err = config.ParseSize(f.memory); err != nil || d.Memory < 8<<20 {
		return done, usagef("--dedupe-memory is %q; give a size such as 256MiB, and 8MiB at least", f.memory)
	}
	if d.Path == "" {
		if d.Path, done, err = forgottenState(out); err != nil {
			return done, err
		}
	}
	c.Dedupe = &d
	return done, nil
}

// keyColumn is the column by which rows are compared.
const keyColumn = "url_key"

// forgottenState makes a folder for a state that nobody needs later: where the output is, which has the room, and readers
// of folders pass over names with an underscore; and else where temporary files are.
func forgottenState(out string) (path string, done func() error, err error) {
	parent := ""
	if out != "-" && !strings.Contains(out, "://") {
		if err := os.MkdirAll(out, 0o777); err != nil {
			return "", func() error { return nil }, err
		}
		parent = out
	}
	path, err = os.MkdirTemp(parent, "_seen-*")
	return path, func() error { return os.RemoveAll(path) }, err
}
