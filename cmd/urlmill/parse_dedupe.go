package main

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/urlcore/canon"
)

// dedupeFlags are the flags of "urlmill parse" that are about duplicates.
type dedupeFlags struct {
	mode, canonical, seen, memory string
}

func (f *dedupeFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	choiceFlag(cmd, flags, &f.mode, "dedupe", "", "find pages that are there several times: mark (adds is_duplicate) or drop", "mark", "drop")
	flags.StringVar(&f.seen, "seen", "", "folder that remembers the pages for the next run (default: forgotten in the end)")
	flags.StringVar(&f.memory, "dedupe-memory", "128MiB", "memory for finding duplicates; 256MiB are enough for a hundred million pages")
	choiceFlag(cmd, flags, &f.canonical, "canonical", "",
		"add canonical_url and url_key in this form: "+strings.Join(canon.Forms(), ", ")+" (default with --dedupe: dedupe)", canon.Forms()...)
}

// hidesKey reports whether the column that rows are compared by is not to be written, as nobody has asked for it.
func (f parseFlags) hidesKey() bool {
	picked := len(f.columns) > 0 || f.to == toTable && len(f.exclude) == 0 // see tableColumns
	return f.dedupe.mode != "" && picked && !slices.Contains(f.columns, keyColumn)
}

// set sets the keys. Where the state is not to be kept, done removes it.
func (f dedupeFlags) set(k keys, all parseFlags) (done func() error, err error) {
	if f.mode == "" && f.seen != "" {
		return nothing, usagef("--seen needs --dedupe mark or --dedupe drop")
	}
	k.set("--canonical", "columns.canonical.form", f.canonical)
	if f.mode == "" {
		return nothing, nil
	}
	if f.canonical == "" {
		k.put("columns.canonical.form", canon.Dedupe.String())
	}
	if slices.Contains(all.exclude, keyColumn) {
		return nothing, usagef("--dedupe compares rows by %s, which --exclude leaves out; take it out of there", keyColumn)
	}
	if columns, _ := k.root["columns"].(map[string]any); all.hidesKey() {
		include, _ := columns["include"].([]string)
		k.put("columns.include", append(slices.Clip(include), keyColumn))
	}
	k.set("--dedupe", "dedupe.mode", f.mode)
	k.set("--dedupe-memory", "dedupe.memory", f.memory)
	if f.seen != "" {
		k.set("--seen", "dedupe.path", f.seen)
		return nothing, nil
	}
	path, done, err := forgottenState(all.out)
	k.put("dedupe.path", path)
	return done, err
}

// keyColumn is the column by which rows are compared.
const keyColumn = "url_key"

// forgottenState makes a folder for a state that nobody needs later: where the output is, which has the room, and readers
// of folders pass over names with an underscore; and else where temporary files are.
func forgottenState(out string) (path string, done func() error, err error) {
	parent := ""
	if reason, _ := config.Misplaced(out, false); out != "-" && reason == "" {
		if err := os.MkdirAll(out, 0o777); err != nil {
			return "", func() error { return nil }, err
		}
		parent = out
	}
	path, err = os.MkdirTemp(parent, "_seen-*")
	return path, func() error { return os.RemoveAll(path) }, err
}
