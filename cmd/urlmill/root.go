package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/wire"
	"github.com/urlmill/urlmill/sinks/store"
)

// app is what the commands share.
type app struct {
	in         io.Reader
	out, err   io.Writer
	components wire.Components
	stores     store.Opener // nil, but for tests
	// dedupeStep is [wire.Setting.DedupeStep]; nil, but for tests.
	dedupeStep func(string) error

	logFormat, logLevel string
	console             *console
	started             bool // the command line was right, and the command has begun
}

// execute runs the command line args and returns the exit code.
func execute(args []string, a *app) int {
	a.console = newConsole(a.err)
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	cmd, err := root.ExecuteC()
	var own *usageError
	if err != nil && !a.started && !errors.As(err, &own) {
		// The command line itself is wrong, by what cobra says.
		if what, near, ok := strings.Cut(err.Error(), "\n\nDid you mean this?\n\t"); ok {
			near, _, _ = strings.Cut(near, "\n")
			err = fmt.Errorf("%s (did you mean %q?)", what, near)
		}
		err = usagef("%w\nsee \"%s --help\"", err, cmd.CommandPath())
	}
	a.report(root, err)
	return exitCode(err)
}

// report prints the error of a command.
func (a *app) report(root *cobra.Command, err error) {
	if err == nil {
		return
	}
	if e := (*codeError)(nil); errors.As(err, &e) && e.err == nil {
		return
	}
	if a.logFormat == "json" {
		a.logger(slog.LevelInfo, a.logFormat).Error(err.Error())
		return
	}
	if bad := (*config.Error)(nil); errors.As(err, &bad) && bad.File != "" {
		fmt.Fprintln(a.console, bad) // every line begins with the file
		return
	}
	fmt.Fprintf(a.console, "%s: %v\n", root.Name(), err)
}

// newRoot returns the command urlmill with all its subcommands.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "urlmill",
		Short: "Parse streams of URLs into columns",
		Long: `urlmill reads URLs from Kafka, files or standard input, parses them as browsers do (WHATWG URL Standard),
and writes their parts as columns of Parquet, Arrow or NDJSON, into files, topics or tables of databases.`,
		Example: `  urlmill demo                                 # a million records through a Kafka broker in this process
  urlmill url 'https://user@example.co.uk/?a=1'
  urlmill parse access.ndjson.gz --url-field /url --to parquet -o out/
  urlmill run clickstream.yaml`,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkChoices(cmd.Flags()); err != nil {
				return err
			}
			a.started = true
			return nil
		},
	}
	root.SetFlagErrorFunc(flagError)
	root.Flags().Bool("version", false, "print the version; \"urlmill version\" says more")
	// Cobra prints a version in a form of its own. Its way to another form links text/template, which calls methods by name, and so
	// keeps every exported method of every type in the binary.
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if asked, _ := root.Flags().GetBool("version"); asked {
			fmt.Fprintf(a.out, "urlmill %s\n", version())
			return
		}
		help(cmd, args)
	})
	choiceFlag(root, root.PersistentFlags(), &a.logFormat, "log-format", "text", "format of the log on standard error: text or json", "text", "json")
	choiceFlag(root, root.PersistentFlags(), &a.logLevel, "log-level", "info", "least level that is logged: debug, info, warn or error", "debug", "info", "warn", "error")
	root.AddCommand(
		newRun(a), newDryRun(a), newTop(a), newParse(a), newURL(a), newExplain(a), newLint(a), newVerify(a), newSQL(a), newCompact(a), newFiles(a), newCompare(a), newDemo(a), newProduce(a), newParquet(a),
		newConvert(a), newUDF(a), newConfig(a), newVersion(a), newMan(),
		&cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: exitCodesHelp},
	)
	return root
}

// flagError says of a flag that is wrong what would be right.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		name := unknown.GetSpecifiedName()
		if strings.HasSuffix(cmd.Use, " CONFIG") && slices.Contains([]string{"config", "c", "f", "file"}, name) {
			return fmt.Errorf("%w; the configuration stands alone: %s c.yaml", err, cmd.CommandPath())
		}
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
		return fmt.Errorf("%w%s", err, config.Suggest("--"+name, known))
	}
	var invalid *pflag.InvalidValueError
	if wants := map[string]string{"duration": "a duration such as 30s, 5m or 24h", "int": "a whole number", "int64": "a whole number", "bool": "true or false"}; errors.As(err, &invalid) && wants[invalid.GetFlag().Value.Type()] != "" {
		return fmt.Errorf("--%s is %q; give %s", invalid.GetFlag().Name, invalid.GetValue(), wants[invalid.GetFlag().Value.Type()])
	}
	return err
}

// choicesKey is the annotation of a flag that has its choices.
const choicesKey = "urlmill_choices"

// choiceFlag adds a flag to cmd whose value is one of the choices, or what it is by default. The shell completes them, and
// [checkChoices] refuses another value before the command runs.
func choiceFlag(cmd *cobra.Command, flags *pflag.FlagSet, value *string, name, otherwise, usage string, choices ...string) {
	flags.StringVar(value, name, otherwise, usage)
	flags.Lookup(name).Annotations = map[string][]string{choicesKey: choices}
	completeFlag(cmd, name, choices...)
}

// checkChoices checks the flags that were given against their choices.
func checkChoices(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if choices, ok := f.Annotations[choicesKey]; ok && err == nil && f.Value.String() != f.DefValue {
			err = checkChoice("--"+f.Name, f.Value.String(), choices)
		}
	})
	return err
}

// checkChoice checks the value of a flag against the values that it can have.
func checkChoice(flag, value string, allowed []string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return usagef("%s is %q; give one of %s%s", flag, value, strings.Join(allowed, ", "), config.Suggest(value, allowed))
}

// completeFlag lets the shell complete the values of a flag.
func completeFlag(cmd *cobra.Command, flag string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the flag does not exist
	}
}

// args checks the number of arguments; its error says what is wanted.
func args(low, high int, want string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < low || high >= 0 && len(args) > high {
			return usagef("%s needs %s; see \"%s --help\"", cmd.CommandPath(), want, cmd.CommandPath())
		}
		return nil
	}
}
