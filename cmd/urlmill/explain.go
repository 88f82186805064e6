package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/internal/keytrace"
	"github.com/urlmill/urlmill/internal/wire"
	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/canon"
)

// explainFlags say by which form keys are made.
type explainFlags struct {
	form, config  string
	with, without []string
}

func newExplain(a *app) *cobra.Command {
	var f explainFlags
	steps := ""
	for _, s := range canon.Steps() {
		steps += fmt.Sprintf("  %-11s  %s\n", s, s.Text())
	}
	cmd := &cobra.Command{
		Use:   "explain URL [URL]",
		Short: "Show why two URLs have one key, or where they part",
		Long: `Show step by step how URLs become their keys (canonical_url, of which url_key is the hash), each step with the name of
its rule. Of two URLs, say whether they have one key, in what they differ if not, and which option would join them.

The form is dedupe, or as --form says, or as a configuration has it with --config. These are its steps; a configuration
switches them with columns.canonical.with and without:

` + steps + `
All are on but https, which --with https adds. The exit code is 1 when two URLs have two keys, or one does not parse.`,
		Example: `  urlmill explain 'https://www.example.com/index.html?utm_source=x#top' https://example.com/
  urlmill explain --config dedupe.yaml http://example.com/ https://example.com/`,
		Args: args(1, 2, "one URL or two"),
		RunE: func(cmd *cobra.Command, urls []string) error {
			o, err := f.options(a, cmd.Flags().Changed("form"))
			if err != nil {
				return err
			}
			return explain(a.out, o, urls)
		},
	}
	flags := cmd.Flags()
	choiceFlag(cmd, flags, &f.form, "form", canon.Dedupe.String(), "canonical form: "+strings.Join(canon.Forms(), ", "), canon.Forms()...)
	flags.StringSliceVar(&f.with, "with", nil, "steps that the form dedupe does not have by itself, such as https")
	flags.StringSliceVar(&f.without, "without", nil, "steps of the form dedupe to leave out, such as www,documents")
	flags.StringVar(&f.config, "config", "", "take form, steps and tracking rules from this configuration")
	return cmd
}

// options returns how keys are made.
func (f explainFlags) options(a *app, formGiven bool) (o canon.Options, err error) {
	if f.config != "" {
		if formGiven || len(f.with)+len(f.without) > 0 {
			return o, usagef("--config says the form and its steps; take --form, --with and --without out")
		}
		return a.configured(f.config)
	}
	if o.Form, err = canon.ParseForm(f.form); err != nil {
		return o, &usageError{err}
	}
	for _, flag := range []struct {
		names []string
		steps *canon.Step
	}{{f.with, &o.With}, {f.without, &o.Without}} {
		for _, name := range flag.names {
			step, err := canon.ParseStep(name)
			if err != nil {
				return o, &usageError{err}
			}
			*flag.steps |= step
		}
	}
	if _, err := keytrace.Check(o); err != nil {
		return o, &usageError{err}
	}
	return o, nil
}

// configured returns how the keys of a configuration are made.
func (a *app) configured(file string) (o canon.Options, err error) {
	c, err := a.loadConfig(file)
	if err != nil {
		return o, err
	}
	if c.Columns.Canonical == nil {
		return o, usagef("%s has no keys; add columns: {canonical: {form: dedupe}}", file)
	}
	lists, err := wire.ReadLists(c)
	if err != nil {
		return o, err
	}
	o = *c.Columns.Canonical
	o.Rules, o.Suffixes = lists.Rules, lists.Suffixes
	_, err = keytrace.Check(o)
	return o, err
}

// explain prints how one URL or two become keys, and of two whether they have one.
func explain(out io.Writer, o canon.Options, urls []string) error {
	var keys []string
	for i, url := range urls {
		t, err := keytrace.Of(o, url)
		if e := (*urlcore.Error)(nil); errors.As(err, &e) {
			return fmt.Errorf("%s does not parse: %s at byte %d: %s", plain.Text(url), e.Code, e.Pos, e.Code.Text())
		} else if err != nil {
			return err
		}
		if i > 0 {
			fmt.Fprintln(out)
		}
		writeTrace(out, t)
		keys = append(keys, t.Key)
	}
	name, err := keytrace.Check(o)
	if err != nil {
		return err
	}
	if len(keys) == 1 {
		_, err := fmt.Fprintf(out, "\nkey by %s\n  %s\n", name, plain.Text(keys[0]))
		return err
	}
	if keys[0] == keys[1] {
		_, err := fmt.Fprintf(out, "\none key by %s\n  %s\n", name, plain.Text(keys[0]))
		return err
	}
	fmt.Fprintf(out, "\ntwo keys by %s\n  %s\n  %s\n\nthey part here\n", name, plain.Text(keys[0]), plain.Text(keys[1]))
	for _, part := range keytrace.Parts(keys[0], keys[1]) {
		fmt.Fprintf(out, "  %s\n", plain.Text(part))
	}
	if joined, ok := keytrace.Join(o, urls[0], urls[1]); ok {
		_, err = fmt.Fprintf(out, "\nthis joins them\n  columns: {canonical: %s}\n", asConfig(joined))
	} else {
		_, err = fmt.Fprintf(out, "\nno form joins them: they are two pages by all of %s\n", strings.Join(canon.Forms(), ", "))
	}
	if err != nil {
		return err
	}
	return &codeError{code: exitFailure}
}

// writeTrace prints what every rule has made of a URL.
func writeTrace(out io.Writer, t keytrace.Trace) {
	fmt.Fprintf(out, "%s\n", plain.Text(t.Input))
	for _, c := range t.Changes {
		fmt.Fprintf(out, "  %-11s  %s\n  %-11s  %s\n", c.Rule, c.Text, "", plain.Text(c.URL))
	}
	if len(t.Changes) == 0 {
		fmt.Fprintf(out, "  no rule changes it\n")
	}
}

// asConfig writes options as the value of columns.canonical.
func asConfig(o canon.Options) string {
	text := "{form: " + o.Form.String()
	for _, list := range []struct {
		key   string
		steps canon.Step
	}{{"with", o.With}, {"without", o.Without}} {
		if list.steps != 0 {
			text += ", " + list.key + ": [" + strings.ReplaceAll(list.steps.String(), ",", ", ") + "]"
		}
	}
	return text + "}"
}
