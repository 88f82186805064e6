package iceberg

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"github.com/urlmill/urlmill/config"
)

// unitSeparator is between the parts of a namespace in paths, escaped, unless the catalog says otherwise.
const unitSeparator = "%1F"

// restConfig is what a catalog wants: defaults for what is not set here, and overrides for what is.
type restConfig struct {
	Defaults  map[string]string `json:"defaults"`
	Overrides map[string]string `json:"overrides"`
}

// get returns a setting that is own here, "" if it is not set.
func (c restConfig) get(key, own string) string {
	if v, ok := c.Overrides[key]; ok {
		return v
	}
	return cmp.Or(own, c.Defaults[key])
}

// configure takes over what the catalog wants.
func (c *rest) configure(wanted restConfig) error {
	c.prefix = escapedPath(strings.Trim(wanted.get("prefix", ""), "/"))
	c.separator = cmp.Or(wanted.get("namespace-separator", ""), unitSeparator)
	uri, err := c.address("uri", wanted.get("uri", c.opts.URI))
	if err != nil {
		return err
	}
	c.uri = strings.TrimSuffix(uri, "/")
	if c.auth = wanted.get("oauth2-server-uri", c.opts.AuthURI); c.auth == "" {
		return nil
	}
	c.auth, err = c.address("oauth2-server-uri", c.auth)
	return err
}

// address checks an address that the catalog gives. One without a host is below the catalog's own.
func (c *rest) address(key, at string) (string, error) {
	u, err := url.Parse(at)
	if err == nil && !u.IsAbs() && u.Host == "" {
		at = c.uri + "/" + strings.TrimPrefix(at, "/")
		u, err = url.Parse(at)
	}
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("its configuration gives %q as %s, which is not an address", config.Clip(at), key)
	case u.User != nil:
		return "", fmt.Errorf("its configuration gives an address with a user name or a password as %s: have the catalog give one without", key)
	case (c.opts.exposed(u) || u.Scheme == "http" && strings.HasPrefix(c.opts.URI, "https:")) && at != c.opts.AuthURI:
		return "", fmt.Errorf("its configuration gives %q as %s, to which the token would go without encryption: have the catalog give one with https", at, key)
	}
	return at, nil
}

// escapedPath returns a path as it goes into a URL. Catalogs give it escaped already where it has to be.
func escapedPath(p string) string {
	if _, err := url.PathUnescape(p); err != nil {
		p = strings.ReplaceAll(p, "%", "%25")
	}
	return strings.NewReplacer("?", "%3F", "#", "%23").Replace(p)
}
