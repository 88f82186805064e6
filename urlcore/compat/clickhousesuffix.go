package compat

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed clickhouse_suffixes.txt
var clickHouseSuffixText string

// clickHouseSuffixes are the suffixes of two labels that ClickHouse knows.
var clickHouseSuffixes = sync.OnceValue(func() map[string]struct{} {
	m := make(map[string]struct{})
	for line := range strings.Lines(clickHouseSuffixText) {
		if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "#") {
			m[line] = struct{}{}
		}
	}
	return m
})

// FirstSignificantSubdomain is the label before the suffix of the host: before its last two labels where they are on
// ClickHouse's own list, and else before the last one. That list is a Public Suffix List of years ago, without suffixes of
// more than two labels, case matters, and its wildcards and exceptions are nothing but texts.
func (u ClickHouse) FirstSignificantSubdomain() string {
	host := u.DomainWithoutWWW()
	start, end := significant(host)
	return host[start:end]
}

// CutToFirstSignificantSubdomain is that label with all that follows in the host.
func (u ClickHouse) CutToFirstSignificantSubdomain() string {
	return fromSignificant(u.DomainWithoutWWW())
}

// CutToFirstSignificantSubdomainWithWWW is the same, where "www" may be the label.
func (u ClickHouse) CutToFirstSignificantSubdomainWithWWW() string {
	return fromSignificant(u.Domain())
}

func fromSignificant(host string) string {
	start, end := significant(host)
	if start == end {
		return ""
	}
	return host[start:]
}

// significant returns where in host the label before the suffix is.
func significant(host string) (start, end int) {
	last := strings.LastIndexByte(host, '.')
	if last < 0 {
		return 0, len(host)
	}
	second := strings.LastIndexByte(host[:last], '.')
	if second < 0 {
		return 0, last
	}
	if _, ok := clickHouseSuffixes()[host[second+1:]]; ok {
		return strings.LastIndexByte(host[:second], '.') + 1, second
	}
	return second + 1, last
}
