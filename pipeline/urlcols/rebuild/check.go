package rebuild

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/internal/arrowtext"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/psl"
)

var (
	// byList are the columns that depend on the Public Suffix List.
	byList = []string{"registrable_domain", "public_suffix", "kept_public_suffix", "subdomain", "registry_suffix", "registry_domain", "surt_key"}
	// notOfHref are columns that are made of more than href.
	notOfHref = []string{"url", "kept_url", "kept_front", "url_error", "url_error_pos", "raw"}
	// helping are columns that are read and not made of href.
	helping = append([]string{"base_url", "tracking_params"}, notOfHref...)
)

// Checker rebuilds the URLs of a table and compares: what is made of the parts is href; href, parsed again, gives each of the columns;
// and the URL as read leads to the same href. It knows columns by the names that they have without renaming. It belongs to one goroutine.
type Checker struct {
	at       map[string]int // the column of a name
	compared []int          // columns that are made of href
	whole    bool           // the table has all parts
	parse    pipeline.Transform

	texts    map[string]texts // of this record
	ports    *array.Int32
	batch    pipeline.Batch // its href
	scratch  []byte
	base     *urlcore.URL
	baseText string
}

// texts is a column of texts: its row i.
type texts func(i int) Text

// textArray is an array of texts.
type textArray interface{ Value(i int) string }

// Reads reports whether a checker reads the column of that name.
func Reads(name string) bool {
	return slices.Contains(helping, name) || slices.Contains(urlcols.Names(urlcols.Options{}), name)
}

// NewChecker returns the checker of tables with these columns, nil if they have neither href nor all parts. suffixes is the version of
// the Public Suffix List that the rows were made with: columns that depend on the list are compared if it is this program's.
func NewChecker(schema *arrow.Schema, suffixes string) (*Checker, error) {
	c := &Checker{at: map[string]int{}}
	available := urlcols.Names(urlcols.Options{})
	for i, f := range schema.Fields() {
		if Reads(f.Name) {
			c.at[f.Name] = i
		}
	}
	c.whole = c.has("scheme", "host", "port", "path", "query", "fragment")
	if !c.whole && !c.has("href") {
		return nil, nil
	}
	var opts urlcols.Options
	for i, f := range schema.Fields() {
		switch {
		case !slices.Contains(available, f.Name) || slices.Contains(helping, f.Name):
		case suffixes != psl.Version() && slices.Contains(byList, f.Name):
		case f.Name == "params" && c.has("tracking_params"): // by rules that are not known
		default:
			opts.Include = append(opts.Include, f.Name)
			opts.ParamsAsMap = opts.ParamsAsMap || f.Type.ID() == arrow.MAP
			c.compared = append(c.compared, i)
		}
	}
	plan, err := urlcols.New(opts)
	if err != nil {
		return nil, err
	}
	c.parse = plan.NewTransform()
	return c, nil
}

// has reports whether the table has all of the columns.
func (c *Checker) has(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { _, ok := c.at[name]; return !ok })
}

// Check compares the rows of r, a record of the table, and calls wrong with what is wrong with a row. The error says that a column
// cannot be compared at all. [Checker.Href] and [Checker.URL] are about r until the next call, while it is not released.
func (c *Checker) Check(r arrow.Record, wrong func(row int, what string)) error {
	if err := c.open(r); err != nil {
		return err
	}
	c.batch.Reset()
	for i := range int(r.NumRows()) {
		c.batch.Offsets = append(c.batch.Offsets, int64(i))
		href, ok := c.rebuild(i, wrong)
		if !ok {
			c.batch.URLs.AppendNull()
			continue
		}
		c.batch.URLs.Append(href)
		c.checkGiven(i, wrong)
	}
	out, err := c.parse.Apply(&c.batch)
	if err != nil {
		return err
	}
	parsed := out.Records[pipeline.Rows]
	defer parsed.Release()
	for k, i := range c.compared {
		if err := c.compare(r.ColumnName(i), r.Column(i), parsed.Column(k), wrong); err != nil {
			return err
		}
	}
	return nil
}

// compare compares a column with what href gives.
func (c *Checker) compare(name string, got, want arrow.Array, wrong func(row int, what string)) error {
	plain := arrow.TypeEqual(got.DataType(), want.DataType())
	if !plain && got.DataType().ID() != arrow.DICTIONARY {
		return fmt.Errorf("column %s is %s, and has to be %s", name, got.DataType(), want.DataType())
	}
	if plain && array.Equal(got, want) {
		return nil
	}
	for row := range got.Len() {
		if a, b := value(got, row), value(want, row); a != b {
			wrong(row, fmt.Sprintf("%s is %s, and that of %q is %s", name, a, c.batch.URLs.At(row), b))
		}
	}
	return nil
}

func value(a arrow.Array, row int) string {
	if a.IsNull(row) {
		return "null"
	}
	return fmt.Sprintf("%q", arrowtext.Value(a, row))
}

// Href returns href of row i of the record that was checked last, and false for a row without.
func (c *Checker) Href(i int) ([]byte, bool) { return c.batch.URLs.At(i), c.batch.URLs.Valid[i] }

// URL returns the URL of row i as it was read, and false for a row without, or where the table does not tell. It is valid until the next
// call of a method.
func (c *Checker) URL(i int) ([]byte, bool) {
	if c.has("url") {
		url := c.text("url", i)
		return []byte(url.String), url.Valid
	}
	kept, front := c.text("kept_url", i), c.text("kept_front", i)
	switch {
	case kept.Valid || !c.batch.URLs.Valid[i]:
		return []byte(kept.String), kept.Valid
	case front.Valid:
		p := c.parts(i)
		c.scratch = p.AppendTail(append(c.scratch[:0], front.String...))
		return c.scratch, true
	}
	return c.batch.URLs.At(i), c.has("kept_url", "kept_front")
}

// open takes the columns of r.
func (c *Checker) open(r arrow.Record) error {
	c.texts, c.ports = make(map[string]texts, len(c.at)), nil
	for name, i := range c.at {
		column := r.Column(i)
		values, index := column, func(row int) int { return row }
		if d, ok := column.(*array.Dictionary); ok {
			values, index = d.Dictionary(), d.GetValueIndex
		}
		if s, ok := values.(textArray); ok {
			c.texts[name] = func(row int) Text {
				if column.IsNull(row) {
					return Text{}
				}
				return Text{s.Value(index(row)), true}
			}
		}
		if name == "port" {
			c.ports, _ = column.(*array.Int32)
		}
	}
	if c.whole && (c.ports == nil || c.texts["scheme"] == nil) {
		return fmt.Errorf("column port is %s and column scheme %s, and they have to be int32 and text",
			r.Column(c.at["port"]).DataType(), r.Column(c.at["scheme"]).DataType())
	}
	return nil
}

// text returns row i of a column of texts, null if there is no such column.
func (c *Checker) text(name string, i int) Text {
	if t := c.texts[name]; t != nil {
		return t(i)
	}
	return Text{}
}

// parts returns the parts of row i. A table that has href need not have the username beside.
func (c *Checker) parts(i int) Parts {
	p := Parts{
		Scheme: c.text("scheme", i), Userinfo: c.text("userinfo", i), Host: c.text("host", i), Path: c.text("path", i),
		Query: c.text("query", i), Fragment: c.text("fragment", i), Port: -1,
	}
	if c.ports != nil && c.ports.IsValid(i) {
		p.Port = c.ports.Value(i)
	}
	if !c.has("userinfo") {
		userinfo, ok := urlcols.Userinfo([]byte(c.text("href", i).String))
		p.Userinfo = Text{string(userinfo), ok}
	}
	return p
}

// rebuild returns href of row i, and false for a row without. It is valid until the next call of a method.
func (c *Checker) rebuild(i int, wrong func(row int, what string)) ([]byte, bool) {
	href := c.text("href", i)
	if !c.whole {
		return []byte(href.String), href.Valid
	}
	p := c.parts(i)
	c.scratch = p.AppendHref(c.scratch[:0])
	if c.has("href") && (href.Valid != p.Scheme.Valid || href.Valid && href.String != string(c.scratch)) {
		wrong(i, fmt.Sprintf("href is %q, and its parts make %q", href.String, c.scratch))
	}
	return c.scratch, p.Scheme.Valid
}

// checkGiven compares href of row i, the last of the batch, with that of the URL as read. Which scheme was put before a bare host, the
// table does not tell.
func (c *Checker) checkGiven(i int, wrong func(row int, what string)) {
	href := c.batch.URLs.At(i)
	given, ok := c.URL(i)
	if !ok || bytes.Equal(given, href) {
		if c.text("kept_url", i).Valid {
			wrong(i, fmt.Sprintf("kept_url is %q, which is href", given))
		}
		return
	}
	url := string(given)
	if !c.leads(url, c.text("base_url", i).String, string(href)) {
		wrong(i, fmt.Sprintf("url is %q, which does not lead to %q", url, href))
	}
}

// leads reports whether url leads to href, or may do so from a base that the table does not have.
func (c *Checker) leads(url, base, href string) bool {
	same := func(u *urlcore.URL) bool { return c.seen(u) == href }
	alone := false
	for _, text := range []string{url, urlcols.WithScheme("https", url), urlcols.WithScheme("http", url)} {
		u, err := urlcore.Parse(text)
		if err == nil && same(u) {
			return true
		}
		alone = alone || err == nil
	}
	if base == "" {
		return !c.has("base_url") && !(alone && strings.Contains(url, "://"))
	}
	if base != c.baseText {
		c.baseText = strings.Clone(base) // it aliases the record
		c.base, _ = urlcore.Parse(c.baseText)
	}
	if c.base == nil {
		return false
	}
	u, err := urlcore.ParseRef(url, c.base)
	return err == nil && same(u)
}

// seen returns href of u as the table has it: it may lack usernames and passwords.
func (c *Checker) seen(u *urlcore.URL) string {
	href := u.Href()
	if !c.has("href") && !c.has("userinfo") {
		if userinfo, ok := urlcols.Userinfo([]byte(href)); ok {
			return strings.Replace(href, string(userinfo)+"@", "", 1)
		}
	}
	return href
}
