package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
)

// filesFlags are the flags of "urlmill files".
type filesFlags struct{ json, dead bool }

func newFiles(a *app) *cobra.Command {
	var f filesFlags
	cmd := &cobra.Command{
		Use:   "files PLACE",
		Short: "List the files that have every row of an output exactly once",
		Long: `List the files of an output with exactly-once delivery, one a line, that have every committed row exactly once at this
moment: also while commits are being published, and while "urlmill compact" replaces files. Nothing is changed.

A file of the list may be replaced later; a reader that finds one gone lists them again.`,
		Example: `  duckdb -c "SELECT count(*) FROM read_parquet([$(urlmill files out/clicks | sed "s/.*/'&'/" | paste -sd,)])"
  urlmill files s3://lake/clicks --json | jq .path`,
		Args: args(1, 1, "the place of an output"),
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.json, "json", false, "print a JSON object for each file, with its rows, bytes, checksum and positions")
	flags.BoolVar(&f.dead, "dead-letters", false, "list the files with dead letters instead")
	cmd.RunE = func(cmd *cobra.Command, places []string) error { return a.files(cmd.Context(), places[0], f) }
	return cmd
}

// listed is a file in the output of "urlmill files --json".
type listed struct {
	Path      string           `json:"path"`
	Rows      int64            `json:"rows"`
	Bytes     int64            `json:"bytes"`
	Checksum  string           `json:"checksum"`
	Positions []commit.Stretch `json:"positions"`
	Compacted int64            `json:"compacted,omitempty"`
}

// files runs the command.
func (a *app) files(parent context.Context, place string, f filesFlags) error {
	ctx, stop, root, open, err := a.openPlace(parent, place)
	if err != nil {
		return err
	}
	defer stop()
	records, err := commit.HasRecords(ctx, root)
	if err != nil {
		return err
	}
	if !records {
		return fmt.Errorf("%s has no commit records: it is no output with exactly-once delivery, or the wrong path", root.Location())
	}
	snap, err := commit.ReadSnapshot(ctx, root, commit.NewPlaces(root, open, a.flagLogger()).Get)
	if err != nil {
		return err
	}
	shown := terminalWidth(a.out) > 0 // else a program reads them
	out := json.NewEncoder(a.out)
	out.SetEscapeHTML(false)
	for _, file := range snap.Files {
		if (file.Table == pipeline.DeadLetters.String()) != f.dead {
			continue
		}
		l := listed{store.Join(root.Location(), file.Path()), file.Rows, file.Bytes, file.Checksum, file.Positions, file.Compacted}
		if f.json {
			err = out.Encode(l)
		} else {
			path := l.Path
			if shown {
				path = plain.Text(path)
			}
			_, err = fmt.Fprintln(a.out, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
