package settings

import (
	"strings"
	"time"

	"github.com/urlmill/urlmill/config"
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
	Token      config.Secret
	Credential config.Secret // "id:secret" or "secret", exchanged for a token at AuthURI
	AuthURI    string        // "": the catalog's own
	Scope      string
}

// DefaultIceberg returns the defaults of a table.
func DefaultIceberg() Iceberg { return Iceberg{CatalogName: "urlmill", Every: time.Minute} }

func icebergSchema(i *Iceberg) config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "table", Doc: "Namespace and name of the table, with a dot between; it is made when it is missing.", Value: config.Text(&i.Table, "web.clicks"), Example: "table: web.clicks"},
			{Name: "catalog_file", Doc: "A catalog in a file of SQLite, as pyiceberg's SqlCatalog has it. Not set: _catalog.db in the output folder.", Value: config.Text(&i.CatalogFile, "/var/lib/urlmill/catalog.db")},
			{Name: "catalog_name", Doc: "Name of the catalog within catalog_file.", Value: config.Text(&i.CatalogName, "urlmill")},
			{Name: "rest", Doc: "A REST catalog instead.", Value: config.Optional(&i.REST, func() IcebergREST { return IcebergREST{} }, icebergRESTSchema)},
			{Name: "every", Doc: "How long commits wait until they are in the table; those of all lanes are one snapshot.", Value: config.Duration(&i.Every, time.Second, 24*time.Hour)},
		},
		Check: func(d *config.Check) {
			rest := "rest"
			for _, key := range []string{"catalog_file", "catalog_name"} {
				if at := key; d.Given(at) && d.Given(rest) {
					d.Conflict(at, []string{rest}, "%s is given beside rest, which is another catalog; keep one of them", key)
				}
			}
		},
	}
}

func icebergRESTSchema(r *IcebergREST) config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "uri", Doc: "Its address, without /v1.", Value: config.Text(&r.URI, "https://catalog.example.com"), Example: "uri: https://catalog.example.com"},
			{Name: "warehouse", Doc: "Which of its warehouses. Not set: its default.", Value: config.Text(&r.Warehouse, "lake")},
			{Name: "token", Doc: "Token that is sent with requests.", Value: config.SecretText(&r.Token)},
			{Name: "credential", Doc: "Identifier and secret, with a colon between, or the secret alone, that are exchanged for a token.", Value: config.SecretText(&r.Credential)},
			{Name: "auth_uri", Doc: "Where they are exchanged. Not set: at the catalog.", Value: config.Text(&r.AuthURI, "https://login.example.com/oauth/tokens")},
			{Name: "scope", Doc: "What the token is asked for. Not set: catalog.", Value: config.Text(&r.Scope, "catalog")},
		},
		Check: func(d *config.Check) {
			token, credential := "token", "credential"
			if d.Given(token) && d.Given(credential) {
				d.Conflict(credential, []string{token}, "credential is given beside token; keep one of them")
			}
			for _, key := range []string{"auth_uri", "scope"} {
				if at := key; d.Given(at) && !d.Given(credential) {
					d.Conflict(at, []string{credential}, "%s has no effect without credential", key)
				}
			}
		},
	}
}

// checkIceberg reports a table that cannot be made of the files of p.
func checkIceberg(d *config.Check, p *Parquet) {
	at := "iceberg"
	if p.Iceberg == nil {
		return
	}
	if delivery := "delivery"; p.Delivery == AtLeastOnce {
		d.Conflict(at, []string{delivery}, "an Iceberg table is made of commit records, which delivery: at_least_once does not have; take one of the two out")
	}
	if late := "late"; p.Late != nil {
		d.Conflict(late, []string{at}, "late puts rows into another folder, and an Iceberg table has the files of one; take one of the two out")
	}
	if strings.Contains(p.Path, "://") && p.Iceberg.REST == nil && p.Iceberg.CatalogFile == "" {
		d.Conflict(at, []string{config.Join(at, "rest"), config.Join(at, "catalog_file")},
			"the catalog cannot be a file in a bucket; give catalog_file: /var/lib/urlmill/catalog.db, or rest: {uri: https://catalog.example.com}")
	}
}
