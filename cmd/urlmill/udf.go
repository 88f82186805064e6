package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/udf"
)

// newUDF returns the command whose subcommands are functions of other engines.
func newUDF(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "udf",
		Short:   "Be a user defined function of a database",
		Long:    "Be a user defined function of a database that starts programs and talks to them over their standard input and output.",
		Example: "  urlmill udf clickhouse --columns host,path --definition xml",
		Args:    args(0, 0, "one of its subcommands"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newUDFClickHouse(a))
	return cmd
}

// udfColumns are the columns of a function unless it is told others.
var udfColumns = []string{"scheme", "host", "port", "registrable_domain", "path", "query", "params", "fragment", "url_error"}

// udfFlags say what the function is, and whether it is to be served or defined.
type udfFlags struct {
	udf.Options
	definition, name, program string
}

func newUDFClickHouse(a *app) *cobra.Command {
	var f udfFlags
	cmd := &cobra.Command{
		Use:   "clickhouse",
		Short: "Be an executable user defined function of ClickHouse",
		Long: `Read blocks of URLs from standard input and answer each with as many rows on standard output, as executable user
defined functions of ClickHouse do, in mode executable_pool (the process stays, block after block) or executable.

The function returns one column as it is, and several as a Tuple with their names. An argument that is no URL gives
nulls, and its reason in url_error; a query never fails for it. With --definition the definition for ClickHouse is
printed instead, with the types that fit the flags: write it to a file where user_defined_executable_functions_config
of the server looks for it. docs/plugins/clickhouse.md has examples in SQL.`,
		Example: `  urlmill udf clickhouse --definition xml --name urlParts > /etc/clickhouse-server/urlParts_function.xml
  urlmill udf clickhouse --format Native --columns host,path`,
		Args: args(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error { return f.run(a) },
	}
	flags := cmd.Flags()
	choiceFlag(cmd, flags, &f.Format, "format", udf.Formats[0], "format of blocks: "+strings.Join(udf.Formats, ", "), udf.Formats...)
	flags.StringSliceVar(&f.Columns, "columns", udfColumns, "columns that are returned")
	flags.BoolVar(&f.Base, "base", false, "there is a second argument, the base URL of the first")
	flags.BoolVar(&f.Nullable, "nullable", false, "the arguments are Nullable(String)")
	flags.BoolVar(&f.ChunkHeader, "chunk-header", false, "the number of rows comes before every block (send_chunk_header)")
	choiceFlag(cmd, flags, &f.definition, "definition", "", "print the function's definition: xml, yaml", "xml", "yaml")
	flags.StringVar(&f.name, "name", "urlParts", "name of the function in the definition")
	flags.StringVar(&f.program, "program", "urlmill", "how the server finds this program, in the definition")
	return cmd
}

// run serves the function, or prints its definition.
func (f *udfFlags) run(a *app) error {
	function, err := udf.New(f.Options)
	if err != nil {
		return usagef("--columns: %w", err)
	}
	if f.definition == "" {
		return function.Serve(a.in, a.out)
	}
	if err := udf.CheckName(f.name); err != nil {
		return usagef("--name: %w", err)
	}
	text := function.Define(f.name, f.program).YAML()
	if f.definition == "xml" {
		if text, err = function.Define(f.name, f.program).XML(); err != nil {
			return err
		}
	}
	_, err = a.out.Write(text)
	return err
}
