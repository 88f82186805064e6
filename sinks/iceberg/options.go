package iceberg

import (
	"cmp"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
)

// Options say which table, and where it is known.
type Options struct {
	// Table is the namespace and the name, with a dot between; a namespace may have several levels.
	Table string
	// CatalogFile is the file of a catalog in SQLite, as pyiceberg's SqlCatalog has it. It is made when it is missing. Default
	// _catalog.db in the output folder, if that is a directory.
	CatalogFile string
	// CatalogName is that of the catalog within that file. Default "urlmill".
	CatalogName string
	// REST is the address of a REST catalog instead.
	REST *REST
	// Every is how long rows that are committed wait until they are in the table; what all lanes have committed by then is
	// in one snapshot. Default a minute.
	Every time.Duration
	// PartitionBy is how the files are divided into directories. Integers, booleans and dates, and date() of timestamps,
	// partition the table as well.
	PartitionBy []string

	root string // the folder of the files, where With knows it

	// Connect opens another catalog instead, for tests.
	Connect func() (Catalog, error)
}

// REST is how to reach a REST catalog. At most one of Token and Credential is set.
type REST struct {
	URI       string
	Warehouse string
	// Token is sent as it is; Credential, "id:secret" or "secret", is exchanged for one at AuthURI, by default the
	// catalog's own.
	Token      config.Secret
	Credential config.Secret
	AuthURI    string
	Scope      string
}

const (
	defaultCatalog = "urlmill"
	defaultEvery   = time.Minute
	catalogFile    = "_catalog.db"
)

func (o Options) withDefaults() Options {
	o.CatalogName = cmp.Or(o.CatalogName, defaultCatalog)
	o.Every = cmp.Or(o.Every, defaultEvery)
	return o
}

var nameSyntax = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]*$`)

// identifier returns the table's identifier.
func (o Options) identifier() []string { return strings.Split(o.Table, ".") }

// Validate returns every problem, joined, each a [*pipeline.FieldError].
func (o Options) Validate() error {
	o = o.withDefaults()
	var p pipeline.Problems
	id := o.identifier()
	if len(id) < 2 {
		p.Value("table", o.Table, "has no namespace").Advise("give one before the name, such as web.%s", cmp.Or(o.Table, "clicks"))
	}
	for _, part := range id {
		if len(id) > 1 && !nameSyntax.MatchString(part) {
			p.Value("table", part, "is not a name").Advise("use letters, digits, - and _, and a dot between namespace and table")
		}
	}
	if o.Every < time.Second {
		p.Value("every", o.Every, "is too short: every snapshot makes files of its own").Advise("use 1s or more")
	}
	if strings.Contains(o.root, "://") && o.REST == nil && o.CatalogFile == "" {
		p.Add("", "the catalog cannot be a file in a bucket").Advise("give catalog_file: /var/lib/urlmill/catalog.db, or rest: {uri: https://catalog.example.com}")
	}
	if reason, advice := config.Misplaced(o.CatalogFile, false); reason != "" {
		p.Value("catalog_file", o.CatalogFile, "%s", reason).Advise("%s", advice)
	}
	if r := o.REST; r != nil {
		if o.CatalogFile != "" {
			p.Add("catalog_file", "cannot be given together with rest, which is another catalog").Advise("keep one of the two")
		}
		for _, address := range []struct{ key, uri string }{{"rest.uri", r.URI}, {"rest.auth_uri", r.AuthURI}} {
			u, err := url.Parse(address.uri)
			if address.uri == "" && address.key != "rest.uri" {
				continue
			}
			switch {
			case strings.Contains(address.uri, "@"): // it is not quoted, with what is before
				p.Add(address.key, "it holds a user name or a password").Advise("give rest.token or rest.credential instead")
			case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
				p.Value(address.key, address.uri, "is not the address of a catalog").Advise("give one such as https://catalog.example.com")
			case r.exposed(u):
				p.Add(address.key, "it is not encrypted, and the token or credential would be sent there for everybody to read").Advise("give an address of https")
			}
		}
		if r.Token != "" && r.Credential != "" {
			p.Add("rest.credential", "cannot be given together with token").Advise("keep one of the two")
		}
	}
	return p.Err()
}

// exposed reports whether a login would be sent to an address without encryption, over a network.
func (r *REST) exposed(u *url.URL) bool {
	return (r.Token != "" || r.Credential != "") && u.Scheme == "http" && !config.Loopback(u.Hostname())
}

// CheckRows returns what is wrong with rows of a schema for a table.
func (o Options) CheckRows(rows *arrow.Schema) error {
	_, err := schemaOf(rows)
	return err
}
