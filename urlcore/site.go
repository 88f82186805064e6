package urlcore

import "github.com/urlmill/urlmill/urlcore/psl"

// PublicSuffix returns the host's public suffix by the current list of package psl, or "" when it has none:
// when the host is no domain. It keeps a trailing dot.
//
// https://url.spec.whatwg.org/#host-public-suffix
func (u *URL) PublicSuffix() string {
	suffix, _, _ := u.Site(psl.Default())
	return string(suffix)
}

// RegistrableDomain returns the host's registrable domain by the current list of package psl, or "" when it
// has none: when the host is no domain, or is a public suffix. It keeps a trailing dot.
//
// https://url.spec.whatwg.org/#host-registrable-domain
func (u *URL) RegistrableDomain() string {
	_, domain, _ := u.Site(psl.Default())
	return string(domain)
}

// Site returns the host's public suffix and registrable domain by the given list, nil for what is null,
// and the section of the rule that decided. The slices are part of u like those of [URL.Bytes]. It
// allocates nothing.
func (u *URL) Site(list *psl.List) (suffix, domain []byte, section psl.Section) {
	if u.loc.host != HostDomain {
		return nil, nil, psl.Unlisted
	}
	host := u.Bytes(Host)
	suffixStart, domainStart, section := list.Lookup(host)
	if suffixStart >= 0 {
		suffix = host[suffixStart:]
	}
	if domainStart >= 0 {
		domain = host[domainStart:]
	}
	return suffix, domain, section
}

// registrableDomain returns the registrable domain of a host, or "".
func registrableDomain(kind HostKind, host string) string {
	if kind != HostDomain {
		return ""
	}
	if domain, ok := psl.Default().RegistrableDomain(host); ok {
		return domain
	}
	return ""
}
