package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/cdxj"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/delimited"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/rowview"
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/wire"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/privacy"
	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sources/codec/accesslog"
)

// keys is the configuration that does what flags say, by the keys that a file would have. So it is checked as a file is.
type keys struct {
	root  map[string]any
	flags map[string]string // which flag each key is of
}

// set gives the key at path a value that a flag has; "", nil, zero and false are none.
func (k keys) set(flag, path string, value any) {
	if text := fmt.Sprint(value); text == "" || text == "[]" || text == "0" || text == "false" {
		return
	}
	k.flags[path] = flag
	k.put(path, value)
}

// put gives a key a value that no flag has.
func (k keys) put(path string, value any) {
	at, names := k.root, strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		next, ok := at[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[name] = next
		}
		at = next
	}
	at[names[len(names)-1]] = value
}

// configuration reads the keys as a file is read, but for variables: a command line has none.
func (k keys) configuration(r wire.Components) (*wire.Config, error) {
	text, err := json.Marshal(k.root) // which is YAML as well
	if err != nil {
		return nil, err
	}
	c, err := r.Parse("", []byte(strings.ReplaceAll(string(text), "${", "$${")), config.Env{})
	return c, k.named(err)
}

// named returns err with its problems at flags instead of keys.
func (k keys) named(err error) error {
	var bad *config.Error
	if !errors.As(err, &bad) {
		return err
	}
	var all []error
	for _, p := range bad.Problems {
		flag := ""
		for path := p.Path; flag == "" && path != ""; path = path[:max(0, strings.LastIndexAny(path, ".["))] {
			flag = k.flags[path]
		}
		text := p.Message
		var field *pipeline.FieldError
		if errors.As(p.Cause, &field) {
			without := *field
			without.Path = ""
			text = without.Error()
		}
		if flag != "" {
			text = flag + ": " + text
		}
		all = append(all, errors.New(text))
	}
	return &usageError{errors.Join(all...)}
}

// keys returns the configuration. done removes what was made for it.
func (f parseFlags) keys(files []string) (k keys, done func() error, err error) {
	k = keys{root: map[string]any{}, flags: map[string]string{}}
	k.put("source.file.paths", files)
	k.set("--parallel", "source.file.parallel", f.parallel)
	k.set("--memory-limit", "memory_limit", f.memoryLimit)
	if f.out == "-" && f.parallel == 0 {
		k.put("source.file.parallel", 1) // rows come out in the order of the files
	}
	k.put("sink.roll.every", "0s")
	k.set("--columns", "columns.include", f.columns)
	k.set("--exclude", "columns.exclude", f.exclude)
	k.set("--default-scheme", "columns.default_scheme", f.defaultScheme)
	k.set("--on-error", "on_error", f.onError)
	if f.acquisition {
		k.put("enrich.acquisition", map[string]any{})
	}
	k.set("--user-agent", "enrich.user_agent.field", f.userAgent)
	k.set("--geo", "enrich.address.files", f.geo)
	k.set("--address", "enrich.address.field", f.address)
	f.setPrivacy(k)
	if err := f.setCodec(k, files); err != nil {
		return k, nothing, err
	}
	if err := f.setSink(k); err != nil {
		return k, nothing, err
	}
	done, err = f.dedupe.set(k, f)
	return k, done, err
}

func nothing() error { return nil }

// setPrivacy sets what is removed: kinds of values, and names.
func (f parseFlags) setPrivacy(k keys) {
	if len(f.redact) == 0 {
		return
	}
	kinds, names := []string{}, []string{}
	for _, text := range f.redact {
		switch {
		case text == "all":
			kinds, names = append(kinds, privacy.Kinds()...), append(names, privacy.Names...)
		case slices.Contains(privacy.Kinds(), text):
			kinds = append(kinds, text)
		default:
			names = append(names, text)
		}
	}
	k.put("privacy", map[string]any{"kinds": kinds, "names": names})
	k.flags["privacy"] = "--redact"
}

// setCodec sets the codec.
func (f parseFlags) setCodec(k keys, files []string) error {
	codec := f.codec
	points := f.urlField != "" || f.baseField != "" || len(f.carry) > 0
	switch {
	case codec != "":
	case f.nginx != "" || f.apache != "" || f.baseURL != "":
		return f.setAccessLog(k)
	case allNamed(files, ".parquet"):
		codec = "parquet"
	case archiveCodec(files) != "":
		codec = archiveCodec(files)
	case points:
		codec = "ndjson"
	default:
		codec = "lines"
	}
	if slices.Contains(logCodecs(), codec) || f.nginx != "" || f.apache != "" || f.baseURL != "" {
		return f.setAccessLog(k)
	}
	if err := checkChoice("--codec", codec, codecNames()); err != nil {
		return err
	}
	if f.skipEmpty && codec != "lines" && codec != "ndjson" {
		return usagef("--skip-empty is for --codec lines and ndjson; take it out")
	}
	switch at := "source.codec." + codec; codec {
	case "warc", "wat", "cdx":
		if points {
			return usagef("--url-field, --base-field and --carry are not for --codec %s, which has all its fields as columns; use --columns", codec)
		}
		k.put(at, map[string]any{})
		return nil
	case "lines":
		if points {
			return usagef("--url-field, --base-field and --carry need --codec ndjson; a line of --codec lines is a URL")
		}
		k.put(at+".skip_empty", f.skipEmpty)
		return nil
	case "ndjson":
		if f.urlField == "" {
			return usagef("--codec ndjson needs --url-field, such as --url-field /url")
		}
		k.set("--skip-empty", at+".skip_empty", f.skipEmpty)
		return f.setFields(k, at, "pointer", asPointer)
	case "parquet":
		if f.urlField == "" {
			f.urlField = "url"
		}
		return f.setFields(k, at, "column", asColumn)
	}
	if f.urlField == "" { // csv and tsv
		return usagef("--codec %s needs --url-field with the name of the column that has the URL, such as --url-field url", codec)
	}
	const at = "source.codec.delimited"
	if codec == "tsv" {
		k.put(at+".separator", "tab")
	}
	return f.setFields(k, at, "column", asColumn)
}

// setFields sets where the codec at a path finds the URL and what goes along, each by its place.
func (f parseFlags) setFields(k keys, at, place string, as func(string) string) error {
	k.set("--url-field", at+".url", as(f.urlField))
	if f.baseField != "" {
		k.set("--base-field", at+".base", as(f.baseField))
	}
	var carry []map[string]string
	for _, text := range f.carry {
		name, rest, ok := strings.Cut(text, "=")
		if !ok || name == "" || rest == "" {
			return usagef("--carry is %q; give NAME=POINTER or NAME=POINTER:TYPE, such as user_id=/user/id:int64", text)
		}
		item := map[string]string{"name": name}
		if i := strings.LastIndexByte(rest, ':'); i >= 0 {
			rest, item["type"] = rest[:i], rest[i+1:]
		}
		item[place] = as(rest)
		carry = append(carry, item)
	}
	k.set("--carry", at+".carry", carry)
	return nil
}

// asPointer allows the name of a member for the pointer to it.
func asPointer(s string) string {
	if strings.HasPrefix(s, "/") {
		return s
	}
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(s)
}

// asColumn allows a pointer for the name of a column.
func asColumn(s string) string { return strings.TrimPrefix(s, "/") }

// logCodecs are the names of --codec that are formats of access logs.
func logCodecs() []string { return accesslog.Formats() }

func codecNames() []string {
	return append([]string{"lines", "ndjson", "csv", "tsv", "parquet", "warc", "wat", "cdx"}, logCodecs()...)
}

func (f parseFlags) setAccessLog(k keys) error {
	if f.urlField != "" || f.baseField != "" || len(f.carry) > 0 {
		return usagef("--url-field, --base-field and --carry are not for access logs, which have all their fields as columns; use --columns")
	}
	if f.skipEmpty {
		return usagef("--skip-empty is for --codec lines and ndjson; an empty line of an access log is a row with an error")
	}
	if f.codec != "" && !slices.Contains(logCodecs(), f.codec) {
		return usagef("--nginx, --apache and --base-url are for access logs, and --codec is %s; take one of them out", f.codec)
	}
	const at = "source.codec.access_log"
	k.put(at, map[string]any{})
	k.set("--codec", at+".format", f.codec)
	k.set("--nginx", at+".nginx", f.nginx)
	k.set("--apache", at+".apache", f.apache)
	k.set("--base-url", at+".base", f.baseURL)
	return nil
}

// allNamed reports whether the names of all files have one of the ends.
func allNamed(files []string, ends ...string) bool {
	return len(files) > 0 && !slices.ContainsFunc(files, func(name string) bool {
		return !slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(strings.ToLower(name), end) })
	})
}

// archiveCodec returns the codec for archives and their indexes, by the names of the files or else how the first begins, "" for others.
func archiveCodec(files []string) string {
	for codec, ends := range map[string][]string{
		"wat":  {".warc.wat.gz", ".wat.gz", ".wat"},
		"warc": {".warc", ".warc.gz", ".warc.zst", ".warc.wet.gz", ".wet.gz", ".wet"},
		"cdx":  {".cdx", ".cdx.gz", ".cdxj", ".cdxj.gz"},
	} {
		if allNamed(files, ends...) {
			return codec
		}
	}
	if len(files) > 0 && strings.HasPrefix(firstLine(files[0]), "WARC/") {
		return "warc"
	}
	return ""
}

// setSink sets the sink.
func (f parseFlags) setSink(k keys) error {
	switch ext := filepath.Ext(f.out); {
	case f.deadLetters != "" && f.onError != "dead_letter":
		return usagef("--dead-letters needs --on-error dead_letter")
	case f.deadLetters == "" && f.onError == "dead_letter":
		return usagef("--on-error dead_letter needs --dead-letters FOLDER")
	case f.compression != "" && f.to != toParquet && f.to != toArrow:
		return usagef("--compression is for --to parquet and --to arrow")
	case f.out == "":
		return usagef("-o is empty; give a folder, or - for standard output")
	case ext == ".parquet" || ext == ".arrow" || ext == ".ndjson":
		return usagef("-o %s: give a folder; its files are named after what they hold", f.out)
	case f.isText() && f.out != "-":
		return usagef("--to %s writes to standard output only; leave -o out", f.to)
	case f.to == toParquet && f.out == "-":
		return usagef("--to parquet needs a folder: -o FOLDER")
	}
	at := "sink." + f.to
	if f.to == toArrow {
		at = "sink.arrowipc"
	}
	k.put(at, map[string]any{})
	k.set("--dead-letters", at+".dead_letters", f.deadLetters)
	k.set("--compression", at+".compression", f.compression)
	if f.isText() {
		k.put("sink.roll.every", "1s") // shows what standard input gives, little as it may be
		switch f.to {
		case toTable:
			f.tableColumns(k)
		case toCDXJ:
			return f.indexColumns(k)
		}
		return nil
	}
	k.put(at+".delivery", "at_least_once")
	if f.out == "-" {
		k.put(at+".stdout", true)
	} else {
		k.set("-o", at+".path", f.out)
	}
	return nil
}

// tableColumns picks the columns of a table for which none were asked for.
func (f parseFlags) tableColumns(k keys) {
	if len(f.columns) > 0 || len(f.exclude) > 0 {
		return
	}
	include := append([]string{"scheme", "host", "port", "path", "query", "fragment", "registrable_domain"}, rowview.ErrorColumns...)
	for _, text := range f.carry {
		if f.codec != "csv" && f.codec != "tsv" && f.codec != "parquet" {
			name, _, _ := strings.Cut(text, "=")
			include = append(include, name)
		}
	}
	k.put("columns.include", include)
}

// indexColumns picks the columns that lines of an index are made of.
func (f parseFlags) indexColumns(k keys) error {
	codec, _ := k.root["source"].(map[string]any)["codec"].(map[string]any)
	if codec["warc"] == nil && codec["cdx"] == nil {
		return usagef("--to cdxj is for archives and their indexes: --codec warc or --codec cdx")
	}
	if len(f.columns) > 0 || len(f.exclude) > 0 {
		return usagef("--to cdxj has columns of its own; take --columns and --exclude out")
	}
	missing := "warc_type"
	if codec["warc"] != nil {
		missing = "warc_filename"
	}
	k.put("columns.include", slices.DeleteFunc(slices.Clone(cdxj.Columns), func(c string) bool { return c == missing }))
	return nil
}

// isText reports whether the rows are written by a sink of this command alone.
func (f parseFlags) isText() bool {
	return f.to == toTable || f.to == toCSV || f.to == toTSV || f.to == toCDXJ
}

// textKind is the kind of sink that shows rows on standard output.
func (a *app) textKind(f parseFlags) sinks.Kind {
	chosen := len(f.columns) > 0 || len(f.exclude) > 0
	options := rowview.Options{Width: terminalWidth(a.out), MergeErrors: !chosen, HideEmpty: !chosen}
	open := func() (pipeline.Sink, error) { return rowview.New(a.out, options), nil }
	switch f.to {
	case toCDXJ:
		open = func() (pipeline.Sink, error) { return cdxj.New(a.out), nil }
	case toCSV, toTSV:
		open = func() (pipeline.Sink, error) { return delimited.New(a.out, f.to == toTSV, options.Width > 0), nil }
	}
	return wire.Direct(f.to, config.Section{Refused: map[string]string{
		"dead_letters": "--to " + f.to + " has no place for them; use --to parquet, arrow or ndjson",
	}}, open)
}
