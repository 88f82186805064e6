package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/report"
	"github.com/urlmill/urlmill/internal/wire"
)

// summaryJSON is the value of --summary for programs.
const summaryJSON = "json"

func summaryFlag(cmd *cobra.Command, value *string) {
	choiceFlag(cmd, cmd.Flags(), value, "summary", "text", "what was done: text on standard error, or json on standard output too", "text", summaryJSON)
}

// newAccount returns the account of a job that begins now.
func newAccount(c *wire.Config) *report.Account {
	return &report.Account{Version: readBuild().Version, Config: c.Hash(), Started: time.Now()}
}

// tell prints the account of a job to standard output, and returns the error that the command ends with, which is err if that
// succeeds. It comes after everything else that can fail, so that the account has the exit code of the process. Nothing is printed
// without an account, of a job that was refused before it started, and after a second signal, when nothing is known of the end.
func (a *app) tell(job *report.Account, err error) error {
	code := exitCode(err)
	if job == nil || code == exitInterrupt || code == exitUsage && job.Ended == "" {
		return err
	}
	if failed := job.JSON(a.out, code, err); failed != nil {
		return errors.Join(err, failed)
	}
	return err
}
