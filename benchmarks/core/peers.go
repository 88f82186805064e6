package main

import (
	"bytes"
	neturl "net/url"
	"os"

	"github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/publicsuffix"

	"github.com/urlmill/urlmill/benchmarks/internal/native"
	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/columns"
)

// Columns of the two entries of urlmill: every part with domain and decoded parameters, and what a bare parser knows.
const (
	fullColumns = columns.Scheme | columns.Host | columns.Port | columns.Origin | columns.RegistrableDomain |
		columns.PublicSuffix | columns.Path | columns.Query | columns.Params | columns.Fragment
	coreColumns = columns.Scheme | columns.Host | columns.Port | columns.Path | columns.Query | columns.Fragment
)

// batchRows is the number of rows that are handed to the engine at once.
const batchRows = 8192

// Sink keeps results from being dropped by the compiler.
var Sink int

func peersFor(l *list) ([]peer, func(), error) {
	peers := []peer{
		{"urlmill_full", timed(engine(l, fullColumns, batchRows)), true},
		{"urlmill_core", timed(engine(l, coreColumns, batchRows)), true},
		{"urlmill_parse", timed(parseEach(l)), true},
		{"go_stdlib_job", timed(func() { stdlibJob(l) }), true},
		{"go_net_url", timed(netURL(l)), true},
		{"nlnwa", timed(nlnwa(l)), true},
		{"floor_memcpy", timed(floorMemcpy(l)), true},
		{"floor_split", timed(floorSplit(l)), true},
		{"floor_split_append", timed(floorSplitAppend(l)), true},
	}
	program := os.Getenv("PEERS")
	if program == "" {
		return peers, func() {}, nil
	}
	n, err := native.Start(program, l.text())
	if err != nil {
		return nil, nil, err
	}
	for _, name := range []string{"ada_url_aggregator", "ada_parts", "rust_url_parse", "rust_url"} {
		peers = append(peers, peer{name: name, pass: n.Pass(name)})
	}
	return peers, n.Stop, nil
}

// engine parses the list in batches of some rows.
func engine(l *list, want columns.Mask, rows int) func() {
	c := &columns.Columns{Want: want}
	var batches []*list
	for at := 0; at < len(l.urls); at += rows {
		batches = append(batches, newList("", l.urls[at:min(at+rows, len(l.urls))]))
	}
	return func() {
		for _, b := range batches {
			if err := columns.Parse(c, b.data, b.ends); err != nil {
				panic(err)
			}
		}
	}
}

// parseEach parses one URL after the other into the same record: the API for single URLs.
func parseEach(l *list) func() {
	var p urlcore.Parser
	var u urlcore.URL
	return func() {
		start := int32(0)
		for _, end := range l.ends {
			if p.Parse(&u, l.data[start:end], nil).OK() {
				Sink += len(u.Bytes(urlcore.Href))
			}
			start = end
		}
	}
}

// netURL is url.Parse of the standard library alone.
func netURL(l *list) func() {
	return func() {
		for _, text := range l.urls {
			if u, err := neturl.Parse(text); err == nil {
				Sink += len(u.Host)
			}
		}
	}
}

// stdlibJob is what a Go program does today: net/url, x/net/publicsuffix and ParseQuery, appended to columns.
func stdlibJob(l *list) {
	var scheme, host, port, domain, suffix, path, query, fragment, keys, values []string
	for _, text := range l.urls {
		u, err := neturl.Parse(text)
		if err != nil {
			continue
		}
		scheme, host, port = append(scheme, u.Scheme), append(host, u.Hostname()), append(port, u.Port())
		ps, _ := publicsuffix.PublicSuffix(u.Hostname())
		d, _ := publicsuffix.EffectiveTLDPlusOne(u.Hostname())
		domain, suffix = append(domain, d), append(suffix, ps)
		path, query, fragment = append(path, u.EscapedPath()), append(query, u.RawQuery), append(fragment, u.Fragment)
		params, _ := neturl.ParseQuery(u.RawQuery)
		for k, list := range params {
			for _, v := range list {
				keys, values = append(keys, k), append(values, v)
			}
		}
		if len(scheme) == batchRows {
			Sink += len(scheme) + len(keys)
			scheme, host, port, domain, suffix = scheme[:0], host[:0], port[:0], domain[:0], suffix[:0]
			path, query, fragment, keys, values = path[:0], query[:0], fragment[:0], keys[:0], values[:0]
		}
	}
	Sink += len(scheme)
}

func nlnwa(l *list) func() {
	return func() {
		for _, text := range l.urls {
			if u, err := url.Parse(text); err == nil {
				Sink += len(u.Hostname())
			}
		}
	}
}

// floorMemcpy copies the text.
func floorMemcpy(l *list) func() {
	dst := make([]byte, len(l.data))
	return func() { Sink += copy(dst, l.data) }
}

// floorSplit finds the lines.
func floorSplit(l *list) func() {
	text := l.text()
	return func() {
		for rest := text; len(rest) > 0; {
			n := bytes.IndexByte(rest, '\n')
			Sink += n
			rest = rest[n+1:]
		}
	}
}

// floorSplitAppend finds the lines and appends them to one column.
func floorSplitAppend(l *list) func() {
	text := l.text()
	data, ends := make([]byte, 0, len(text)), make([]int32, 0, len(l.urls))
	return func() {
		data, ends = data[:0], ends[:0]
		for rest := text; len(rest) > 0; {
			n := bytes.IndexByte(rest, '\n')
			data = append(data, rest[:n]...)
			ends = append(ends, int32(len(data)))
			rest = rest[n+1:]
		}
		Sink += len(ends)
	}
}
