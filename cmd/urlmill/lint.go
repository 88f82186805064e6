package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/wire"
	"github.com/urlmill/urlmill/sources/file"
)

func newLint(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "lint CONFIG...",
		Short: "Check configurations without running them",
		Long: `Check configurations and report every problem as file:line:column: what is wrong; what would be right.

Variables (${NAME}, ${file:...}) are put in, so that what is checked is what "urlmill run" would do. Schemas and lists
of rules are read as well, since the columns depend on them; certificates and inputs are not looked for. Nothing is
connected to and nothing is written. Every problem is told at once, but for those that only show when others are
mended. The exit code is 2 when there is a problem. A note is none: it says what is worth a thought, such as a key under a
former name.`,
		Example: "  urlmill lint clickstream.yaml\n  urlmill lint 'pipelines/**/*.yaml'",
		Args:    args(1, -1, "at least one configuration"),
		RunE: func(cmd *cobra.Command, patterns []string) error {
			failed := false
			files, err := file.Expand(patterns)
			if err != nil {
				failed = true
				a.report(cmd.Root(), err)
			}
			for _, name := range files {
				c, err := a.components.Load(name, config.OSEnv())
				if err == nil {
					err = wire.Check(c)
				}
				var bad *config.Error
				switch {
				case errors.As(err, &bad):
					failed = true
					fmt.Fprintln(a.console, bad)
				case err != nil:
					failed = true
					a.report(cmd.Root(), err)
				default:
					for _, n := range slices.Concat(c.Notes(), wire.Notes(c)) {
						fmt.Fprintf(a.console, "%s:%d:%d: note: %s\n", plain.Text(name), n.Line, n.Column, n.Message)
					}
					if _, err := fmt.Fprintf(a.out, "%s: ok\n", plain.Text(name)); err != nil {
						return err
					}
				}
			}
			if failed {
				return &codeError{code: exitUsage}
			}
			return nil
		},
	}
}
