// Package enrich says of a page view where the visitor came from, and what kind of page it is. Its columns are made of the columns of
// URLs, a batch at a time; the facts are lists that a person can edit, and of which the package has its own.
//
// A group of columns knows nothing of the others. There are [Acquisition], that of the client: [UserAgent] and [Address], and [Frontier].
package enrich

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
)

// Options says which groups there are.
type Options struct {
	Acquisition *Acquisition // nil: none of its columns
	UserAgent   *UserAgent   // nil: none of its columns
	Address     *Address     // nil: none of its columns
	Frontier    *Frontier    // nil: none of its columns
}

// Acquisition are the options of the columns that say where a visit came from.
type Acquisition struct {
	// Referrer is the carried field with the referrer; "" for the first of [ReferrerFields] that there is.
	Referrer string
	// Internal are domains beside that of the page whose referrers are the site itself; those below them are too.
	Internal []string
	// Referrers, Parameters and Channels are files of lists; "" for those that are built in.
	Referrers, Parameters, Channels string
	PageTypes                       []PageType
	// PathTemplates are patterns that are the template of the paths that they match.
	PathTemplates []string
	// PathTemplateLimit is how many templates there may be.
	PathTemplateLimit int
}

// PageType is the type of the pages whose paths match one of the patterns.
type PageType struct {
	Type  string
	Paths []string
}

// ReferrerFields are the names of the fields that are taken for the referrer where no option names one.
var ReferrerFields = []string{"referer", "referrer", "http_referer"}

// Default returns the options that an empty section stands for.
func Default() Acquisition { return Acquisition{PathTemplateLimit: 10_000} }

// Section returns the keys of a configuration that o is bound to.
func (o *Options) Section() config.Section {
	return config.Section{Fields: []config.Field{{
		Name: "acquisition", Doc: "Adds the columns that say where a visit came from, and what kind of page it is; see docs/enrich.md.",
		Value: config.Optional(&o.Acquisition, Default, (*Acquisition).section),
	}, {
		Name: "user_agent", Doc: "Adds the columns that say what the user agent is, and whether it is a bot; see docs/enrich.md.",
		Value: config.Optional(&o.UserAgent, DefaultUserAgent, (*UserAgent).section),
	}, {
		Name: "address", Doc: "Adds the columns that say where the client's address is, and in whose network; see docs/enrich.md.",
		Value: config.Optional(&o.Address, func() Address { return Address{} }, (*Address).section),
	}, {
		Name: "frontier", Doc: "Adds the columns for what a crawler fetches next: its queue, and whether it is a trap; see docs/crawl.md.",
		Value: config.Optional(&o.Frontier, DefaultFrontier, (*Frontier).section),
	}}}
}

func (o *Acquisition) section() config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "referrer", Doc: "Carried field with the referrer. Not set: referer, referrer or http_referer, whichever is carried.", Value: config.Text(&o.Referrer, "referer")},
		{Name: "internal", Live: true, Doc: "Domains of the site beside the page's own: referrers from them, and from below them, are internal.", Value: config.Texts(&o.Internal, "[example.com, example.org]")},
		{Name: "referrers", Live: true, Doc: "File of search engines, social networks, assistants and so on. Not set: the one that is built in.", Value: config.Text(&o.Referrers, "/etc/urlmill/referrers.txt")},
		{Name: "parameters", Live: true, Doc: "File of the parameters of campaigns and click ids. Not set: the one that is built in.", Value: config.Text(&o.Parameters, "/etc/urlmill/parameters.txt")},
		{Name: "channels", Live: true, Doc: "File of the rules for channels. Not set: the one that is built in, GA4's default channel groups.", Value: config.Text(&o.Channels, "/etc/urlmill/channels.yaml")},
		{Name: "page_types", Live: true, Doc: "What page_type is, by the first item that has a pattern for the path.", Value: config.List(&o.PageTypes, func() PageType { return PageType{} }, "[{type: product, paths: [/p/**]}]", pageTypeSection)},
		{Name: "path_templates", Live: true, Doc: "Templates of one's own, which come before those that are recognised by what identifiers look like.", Value: config.Texts(&o.PathTemplates, `["/blog/{year}/{slug}"]`)},
		{Name: "path_template_limit", Live: true, Doc: "How many different templates a process makes; paths of further ones have {other}.", Value: config.Int(&o.PathTemplateLimit, 1, 1<<20)},
	}}
}

func pageTypeSection(p *PageType) config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "type", Doc: "What page_type is.", Value: config.Text(&p.Type, "product"), Example: "type: product"},
		{Name: "paths", Doc: "Patterns of paths: * and {name} stand for a segment, ** at the end for any number.", Value: config.Texts(&p.Paths, "[/p/**]"), Example: "paths: [/p/**]"},
	}}
}

// Rules are what the acquisition columns are made by: options and lists. They are immutable, but for the set of templates, and safe
// for concurrent use.
type Rules struct {
	sources   *sources
	params    *params
	channels  *channels
	internal  map[string]bool
	pageTypes []pathRule
	templates []pathRule
	seen      *bounded
	version   string
}

// Version returns a hash of all that the rules were made of: options and files.
func (r *Rules) Version() string { return r.version }

// Memory returns about the bytes that rules hold, twice since there are two while a reload replaces them, and those that workers
// goroutines need to use them, whatever is in a batch.
func (o *Acquisition) Memory(workers int) int64 {
	return 4<<20 + 2*int64(8*tableSize(o.PathTemplateLimit)) + int64(workers)*cacheMemory
}

// Read returns the rules of the options, with the files that they name. The error joins a [*pipeline.FieldError] for everything
// that is wrong; what is wrong in a file has its line and column there.
func (o *Acquisition) Read() (*Rules, error) {
	var errs []error
	note := func(key string, err error) {
		if err == nil {
			return
		}
		for line := range strings.SplitSeq(err.Error(), "\n") { // a problem of a file is a line
			errs = append(errs, pipeline.FieldErrorf(key, "%s", line))
		}
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %q %d", o.Internal, o.PageTypes, o.PathTemplates, o.PathTemplateLimit)
	read := func(key, path, builtIn string, parse func(file, text string) error) {
		text, err := builtIn, error(nil)
		if path != "" {
			var data []byte
			data, err = config.ReadFile(path, config.MaxFileSize)
			text = string(data)
		}
		fmt.Fprintf(sum, "%q", text)
		if err == nil {
			err = parse(path, text)
		}
		note(key, err)
	}
	r := &Rules{internal: make(map[string]bool), seen: newBounded(o.PathTemplateLimit)}
	read("referrers", o.Referrers, builtInReferrers, func(file, text string) (err error) { r.sources, err = parseSources(file, text); return })
	read("parameters", o.Parameters, builtInParameters, func(file, text string) (err error) { r.params, err = parseParams(file, text); return })
	if len(errs) == 0 { // the rules name what the lists have
		read("channels", o.Channels, builtInChannels, func(file, text string) (err error) {
			r.channels, err = parseChannels(file, text, known{r.sources, r.params})
			return
		})
	}
	for i, domain := range o.Internal {
		note(fmt.Sprintf("internal[%d]", i), checkDomain(domain))
		r.internal[domain] = true
	}
	for i, p := range o.PageTypes {
		for k, pattern := range p.Paths {
			rule, err := parsePath(pattern, p.Type)
			note(fmt.Sprintf("page_types[%d].paths[%d]", i, k), cmpErr(err, shadowedPath(r.pageTypes, rule)))
			r.pageTypes = append(r.pageTypes, rule)
		}
	}
	for i, pattern := range o.PathTemplates {
		rule, err := parsePath(pattern, pattern)
		note(fmt.Sprintf("path_templates[%d]", i), cmpErr(err, shadowedPath(r.templates, rule)))
		r.templates = append(r.templates, rule)
	}
	r.version = fmt.Sprintf("sha256:%x", sum.Sum(nil)[:16])
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return r, nil
}

// cmpErr returns the first error that is one.
func cmpErr(errs ...error) error {
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}
