package web

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// Schemes of addresses.
const (
	Scheme      = "https://"
	PlainScheme = "http://"
)

// section is where the options are.
const section = "source.file.http"

// Options are how to reach a server. They implement [objstore.Options].
type Options struct {
	bucket.Options
	// List is the address or the path of a list of files, one a line: addresses, or what they have behind Base.
	List string
	Base string
	// Unverified reads files without an ETag and a time of their last change by their length alone.
	Unverified bool

	// Transport sends requests. Tests put another one in place of the usual one.
	Transport http.RoundTripper
}

// NewReader returns the options of a configuration that says nothing.
func NewReader() *Options { return new(Options) }

// Section returns the section that the options are bound to.
func (o *Options) Section() config.Section {
	return config.Section{Fields: append([]config.Field{
		{Name: "list", Doc: "Address or path of a list of what there is, one a line, also compressed by gzip: addresses, or what comes behind base. paths choose among them.", Value: config.Text(&o.List, "https://data.commoncrawl.org/crawl-data/CC-MAIN-2026-47/warc.paths.gz")},
		{Name: "base", Doc: "What lines of the list that are no addresses come behind. Not set: the server of paths.", Value: config.Text(&o.Base, "https://data.commoncrawl.org/")},
		{Name: "unverified", Doc: "Read files for which the server has neither an ETag nor a time of their last change, and know them by their length: that they stay the same is then yours to see to.", Value: config.Bool(&o.Unverified)},
	}, bucket.ReadFields(o.Fields(bucket.MinPart), "")...)}
}

// CheckBucket implements [objstore.Options]. The name is that of a server, with its port.
func (o *Options) CheckBucket(name string) error {
	if u, err := url.Parse(Scheme + name); err != nil || u.Host == "" || u.Host != name || u.User != nil {
		return fmt.Errorf("%q is not the name of a server; give an address such as https://example.com/logs/a.gz, without a user and password", name)
	}
	return nil
}

// CheckKeys implements [objstore.KeyChecker].
func (o *Options) CheckKeys(keys string) error {
	switch {
	case o.List != "":
		return nil
	case keys == "" || strings.HasSuffix(keys, "/"):
		return errors.New("is no file, and HTTP servers do not say what there is; give addresses of files, or a list of them (" + section + ".list)")
	case strings.Contains(keys, "?"):
		return errors.New("has a question mark, and is a pattern or has a query; give addresses of files without a query, or a list of them (" + section + ".list)")
	case strings.ContainsAny(keys, `*[\`):
		return errors.New("is a pattern, and HTTP servers do not say what there is; give a list of them (" + section + ".list)")
	}
	return nil
}

// Validate implements [objstore.Options].
func (o *Options) Validate() error {
	var p pipeline.Problems
	if u, err := url.Parse(o.Base); o.Base != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "") {
		p.Value("base", o.Base, "is not an address").Advise("give one such as https://data.commoncrawl.org/")
	}
	if o.Base != "" && o.List == "" {
		p.Add("base", "has no effect without list").Advise("give list, or take it out")
	}
	return p.Err()
}

// Open implements [objstore.Options].
func (o *Options) Open(root string, log *slog.Logger) (objstore.Store, objstore.Trouble, error) {
	options := *o
	options.Options = options.WithDefaults()
	options.Log = log
	client := options.HTTPClient(options.Transport)
	client.CheckRedirect = follow
	r := &reader{root: root, options: options}
	r.Requests = bucket.Requests{
		Place: bucket.Place{Root: root}, Service: bucket.Service{Name: "the server", Section: section, Docs: "docs/objects.md"}, Options: options.Options, HTTP: client,
		Fault: func(http.Header, []byte) (code, message string) { return "", "" }, Advise: advise, Role: "the right to read",
	}
	if options.List != "" {
		r.base = options.Base
		if r.base == "" {
			r.base = root + "/"
		}
		if !strings.HasPrefix(r.base, root+"/") {
			return nil, nil, fmt.Errorf("%s.base is %s, and paths are on %s: give one on the same server", section, r.base, root)
		}
	}
	return r, options.Trouble, nil
}

// maxRedirects is as in other clients.
const maxRedirects = 10

// follow lets a request go to another address, but not from TLS to none.
func follow(r *http.Request, via []*http.Request) error {
	switch {
	case len(via) >= maxRedirects:
		return fmt.Errorf("%d redirections", len(via))
	case via[0].URL.Scheme == "https" && r.URL.Scheme != "https":
		return errors.New("redirected to an address without TLS")
	}
	return nil
}

// advise says what to do about an error, where servers of files have reasons of their own.
func advise(_ string, err error) string {
	var answer *bucket.StatusError
	var network net.Error
	switch {
	case !errors.As(err, &answer) && errors.As(err, &network):
		return "the server cannot be reached: correct the address, look at the network, or raise " + section + ".timeout"
	case answer == nil:
		return ""
	case answer.Status == http.StatusUnauthorized || answer.Status == http.StatusForbidden:
		return "the server does not let everybody read this: correct the address, or copy the file here"
	case answer.Status == http.StatusTooManyRequests || answer.Status == http.StatusServiceUnavailable:
		return "the server cannot take so many requests: lower source.file.parallel"
	}
	return ""
}
