package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/anatomy"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/coproc"
	"github.com/urlmill/urlmill/urlcore"
)

func newURL(a *app) *cobra.Command {
	var (
		base   string
		ndjson bool
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "url URL... | url --ndjson",
		Short: "Inspect URLs, or parse one a line for another program",
		Long: `Show what a URL is: every component as the URL API gives it, the registrable domain, the decoded parameters and
every validation error with its position, and the canonical forms. The exit code is 1 when a URL does not parse.
With --json, the same is a JSON object a line.

With --ndjson, read a JSON object {"input": "...", "base": "..." or null} a line from standard input and write one a
line to standard output:

  {"href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash",
   "public_suffix", "registrable_domain", "params": [[name, value], ...]}

or {"error": name, "position": byte} for an input that does not parse. The names are those of the URL Standard, with
"base-" before them for the base; a line that is no request gives "record-malformed" and nothing stops. Every line is
answered at once, so that another program can keep urlmill beside it and ask one URL at a time.`,
		Example: `  urlmill url 'https://user@www.example.co.uk:8080/a/../b?q=1&q=2#top'
  urlmill url --base https://example.com/a/b ../c
  echo '{"input":"//example.org","base":"https://example.com"}' | urlmill url --ndjson`,
		Args: func(_ *cobra.Command, urls []string) error {
			switch {
			case ndjson && asJSON:
				return usagef("--json shows URLs of the command line, --ndjson answers standard input; give one of them")
			case ndjson && len(urls) > 0:
				return usagef("--ndjson reads standard input; give no URL beside it")
			case ndjson && base != "":
				return usagef("--ndjson takes the base from every line; give it there, as \"base\"")
			case !ndjson && len(urls) == 0:
				return usagef("give at least one URL, or --ndjson to read standard input")
			}
			return nil
		},
	}
	cmd.RunE = func(_ *cobra.Command, urls []string) error {
		if ndjson {
			return coproc.Serve(a.in, a.out)
		}
		return a.inspect(urls, base, asJSON)
	}
	cmd.Flags().StringVar(&base, "base", "", "resolve the URLs against this one")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object for each URL")
	cmd.Flags().BoolVar(&ndjson, "ndjson", false, "answer requests, one JSON object a line, from standard input")
	return cmd
}

// inspect prints the anatomy of every URL.
func (a *app) inspect(urls []string, baseText string, asJSON bool) error {
	var base *urlcore.URL
	if baseText != "" {
		var err error
		if base, err = urlcore.Parse(baseText); err != nil {
			return baseError(err)
		}
	}
	valid, write := true, anatomy.Write
	if asJSON {
		write = anatomy.WriteJSON
	}
	for i, input := range urls {
		if i > 0 && !asJSON {
			fmt.Fprintln(a.out)
		}
		ok, err := write(a.out, input, base)
		if err != nil {
			return err
		}
		valid = valid && ok
	}
	if !valid {
		return &codeError{code: exitFailure}
	}
	return nil
}

// baseError says what is wrong with --base.
func baseError(err error) error {
	var e *urlcore.Error
	if errors.As(err, &e) {
		return usagef("--base does not parse: %s at byte %d: %s", e.Code, e.Pos, e.Code.Text())
	}
	return err
}
