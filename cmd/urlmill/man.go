package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newMan returns the command that packagers call.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:     "man FOLDER",
		Short:   "Write the man pages of all commands into a folder",
		Example: "  urlmill man /usr/local/share/man/man1",
		Args:    args(1, 1, "one folder"),
		RunE: func(cmd *cobra.Command, folders []string) error {
			if err := os.MkdirAll(folders[0], 0o755); err != nil {
				return fmt.Errorf("man: %w", err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // it has today's date
			return doc.GenManTree(root, manHeader(readBuild()), folders[0])
		},
	}
}

// manHeader dates the pages by the commit, so that the same commit makes the same pages.
func manHeader(b buildInfo) *doc.GenManHeader {
	date := time.Unix(0, 0).UTC()
	if t, err := time.Parse(time.RFC3339, b.Time); err == nil {
		date = t
	}
	return &doc.GenManHeader{Title: "URLMILL", Section: "1", Source: "urlmill " + b.Version, Manual: "urlmill", Date: &date}
}
