package urlcols

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow/array"
)

// A profile is a set of columns of the URL under names that others use.
type profile struct {
	columns []profileColumn
	promote []Promoted
	// fields are those that it has of others, and alone says that it has no more of them, but for those that are asked for.
	fields []profileField
	alone  bool
}

type profileColumn struct{ from, name string }

// profileField is a column that is not about the URL, of the first of from that there is. as, if not nil, is its type.
type profileField struct {
	from []string
	name string
	as   *narrowed
}

// ecsColumns are the fields of the Elastic Common Schema; OpenTelemetry's semantic conventions have the same.
//
// Source: https://www.elastic.co/guide/en/ecs/current/ecs-url.html,
// https://opentelemetry.io/docs/specs/semconv/registry/attributes/url/
var ecsColumns = []profileColumn{
	{"url", "url.original"},
	{"href", "url.full"},
	{"scheme", "url.scheme"},
	{"host", "url.domain"},
	{"port", "url.port"},
	{"path", "url.path"},
	{"query", "url.query"},
	{"fragment", "url.fragment"},
	{"registrable_domain", "url.registered_domain"},
	{"subdomain", "url.subdomain"},
	{"public_suffix", "url.top_level_domain"},
	{"extension", "url.extension"},
}

// indexColumns and indexFields are the columns of Common Crawl's columnar index, but for warc_segment, which is a part of the names of
// its files alone.
//
// Source: https://github.com/commoncrawl/cc-index-table
var (
	indexColumns = []profileColumn{
		{"surt_key", "url_surtkey"},
		{"href", "url"},
		{"host", "url_host_name"},
		{"top_level_domain", "url_host_tld"},
		{"host_2nd_last_part", "url_host_2nd_last_part"},
		{"host_3rd_last_part", "url_host_3rd_last_part"},
		{"host_4th_last_part", "url_host_4th_last_part"},
		{"host_5th_last_part", "url_host_5th_last_part"},
		{"registry_suffix", "url_host_registry_suffix"},
		{"registry_domain", "url_host_registered_domain"},
		{"public_suffix", "url_host_private_suffix"},
		{"registrable_domain", "url_host_private_domain"},
		{"host_reversed", "url_host_name_reversed"},
		{"scheme", "url_protocol"},
		{"port", "url_port"},
		{"path", "url_path"},
		{"query", "url_query"},
	}
	indexFields = []profileField{
		{[]string{"fetch_time"}, "fetch_time", nil},
		{[]string{"fetch_status"}, "fetch_status", bits16},
		{[]string{"fetch_redirect"}, "fetch_redirect", nil},
		{[]string{"content_digest"}, "content_digest", nil},
		{[]string{"content_mime_type"}, "content_mime_type", nil},
		{[]string{"content_mime_detected"}, "content_mime_detected", nil},
		{[]string{"content_charset"}, "content_charset", nil},
		{[]string{"content_languages"}, "content_languages", nil},
		{[]string{"content_truncated"}, "content_truncated", nil},
		{[]string{"warc_record_id"}, "warc_record_id", uuid},
		{[]string{"warc_filename", "file"}, "warc_filename", nil},
		{[]string{"warc_offset"}, "warc_record_offset", bits32},
		{[]string{"warc_length"}, "warc_record_length", bits32},
	}
)

var profiles = map[string]profile{
	"commoncrawl": {columns: indexColumns},
	"cc_index":    {columns: indexColumns, fields: indexFields, alone: true},
	// Every character of the URL once: what is missing is made of these columns when it is read.
	CompactProfile: {columns: sameNames("kept_url", "kept_front", "base_url", "scheme", "userinfo", "host", "port", "kept_origin",
		"registrable_domain", "kept_public_suffix", "path", "query", "kept_params", "fragment")},
	"ecs":  {columns: ecsColumns},
	"otel": {columns: ecsColumns},
	// Source: https://docs.snowplow.io/docs/fundamentals/canonical-event/
	"snowplow": {
		columns: []profileColumn{
			{"url", "page_url"},
			{"scheme", "page_urlscheme"},
			{"host", "page_urlhost"},
			{"effective_port", "page_urlport"},
			{"path", "page_urlpath"},
			{"query", "page_urlquery"},
			{"fragment", "page_urlfragment"},
		},
		promote: []Promoted{
			{Params: []string{"utm_medium"}, Name: "mkt_medium"},
			{Params: []string{"utm_source"}, Name: "mkt_source"},
			{Params: []string{"utm_term"}, Name: "mkt_term"},
			{Params: []string{"utm_content"}, Name: "mkt_content"},
			{Params: []string{"utm_campaign"}, Name: "mkt_campaign"},
			{Params: []string{"gclid", "msclkid", "dclid"}, Name: "mkt_clickid"},
		},
	},
}

const (
	// DefaultProfile is the name of the profile with urlmill's own names.
	DefaultProfile = "default"
	// CompactProfile is the name of the profile that has nothing twice.
	CompactProfile = "compact"
)

// sameNames returns columns that have their own names.
func sameNames(names ...string) (cols []profileColumn) {
	for _, name := range names {
		cols = append(cols, profileColumn{name, name})
	}
	return cols
}

// Profiles returns the names of all profiles, [DefaultProfile] first. The caller owns the slice.
func Profiles() []string {
	return append([]string{DefaultProfile}, slices.Sorted(maps.Keys(profiles))...)
}

// apply returns the columns of opts.Profile out of available: its own under their names, and then those that are not
// about the URL's parts, or those that include asks for.
func applyProfile(opts Options, available, included []column) ([]column, error) {
	if opts.Profile == "" || opts.Profile == DefaultProfile {
		return included, nil
	}
	p, ok := profiles[opts.Profile]
	if !ok {
		return nil, fmt.Errorf("profile: there is no %q; there are %s", opts.Profile, strings.Join(Profiles(), ", "))
	}
	var cols []column
	for _, pc := range p.columns {
		i := slices.IndexFunc(available, func(c column) bool { return c.name == pc.from })
		if i < 0 || slices.Contains(opts.Exclude, pc.from) { // base_url is not there without bases
			continue
		}
		c := available[i]
		if _, renamed := opts.Rename[pc.from]; !renamed {
			c.rename = pc.name
		}
		cols = append(cols, c)
	}
	fields := p.fieldsOf(opts, available)
	cols = append(cols, fields...)
	for _, c := range included {
		named := slices.Contains(opts.Include, c.name)
		inProfile := c.asked == "" && slices.ContainsFunc(p.columns, func(pc profileColumn) bool { return pc.from == c.name }) ||
			slices.ContainsFunc(fields, func(f column) bool { return f.name == c.name })
		if !inProfile && (named || c.asked != "" || len(opts.Include) == 0 && !c.part && !p.alone) {
			cols = append(cols, c)
		}
	}
	return cols, nil
}

// fieldsOf returns the fields of a profile out of available.
func (p *profile) fieldsOf(opts Options, available []column) (cols []column) {
	for _, f := range p.fields {
		at := -1
		for _, from := range f.from {
			if at < 0 && !slices.Contains(opts.Exclude, from) {
				at = slices.IndexFunc(available, func(c column) bool { return c.name == from && c.asked == "" })
			}
		}
		if at < 0 {
			continue
		}
		c := available[at]
		if _, renamed := opts.Rename[c.name]; !renamed {
			c.rename = f.name
		}
		if f.as != nil && c.carried > 0 && opts.Carried[c.carried-1].Type == f.as.from {
			c.typ, c.build = f.as.to, func(s *state) *array.Data { return f.as.build(s, c.carried-1) }
			c.comment += f.as.comment
		}
		cols = append(cols, c)
	}
	return cols
}
