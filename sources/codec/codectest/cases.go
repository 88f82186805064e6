package codectest

import (
	"fmt"
	"slices"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/accesslog"
	"github.com/urlmill/urlmill/sources/codec/delimited"
)

// Case is a codec with records for it.
type Case struct {
	// Codec is the name of its section in the configuration, and Name that with the format, such as access_log/combined.
	Codec, Name string
	// New makes the configured codec.
	New func() (codec.Factory, error)
	// Prologue are records that go before all others and are no rows, such as a header line.
	Prologue []string
	// Record returns the record of request number i.
	Record func(i int) []byte
	// Referer is the column with the referer, "" where there is none.
	Referer string
	// NoTarget says that the log is one of connections, whose URLs have no path.
	NoTarget bool
	// Malformed are records that give a row without a URL, with its fault and the position of that.
	Malformed map[string]string
}

// Factory makes the codec, and panics if its options are wrong.
func (c *Case) Factory() codec.Factory {
	f, err := c.New()
	if err != nil {
		panic(fmt.Sprintf("codectest: %s: %v", c.Name, err))
	}
	return f
}

// Cases returns the cases of all codecs.
func Cases() []Case {
	cases := []Case{{
		Codec: "lines", Name: "lines",
		New:       func() (codec.Factory, error) { return codec.NewLines(codec.LinesOptions{SkipEmpty: true}), nil },
		Record:    record(func(h *Hit) string { return h.URL() }),
		Malformed: map[string]string{}, // every line is one, and what is no URL is for the parser to say
	}, {
		Codec: "ndjson", Name: "ndjson", Referer: "referer",
		New: func() (codec.Factory, error) {
			return codec.NewNDJSON(codec.NDJSONOptions{URL: "/url", Carry: []codec.CarriedField{
				{Name: "time", Pointer: "/ts", Type: pipeline.Timestamp, Time: codec.EpochMillis},
				{Name: "remote_addr", Pointer: "/client/ip"},
				{Name: "status", Pointer: "/status", Type: pipeline.Int64},
				{Name: "referer", Pointer: "/referer"},
			}})
		},
		Record: record(func(h *Hit) string {
			return fmt.Sprintf(`{"ts":%d,"client":{"ip":%q,"agent":%q},"url":%q,"referer":%q,"status":%d,"id":%q}`,
				h.Time.UnixMilli(), h.IP, h.Agent, h.URL(), h.Referer, h.Status, h.ID)
		}),
		Malformed: map[string]string{
			"": "record-malformed 0", "x": "record-malformed 0", `{"url":"http://a/"`: "record-malformed 18", `{"url":"http://a/"}}`: "record-malformed 19",
			`{"status":200}`: "record-field-missing -1", `{"url":7}`: "record-field-type 7", `{"url":null}`: "record-field-missing 7",
		},
	}}
	cases = append(cases, delimitedCases()...)
	cases = append(cases, schemaCases()...)
	cases = append(cases, archiveCases()...)
	return append(cases, logCases()...)
}

// record turns a function of a request into one of its number.
func record(line func(h *Hit) string) func(int) []byte {
	return func(i int) []byte {
		h := NewHit(i)
		return []byte(line(&h))
	}
}

func delimitedCases() []Case {
	carry := []codec.CarriedColumn{
		{Name: "time", Column: "time", Type: pipeline.Timestamp},
		{Name: "remote_addr", Column: "ip"},
		{Name: "status", Column: "status", Type: pipeline.Int64},
		{Name: "referer", Column: "referer"},
	}
	return []Case{{
		Codec: "delimited", Name: "delimited/csv", Referer: "referer", Prologue: []string{"time,ip,url,referer,agent,status"},
		New: func() (codec.Factory, error) { return delimited.New(delimited.Options{URL: "url", Carry: carry}) },
		Record: record(func(h *Hit) string {
			return fmt.Sprintf(`%s,%s,%s,%s,"%s",%d`, h.Time.Format("2006-01-02T15:04:05.999Z"), h.IP, h.URL(), h.Referer, h.Agent, h.Status)
		}),
		Malformed: map[string]string{`a,b,"c`: "record-malformed 4", `a,b,"c"d`: "record-malformed 7", "a,b": "record-field-missing -1", "": "record-field-missing -1"},
	}, {
		Codec: "delimited", Name: "delimited/tsv", Referer: "referer",
		New: func() (codec.Factory, error) {
			columns := []string{"time", "ip", "url", "referer", "agent", "status"}
			return delimited.New(delimited.Options{Separator: '\t', Columns: columns, URL: "url", Carry: carry})
		},
		Record: record(func(h *Hit) string {
			return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%d", h.Time.Format("2006-01-02T15:04:05.999Z"), h.IP, h.URL(), h.Referer, h.Agent, h.Status)
		}),
		Malformed: map[string]string{"a\tb\t\"c": "record-malformed 4", "a\tb": "record-field-missing -1"},
	}}
}

const origin = "https://www.example.com"

// logCases are those of access logs.
func logCases() []Case {
	log := func(name string, o accesslog.Options, line func(h *Hit) string, malformed map[string]string) Case {
		return Case{
			Codec: "access_log", Name: "access_log/" + name, Referer: "referer", Malformed: malformed, Record: record(line),
			New: func() (codec.Factory, error) { return accesslog.New(o) },
		}
	}
	preset := func(format, base string, line func(h *Hit) string, malformed map[string]string) Case {
		return log(format, accesslog.Options{Format: format, Base: base}, line, malformed)
	}
	common := func(h *Hit) string {
		return fmt.Sprintf(`%s - %s [%s] "%s" %d %d`, h.IP, dash(h.User), h.clf(), h.request(), h.Status, h.Bytes)
	}
	combined := func(h *Hit) string { return fmt.Sprintf(`%s "%s" "%s"`, common(h), dash(h.Referer), h.Agent) }
	main := func(h *Hit) string { return combined(h) + ` "198.51.100.7, 10.0.0.9"` }
	cases := []Case{
		preset("common", origin, common, map[string]string{"": "record-malformed 0", "x": "record-malformed 0", "1.2.3.4 - - [x": "record-malformed 13"}),
		preset("combined", origin, combined, map[string]string{
			`1.2.3.4 - - [21/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "x`: "record-malformed 69",
			`1.2.3.4 - - [21/Nov/2026:12:00:00 +0000] "\x16\x03" 400 0 "-" "-"`:      "record-malformed 42",
		}),
		preset("vhost_combined", "", func(h *Hit) string { return h.Host + ":443 " + combined(h) },
			map[string]string{"www.example.com 1.2.3.4": "record-malformed 0"}),
		preset("nginx", origin, main, map[string]string{`1.2.3.4 - - [21/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "x" "-" 1`: "record-malformed 74"}),
		preset("main", origin, main, map[string]string{"web 1 1.2.3.4 - - [": "record-malformed 19"}),
		preset("fastly", origin, func(h *Hit) string { return "<134>2026-11-21T12:00:00Z cache-fra19128 log[62959]: " + common(h) },
			map[string]string{"<134>2026-11-21T12:00:00Z cache-fra19128 log[62959]: ": "record-malformed 53"}),
		preset("traefik", origin, func(h *Hit) string {
			return fmt.Sprintf(`%s %d "web@docker" "http://10.0.0.1:80" %dms`, combined(h), h.Micros, h.Micros/1000)
		}, map[string]string{`1.2.3.4 - - [21/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "x"`: "record-malformed 70"}),
		preset("envoy", "", envoy, map[string]string{`[2026-11-21T12:00:00.000Z] "GET / HTTP/1.1" 200 - via_upstream - "-" 0`: "record-malformed 69"}),
		preset("squid", "", squid, map[string]string{"1795262400.000    921 192.0.2.1 TCP_MISS 200": "record-malformed 32"}),
		preset("auto", origin, combined, map[string]string{"": "record-malformed 0", "x": "record-malformed 0"}),
		preset("alb", "", alb, map[string]string{"https 2026-11-21T12:00:00Z": "record-field-missing -1"}),
		preset("elb", "", elb, map[string]string{"2026-11-21T12:00:00Z x y z": "record-field-missing -1"}),
		preset("s3", "", s3, map[string]string{"owner bucket 21/Nov/2026": "record-malformed 12"}),
		preset("nlb", "", nlb, map[string]string{"tls 2.0 2026-11-21T12:00:00 net": "record-field-missing -1", "tcp 2.0": "record-malformed 0"}),
		preset("api_gateway_clf", origin, func(h *Hit) string { return common(h) + " " + h.ID },
			map[string]string{`1.2.3.4 - - [21/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 1`: "record-malformed 62"}),
		preset("haproxy", origin, haproxy, map[string]string{"haproxy[1]: Proxy http-in started.": "record-malformed 12"}),
		log("log_format", accesslog.Options{Nginx: nginxFormat}, nginx, map[string]string{"203.0.113.9 -": "record-malformed 0"}),
		log("apache", accesslog.Options{Apache: `%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\" %v %D`},
			func(h *Hit) string { return fmt.Sprintf("%s %s %d", combined(h), h.Host, h.Micros) },
			map[string]string{"x y": "record-malformed 2"}),
	}
	for i := range cases {
		cases[i].NoTarget = cases[i].Name == "access_log/nlb"
		switch cases[i].Name {
		case "access_log/common", "access_log/alb", "access_log/elb", "access_log/haproxy", "access_log/fastly", "access_log/envoy", "access_log/squid",
			"access_log/nlb", "access_log/api_gateway_clf":
			cases[i].Referer = ""
		}
	}
	return slices.Concat(cases, w3cCases(), jsonCases(), cloudCases())
}
