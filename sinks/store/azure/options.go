package azure

import (
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// Scheme begins the locations of this package: az://account/container/prefix.
const Scheme = store.Azure

const (
	// accountMark stands for the account in an endpoint.
	accountMark = "{account}"
	public      = "https://" + accountMark + ".blob.core.windows.net"
	// endpointVariable names a server other than the public cloud's.
	endpointVariable = "AZURE_STORAGE_ENDPOINT"
)

// Options are how to reach a container and what to do there. Credentials are not among them: they come from where Azure's own tools look
// for them.
type Options struct {
	bucket.Options
	// Endpoint is the URL of a server other than the public cloud's. Without {account} in it, the account is the first element of paths.
	Endpoint string

	// Transport sends requests, and Credentials look up what signs them. Tests put others in place of the usual ones.
	Transport   http.RoundTripper
	Credentials func() (azcore.TokenCredential, error)
}

// Default returns the options of a configuration that says nothing.
func Default() Options { return Options{Options: bucket.Default()} }

// Section binds the options that a user gives to the section of a configuration.
func (o *Options) Section() config.Section {
	return config.Section{Fields: append([]config.Field{
		{Name: "endpoint", Doc: "URL of a server other than the public cloud's. Without {account} in it, the account is in the path.", Value: config.Text(&o.Endpoint, "https://{account}.blob.core.usgovcloudapi.net")},
	}, o.Fields(bucket.MinPart)...)}
}

// Validate returns what is wrong with the options, each a [*pipeline.FieldError].
func (o Options) Validate() error {
	var p pipeline.Problems
	bucket.CheckEndpoint(&p, strings.ReplaceAll(o.Endpoint, accountMark, "account"), "https://storage.example.com")
	return p.Err()
}

// endpoint returns the URL of an account, without a slash at its end.
func (o Options) endpoint(account string) string {
	at := o.Endpoint
	if at == "" {
		at = os.Getenv(endpointVariable)
	}
	if at == "" {
		at = public
	}
	at = strings.TrimSuffix(at, "/")
	if !strings.Contains(at, accountMark) {
		at += "/" + accountMark
	}
	return strings.ReplaceAll(at, accountMark, account)
}

var (
	accountName   = regexp.MustCompile(`^[a-z0-9]{3,24}$`)
	containerName = regexp.MustCompile(`^[a-z0-9](-?[a-z0-9]){2,62}$`)
)

// ParseLocation takes az://account/container/prefix apart. The prefix may be empty and has no slash at its ends.
func ParseLocation(location string) (account, container, prefix string, err error) {
	rest, ok := strings.CutPrefix(location, Scheme)
	account, rest, _ = strings.Cut(rest, "/")
	container, prefix, _ = strings.Cut(rest, "/")
	prefix = strings.TrimSuffix(prefix, "/")
	if !ok || !accountName.MatchString(account) || !containerName.MatchString(container) || prefix != "" && (!fs.ValidPath(prefix) || path.Clean(prefix) == ".") {
		return "", "", "", fmt.Errorf("%q is not a place on Azure Blob Storage; give %saccount/container/prefix, with names of small letters and digits, and hyphens within that of the container",
			location, Scheme)
	}
	return account, container, prefix, nil
}

// CheckPlace returns what is wrong with a location.
func CheckPlace(location string) error {
	_, _, _, err := ParseLocation(location)
	return err
}

// service is what messages say of Azure.
var service = bucket.Service{
	Name: "Azure Blob Storage", Section: "azure", Docs: "docs/azure.md", MaxParts: 50000, NoEmptyParts: true,
	Kept: "nothing but urlmill may delete blobs below _tmp/, and the service forgets after seven days what was not published, see docs/azure.md",
}

// Opener returns an opener of places on Azure Blob Storage. The stores share their connections and the number of parts that are on their
// way.
func Opener(o Options) store.Opener {
	if o.Trouble == nil {
		o.Trouble = new(bucket.Trouble)
	}
	client, shared := o.HTTPClient(o.Transport), bucket.NewShared(o.Options)
	return func(location string, log *slog.Logger) (store.Store, error) {
		account, container, prefix, err := ParseLocation(location)
		if err != nil {
			return nil, err
		}
		endpoint := o.endpoint(account)
		sign, renew, err := signing(o, account, endpoint)
		if err != nil {
			return nil, err
		}
		c := newClient(bucket.Requests{
			Place: bucket.Place{Root: Scheme + account + "/" + container, Prefix: prefix}, Service: service, Options: o.Options, HTTP: client, Sign: sign, Renew: renew,
			Fault: fault, Advise: advise(account, container), Role: "the role Storage Blob Data Contributor",
		}, endpoint+"/"+container)
		return bucket.New(c, c.Place, service, o.Options, log, shared), nil
	}
}
