package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/anatomy"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/coproc"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/drain"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/lineproto"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/urldiff"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/urlcore"
)

// urlFlags say what the URLs of the command line, or standard input, are to become.
type urlFlags struct {
	base   string
	scheme string // of bare hosts
	ndjson bool
	asJSON bool
	color  string
	diff   string

	framing, lineProtocol string
}

func newURL(a *app) *cobra.Command {
	var f urlFlags
	cmd := &cobra.Command{
		Use:   "url URL... | url --ndjson | url --line-protocol FIELD | url --diff net/url",
		Short: "Inspect URLs, or parse one a line for another program",
		Long: `Show what a URL is: its parts underlined in their places, every component as the URL API gives it, the kind of host,
the registrable domain, the decoded parameters, the canonical forms, and below the input every validation error at its
place. The exit code is 1 when a URL does not parse. It is coloured on a terminal, unless NO_COLOR is set; --color says
otherwise. With --json, the same is a JSON object a line.

With --ndjson, read a JSON object {"input": "...", "base": "..." or null} a line from standard input and write one a
line to standard output:

  {"href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash",
   "public_suffix", "registrable_domain", "params": [[name, value], ...]}

or {"error": name, "position": byte} for an input that does not parse. The names are those of the URL Standard, with
"base-" before them for the base; a line that is no request gives "record-malformed" and nothing stops. Every line is
answered at once, so that another program can keep urlmill beside it and ask one URL at a time. This is version 1 of the
protocol; --framing uint32 or netstring puts the length before every request and answer instead of a line end behind it.

With --line-protocol, pass metrics in InfluxDB's line protocol on, as Telegraf's processor execd wants it; those with a
URL in the field or tag FIELD get further fields: FIELD_scheme, _host, _port, _registrable_domain, _path, _query and
_fragment, or FIELD_error.

With --diff net/url, say where Go's net/url and urlmill read the URLs of standard input, one a line, or of the command line
otherwise: how many are URLs to one of them alone, or differ in host, path, query and so on, with an example of each.`,
		Example: `  urlmill url 'https://user@www.example.co.uk:8080/a/../b?q=1&q=2#top'
  urlmill url --base https://example.com/a/b ../c
  urlmill url --default-scheme https example.com/a
  echo '{"input":"//example.org","base":"https://example.com"}' | urlmill url --ndjson
  urlmill url --diff net/url < urls.txt`,
		Args: func(_ *cobra.Command, urls []string) error { return f.check(urls) },
		RunE: func(_ *cobra.Command, urls []string) error { return f.run(a, urls) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.base, "base", "", "resolve the URLs against this one")
	choiceFlag(cmd, flags, &f.scheme, "default-scheme", "", "scheme of URLs that begin with their host, such as example.com/a: https or http", "https", "http")
	choiceFlag(cmd, flags, &f.color, "color", "auto", "colours: auto, always, never", "auto", "always", "never")
	flags.BoolVar(&f.asJSON, "json", false, "print a JSON object for each URL")
	flags.BoolVar(&f.ndjson, "ndjson", false, "answer requests, one JSON object a line, from standard input")
	choiceFlag(cmd, flags, &f.framing, "framing", coproc.Framings[0], "how requests of --ndjson are told apart: "+strings.Join(coproc.Framings, ", "), coproc.Framings...)
	flags.StringVar(&f.lineProtocol, "line-protocol", "", "pass metrics on, with the parts of the URL in this field or tag")
	choiceFlag(cmd, flags, &f.diff, "diff", "", "compare with another parser: net/url", "net/url")
	return cmd
}

// check refuses flags that do not go together.
func (f *urlFlags) check(urls []string) error {
	switch {
	case f.scheme != "" && (f.ndjson || f.lineProtocol != "" || f.diff != "" || f.base != ""):
		return usagef("--default-scheme is for URLs of the command line, without --base; take one of them out")
	case f.lineProtocol != "" && (f.ndjson || f.asJSON || f.base != "" || len(urls) > 0):
		return usagef("--line-protocol reads metrics from standard input; give neither URLs nor other modes beside it")
	case f.lineProtocol != "":
		return nil
	case f.diff != "" && (f.ndjson || f.asJSON || f.base != ""):
		return usagef("--diff reads a list of URLs, each by itself; give neither a base nor other modes beside it")
	case f.diff != "":
		return nil
	case f.framing != coproc.Framings[0] && !f.ndjson:
		return usagef("--framing is for --ndjson")
	case f.ndjson && f.asJSON:
		return usagef("--json shows URLs of the command line, --ndjson answers standard input; give one of them")
	case f.ndjson && len(urls) > 0:
		return usagef("--ndjson reads standard input; give no URL beside it")
	case f.ndjson && f.base != "":
		return usagef("--ndjson takes the base from every line; give it there, as \"base\"")
	case !f.ndjson && len(urls) == 0:
		return usagef("give at least one URL, or --ndjson to read standard input")
	}
	return nil
}

func (f *urlFlags) run(a *app, urls []string) error {
	if f.ndjson || f.lineProtocol != "" {
		defer drain.Wait(a.out)
	}
	if f.ndjson {
		return coproc.Serve(a.in, a.out, coproc.Framing(f.framing))
	}
	if f.lineProtocol != "" {
		return lineproto.Serve(a.in, a.out, f.lineProtocol)
	}
	if f.diff != "" {
		return a.diff(urls)
	}
	if f.scheme != "" {
		for i, u := range urls {
			urls[i] = urlcols.WithScheme(f.scheme, u)
		}
	}
	return a.inspect(urls, f.base, f.asJSON, a.style(f.color))
}

// diff compares what parsers read in URLs, or in those of standard input where none are given.
func (a *app) diff(urls []string) error {
	var r urldiff.Report
	for _, u := range urls {
		r.Add(u)
	}
	if len(urls) == 0 {
		if err := r.Read(a.in); err != nil {
			return err
		}
	}
	return r.Write(a.out)
}

// style returns how URLs are shown on standard output. NO_COLOR turns colours off (https://no-color.org).
func (a *app) style(color string) anatomy.Style {
	s := anatomy.Style{Width: terminalWidth(a.out)}
	s.Color = color == "always" || color == "auto" && s.Width > 0 && os.Getenv("NO_COLOR") == ""
	return s
}

// inspect prints the anatomy of every URL.
func (a *app) inspect(urls []string, baseText string, asJSON bool, style anatomy.Style) error {
	var base *urlcore.URL
	if baseText != "" {
		var err error
		if base, err = urlcore.Parse(baseText); err != nil {
			return baseError(err)
		}
	}
	valid := true
	write := func(input string) (bool, error) { return anatomy.Write(a.out, input, base, style) }
	if asJSON {
		write = func(input string) (bool, error) { return anatomy.WriteJSON(a.out, input, base) }
	}
	for i, input := range urls {
		if i > 0 && !asJSON {
			fmt.Fprintln(a.out)
		}
		ok, err := write(input)
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
