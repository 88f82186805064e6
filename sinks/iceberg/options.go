package iceberg

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
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

	// Connect opens another catalog instead, for tests.
	Connect func() (Catalog, error)
}

// REST is how to reach a REST catalog. At most one of Token and Credential is set.
type REST struct {
	URI       string
	Warehouse string
	// Token is sent as it is; Credential, "id:secret" or "secret", is exchanged for one at AuthURI, by default the
	// catalog's own.
	Token      string
	Credential string
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

// Validate checks the options. The error has a line for each problem, which begins with the field and a colon.
func (o Options) Validate() error {
	o = o.withDefaults()
	var problems []error
	bad := func(field, format string, args ...any) {
		problems = append(problems, fmt.Errorf("%s: %s", field, fmt.Sprintf(format, args...)))
	}
	id := o.identifier()
	if len(id) < 2 {
		bad("Table", "%q has no namespace; give one before the name, such as web.%s", o.Table, strings.Trim(o.Table+"clicks", "."))
	}
	for _, part := range id {
		if len(id) > 1 && !nameSyntax.MatchString(part) {
			bad("Table", "%q is not a name; use letters, digits, - and _, and a dot between namespace and table", part)
		}
	}
	if o.Every < time.Second {
		bad("Every", "%s is too short: every snapshot makes files of its own; use 1s or more", o.Every)
	}
	if r := o.REST; r != nil {
		if o.CatalogFile != "" {
			bad("CatalogFile", "cannot be given together with a REST catalog; keep one of the two")
		}
		for _, address := range []struct{ field, uri string }{{"REST.URI", r.URI}, {"REST.AuthURI", r.AuthURI}} {
			u, err := url.Parse(address.uri)
			if address.uri == "" && address.field != "REST.URI" {
				continue
			}
			if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
				bad(address.field, "%q is not the address of a catalog; give one such as https://catalog.example.com", address.uri)
			}
		}
		if r.Token != "" && r.Credential != "" {
			bad("REST.Token", "cannot be given together with a credential; keep one of the two")
		}
	}
	return errors.Join(problems...)
}

// problem names the field that a problem is with.
func problem(field string, err error) error { return fmt.Errorf("%s: %w", field, err) }

// CheckRows returns what is wrong with rows of a schema for a table.
func (o Options) CheckRows(rows *arrow.Schema) error {
	if _, err := schemaOf(rows); err != nil {
		return problem("Iceberg", err)
	}
	return nil
}
