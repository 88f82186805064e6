package main

import (
	"log/slog"
	"os"
	"slices"

	"github.com/urlmill/urlmill/sinks/commit"
)

// output is what "urlmill parse" finds in the folder that it writes to: files by what they were parsed from.
type output map[string][]string

// readOutput lists a folder. One that is not there, or cannot be read, has nothing in it: that is for the sink to refuse.
func readOutput(folder string) output {
	o := output{}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return o
	}
	for _, entry := range entries {
		if from, _, ok := commit.ParseFileName(entry.Name()); ok {
			o[from] = append(o[from], entry.Name())
		}
	}
	return o
}

// warnOfRepeats says which rows of a folder are there twice, since the same files, unchanged, had been parsed into it
// before: unlike "run", "parse" keeps no positions.
func warnOfRepeats(log *slog.Logger, folder string, before output) {
	var older []string
	for from, now := range readOutput(folder) {
		if had := before[from]; len(had) > 0 && len(now) > len(had) {
			older = append(older, had...)
		}
	}
	if len(older) > 0 {
		log.Warn("files were parsed into this folder that had been before: their rows are in it twice now; remove the older files, or use "+
			"urlmill run, which delivers a file once", "folder", folder, "older", len(older), "such_as", slices.Min(older))
	}
}
