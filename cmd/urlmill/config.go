package main

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/examples"
	"github.com/urlmill/urlmill/internal/wire"
)

func newConfig(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "The keys of configurations: a schema for editors, a reference, files to start from",
		Args:  args(0, 0, "one of schema, reference, init and avro-schema"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef("%s needs one of schema, reference, init and avro-schema; see \"%s --help\"", cmd.CommandPath(), cmd.CommandPath())
		},
	}
	cmd.AddCommand(
		&cobra.Command{
			Use:   "schema",
			Short: "Print the JSON Schema of configurations, for editors",
			Long: `Print the JSON Schema of configurations. Editors with a YAML language server take it from the first line of a file:

  # yaml-language-server: $schema=urlmill.schema.json

It finds unknown keys and values of the wrong kind while one types; "urlmill lint" finds the rest.`,
			Example: "  urlmill config schema > urlmill.schema.json",
			Args:    args(0, 0, "no arguments"),
			RunE:    func(*cobra.Command, []string) error { return a.print(config.JSONSchema(a.components.New().Section())) },
		},
		&cobra.Command{
			Use:     "reference",
			Short:   "Print the reference of all keys, in Markdown",
			Example: "  urlmill config reference > reference.md",
			Args:    args(0, 0, "no arguments"),
			RunE:    func(*cobra.Command, []string) error { return a.print(config.Reference(a.components.New().Section())) },
		},
		newConfigInit(a),
		newConfigAvroSchema(a),
	)
	return cmd
}

func (a *app) print(data []byte) error {
	_, err := a.out.Write(data)
	return err
}

func newConfigInit(a *app) *cobra.Command {
	var use string
	names := examples.Uses()
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Print a configuration to start from",
		Long: fmt.Sprintf(`Print a configuration to start from, explained line by line: %s. It runs as it is once the
variables that its first lines name are set, and "urlmill lint" checks what is made of it.`, strings.Join(names, ", ")),
		Example: "  urlmill config init --use clickstream > pipeline.yaml\n  urlmill lint pipeline.yaml",
		Args:    args(0, 0, "no arguments"),
		RunE:    func(*cobra.Command, []string) error { return a.print(examples.Use(use)) },
	}
	choiceFlag(cmd, cmd.Flags(), &use, "use", names[0], "what for: "+strings.Join(names, ", "), names...)
	return cmd
}

func newConfigAvroSchema(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "avro-schema CONFIG",
		Short: "Print the Avro schema of the rows that sink.kafka writes",
		Long: `Print the Avro schema that the rows have with sink.kafka and format: avro. It follows from the columns, and nobody is
asked for it: with register: false it can be registered beforehand, or looked at before columns are changed.`,
		Example: `  urlmill config avro-schema relay.yaml | jq '{schema: tojson}' |
    curl -H 'Content-Type: application/json' -d @- http://localhost:8081/subjects/clicks.parsed-value/versions`,
		Args: args(1, 1, "one configuration"),
		RunE: func(_ *cobra.Command, files []string) error {
			c, err := a.loadConfig(files[0])
			if err != nil {
				return err
			}
			job, err := wire.Prepare(c, a.setting(slog.New(slog.DiscardHandler)))
			if err != nil {
				return err
			}
			text, _, err := job.AvroSchema()
			if err != nil {
				return usagef("%s: %v: its rows have no Avro schema; give sink.kafka with format: avro", files[0], err)
			}
			return a.print([]byte(text + "\n"))
		},
	}
}

// loadConfig reads a configuration. A file that cannot be read is a mistake on the command line.
func (a *app) loadConfig(file string) (*wire.Config, error) {
	c, err := a.components.Load(file, config.OSEnv())
	var bad *config.Error
	if err != nil && !errors.As(err, &bad) {
		err = &usageError{err}
	}
	return c, err
}
