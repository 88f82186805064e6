package wire

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// carried is what a codec carries, as far as its options could be read. What is wrong there must not become a problem of a column,
// and must not hide one.
type carried struct {
	fields                []pipeline.Field
	hasBase, keepsRecords bool
	open                  bool     // whether there may be more columns than those that are known
	guessed               []string // the fields of which nothing but the name is known
}

// Problems of these keys of a codec leave the names of the fields as they are, those of the second their types as well.
var (
	fieldKeys = regexp.MustCompile(`^carry\[(\d+)\]\.(?:type|time)$`)
	otherKeys = regexp.MustCompile(`^(?:carry\[\d+\]\.(?:pointer|column)|url|host|scheme|separator|skip_empty|schema|message|framed|registry\b.*)$`)
)

// newCarried returns what the codec of c carries. f is nil where its options are wrong, and problems has those that were found.
func newCarried(c *Config, f codec.Factory, problems *problems) carried {
	in := carried{}
	var all []pipeline.Field
	if o, ok := c.Codec.Options.(codec.Shaped); ok {
		s := o.Shape()
		all, in.hasBase, in.keepsRecords = s.Fields(), s.HasBase(), s.KeepsRecords()
	} else if f != nil {
		all, in.hasBase, in.keepsRecords = f.Fields(), f.HasBase(), f.KeepsRecords()
	}
	const section = "source.codec"
	bad := c.Unsound(section)
	for _, p := range problems.all {
		if strings.HasPrefix(p.Path, section) {
			bad = append(bad, p.Path)
		}
	}
	for _, path := range bad {
		key := strings.TrimPrefix(path, config.Join(section, c.Codec.Name)+".")
		if m := fieldKeys.FindStringSubmatch(key); m != nil {
			if i, _ := strconv.Atoi(m[1]); i < len(all) { // digits
				in.guessed = append(in.guessed, all[i].Name)
			}
		} else if !otherKeys.MatchString(key) {
			in.open = true
		}
	}
	for _, field := range all {
		if slices.Contains(in.guessed, field.Name) {
			field.Type = pipeline.String
		}
		if field.Name != "" && in.field(field.Name) < 0 {
			in.fields = append(in.fields, field)
		}
	}
	return in
}

// field returns the index of the field of that name, -1 for none.
func (in *carried) field(name string) int {
	return slices.IndexFunc(in.fields, func(f pipeline.Field) bool { return f.Name == name })
}

// guess takes names that nothing has for texts that go along, so that all else can be checked.
func (in *carried) guess(missing []string) {
	for _, name := range missing {
		text := pipeline.Field{Name: name, Type: pipeline.String}
		if i := in.field(name); i >= 0 {
			in.fields[i] = text
		} else {
			in.fields = append(in.fields, text)
		}
	}
	in.guessed, in.open = append(in.guessed, missing...), true
}

// sure returns what of err, which is about rows, does not come of what is not known of their columns.
func (in *carried) sure(rows *arrow.Schema, err error) error {
	var p pipeline.Problems
	for _, e := range pipeline.FieldErrors(err) {
		if !slices.ContainsFunc(pipeline.FaultyColumns(e), func(name string) bool {
			return slices.Contains(in.guessed, name) || in.open && rows != nil && !rows.HasField(name)
		}) {
			p.Join(e)
		}
	}
	return p.Err()
}
