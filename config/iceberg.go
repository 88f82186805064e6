package config

import (
	"strings"
	"time"
)

// Iceberg is the Iceberg table that Parquet files are registered in.
type Iceberg struct {
	Table       string // namespace.name
	CatalogFile string // of SQLite; "" for _catalog.db in the output folder
	CatalogName string // within that file
	REST        *IcebergREST
	Every       time.Duration
}

// IcebergREST is a REST catalog.
type IcebergREST struct {
	URI        string
	Warehouse  string
	Token      Secret
	Credential Secret // "id:secret" or "secret", exchanged for a token at AuthURI
	AuthURI    string // "": the catalog's own
	Scope      string
}

// DefaultIceberg returns the defaults of a table.
func DefaultIceberg() Iceberg { return Iceberg{CatalogName: "urlmill", Every: time.Minute} }

func icebergSchema(i *Iceberg) object {
	return object{
		fields: []field{
			{name: "table", value: text(&i.Table, "web.clicks"), example: "table: web.clicks"},
			{name: "catalog_file", value: text(&i.CatalogFile, "/var/lib/urlmill/catalog.db")},
			{name: "catalog_name", value: text(&i.CatalogName, "urlmill")},
			{name: "rest", value: optional(&i.REST, func() IcebergREST { return IcebergREST{} }, icebergRESTSchema)},
			{name: "every", value: duration(&i.Every, time.Second, 24*time.Hour)},
		},
		check: func(d *decoder, path string) {
			rest := join(path, "rest")
			for _, key := range []string{"catalog_file", "catalog_name"} {
				if at := join(path, key); d.given(at) && d.given(rest) {
					d.conflict(at, []string{rest}, "%s is given beside rest, which is another catalog; keep one of them", key)
				}
			}
		},
	}
}

func icebergRESTSchema(r *IcebergREST) object {
	return object{
		fields: []field{
			{name: "uri", value: text(&r.URI, "https://catalog.example.com"), example: "uri: https://catalog.example.com"},
			{name: "warehouse", value: text(&r.Warehouse, "lake")},
			{name: "token", value: secret(&r.Token)},
			{name: "credential", value: secret(&r.Credential)},
			{name: "auth_uri", value: text(&r.AuthURI, "https://login.example.com/oauth/tokens")},
			{name: "scope", value: text(&r.Scope, "catalog")},
		},
		check: func(d *decoder, path string) {
			token, credential := join(path, "token"), join(path, "credential")
			if d.given(token) && d.given(credential) {
				d.conflict(credential, []string{token}, "credential is given beside token; keep one of them")
			}
			for _, key := range []string{"auth_uri", "scope"} {
				if at := join(path, key); d.given(at) && !d.given(credential) {
					d.conflict(at, []string{credential}, "%s has no effect without credential", key)
				}
			}
		},
	}
}

// checkIceberg reports a table that cannot be made of the files of p.
func checkIceberg(d *decoder, path string, p *Parquet) {
	at := join(path, "iceberg")
	if p.Iceberg == nil {
		return
	}
	if delivery := join(path, "delivery"); p.Delivery == AtLeastOnce {
		d.conflict(at, []string{delivery}, "an Iceberg table is made of commit records, which delivery: at_least_once does not have; take one of the two out")
	}
	if late := join(path, "late"); p.Late != nil {
		d.conflict(late, []string{at}, "late puts rows into another folder, and an Iceberg table has the files of one; take one of the two out")
	}
	if strings.Contains(p.Path, "://") && p.Iceberg.REST == nil && p.Iceberg.CatalogFile == "" {
		d.conflict(at, []string{join(at, "rest"), join(at, "catalog_file")},
			"the catalog cannot be a file in a bucket; give catalog_file: /var/lib/urlmill/catalog.db, or rest: {uri: https://catalog.example.com}")
	}
}
