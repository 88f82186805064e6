package udf

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
)

// Definition is a function as ClickHouse's configuration has it. A file of them is read from where
// user_defined_executable_functions_config of the server says.
type Definition struct {
	XMLName       xml.Name   `xml:"function"`
	Type          string     `xml:"type"`
	Name          string     `xml:"name"`
	ReturnType    string     `xml:"return_type"`
	ReturnName    string     `xml:"return_name"`
	Arguments     []Argument `xml:"argument"`
	Format        string     `xml:"format"`
	Header        int        `xml:"send_chunk_header"`
	ExecuteDirect int        `xml:"execute_direct"`
	Command       string     `xml:"command"`
}

// Argument is an argument of a [Definition].
type Argument struct {
	Type string `xml:"type"`
	Name string `xml:"name"`
}

// Define returns the definition of the function under a name. program is how the server calls urlmill.
func (f *Function) Define(name, program string) Definition {
	d := Definition{
		Type: "executable_pool", Name: name, ReturnType: f.ReturnType(), ReturnName: ResultName, Format: f.opts.Format,
		// Without a shell, the program would have to lie in user_scripts_path.
		Command: "exec " + quoted(program) + " udf clickhouse --format " + f.opts.Format + " --columns " + strings.Join(f.opts.Columns, ","),
	}
	if f.opts.Format == Arrow {
		d.Type = "executable" // see the package's comment
	}
	argument := "String"
	if f.opts.Nullable {
		argument = "Nullable(String)"
		d.Command += " --nullable"
	}
	d.Arguments = []Argument{{argument, "url"}}
	if f.opts.Base {
		d.Arguments = append(d.Arguments, Argument{argument, "base"})
		d.Command += " --base"
	}
	if f.opts.ChunkHeader {
		d.Header = 1
		d.Command += " --chunk-header"
	}
	return d
}

// quoted returns a word of a shell's command.
func quoted(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

var (
	plain      = regexp.MustCompile(`^[\w@%+=:,./-]+$`)
	identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// CheckName reports whether a query can call a function by that name.
func CheckName(name string) error {
	if !identifier.MatchString(name) {
		return fmt.Errorf("%q is no name of a function: letters, digits and _, and no digit first", name)
	}
	return nil
}

// XML returns a file with the definition.
func (d Definition) XML() ([]byte, error) {
	var b bytes.Buffer
	e := xml.NewEncoder(&b)
	e.Indent("", "  ")
	err := e.Encode(struct {
		XMLName  xml.Name `xml:"functions"`
		Function Definition
	}{Function: d})
	b.WriteByte('\n')
	return b.Bytes(), err
}

// YAML returns a file with the definition.
func (d Definition) YAML() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "function:\n  type: %s\n  name: %s\n  return_type: %q\n  return_name: %s\n  argument:\n", d.Type, d.Name, d.ReturnType, d.ReturnName)
	for _, a := range d.Arguments {
		fmt.Fprintf(&b, "    - type: %s\n      name: %s\n", a.Type, a.Name)
	}
	fmt.Fprintf(&b, "  format: %s\n  send_chunk_header: %d\n  execute_direct: %d\n  command: %q\n", d.Format, d.Header, d.ExecuteDirect, d.Command)
	return b.Bytes()
}
