package accesslog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/urlcore"
)

func mustCodec(t testing.TB, o Options) (codec.Factory, codec.Codec) {
	t.Helper()
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return f, f.New()
}

// decode returns a row for every line that holds one: its columns that are not null, "url", and "fault" with the code
// and position.
func decode(t testing.TB, o Options, lines ...string) []map[string]any {
	t.Helper()
	f, c := mustCodec(t, o)
	var rows []map[string]any
	var b pipeline.Batch
	for _, line := range lines {
		b.Reset()
		c.Prepare(&b)
		if !c.Decode(&b, []byte(line)) {
			continue
		}
		row := map[string]any{}
		if b.URLs.Valid[0] {
			row["url"] = string(b.URLs.At(0))
		}
		for i, field := range f.Fields() {
			v := &b.Carried[i]
			if len(v.Valid) != 1 || v.Field != field {
				t.Fatalf("column %s has %d values", field.Name, len(v.Valid))
			}
			if !v.Valid[0] {
				continue
			}
			switch field.Type {
			case pipeline.Int64:
				row[field.Name] = v.Ints[0]
			case pipeline.Timestamp:
				row[field.Name] = time.UnixMicro(v.Ints[0]).UTC().Format(time.RFC3339Nano)
			case pipeline.Float64:
				row[field.Name] = v.Floats[0]
			default:
				row[field.Name] = string(v.Text.At(0))
			}
		}
		for _, fault := range b.Faults {
			row["fault"] = fmt.Sprint(fault.Code, " ", fault.Pos)
		}
		if raw, _ := b.Raw(0); string(raw) != line {
			t.Errorf("raw %q", raw)
		}
		rows = append(rows, row)
	}
	return rows
}

const combinedLine = `203.0.113.9 - ann [10/Oct/2026:13:55:36 -0700] "GET /a%20b?x=1 HTTP/1.1" 200 2326 "https://ref.example/?q=1" "Mozilla/5.0 (X11; \"q\") \xc3\xa9"`

// formats are lines of every format, and the row of each.
var formats = map[string]struct {
	o    Options
	line string
	want map[string]any
}{
	"combined": {Options{Format: "combined", Base: "https://www.example.com/"}, combinedLine, map[string]any{
		"url": "https://www.example.com/a%20b?x=1", "remote_addr": "203.0.113.9", "remote_user": "ann",
		"time": "2026-10-10T20:55:36Z", "method": "GET", "protocol": "HTTP/1.1", "status": int64(200), "bytes": int64(2326),
		"referer": "https://ref.example/?q=1", "user_agent": `Mozilla/5.0 (X11; "q") é`,
	}},
	"common": {
		Options{Format: "common", Base: "http://e.com"},
		`::1 - - [01/Jan/2026:00:00:00 +0000] "HEAD //x HTTP/2.0" 304 -` + "\r",
		map[string]any{
			"url": "http://e.com//x", "remote_addr": "::1", "time": "2026-01-01T00:00:00Z", "method": "HEAD",
			"protocol": "HTTP/2.0", "status": int64(304),
		},
	},
	"vhost_combined": {
		Options{Format: "vhost_combined"},
		`shop.example:8443 10.0.0.1 - - [01/Jan/2026:00:00:00 +0100] "GET / HTTP/1.1" 200 0 "-" "-"`,
		map[string]any{
			"url": "https://shop.example:8443/", "server_name": "shop.example", "server_port": int64(8443), "remote_addr": "10.0.0.1",
			"time": "2025-12-31T23:00:00Z", "method": "GET", "protocol": "HTTP/1.1", "status": int64(200), "bytes": int64(0),
		},
	},
	"nginx": {
		Options{Nginx: `$remote_addr [$time_iso8601] ${scheme}://$http_host "$request_method $request_uri" $status $request_time "$http_x_id" $upstream_addr`},
		`10.1.2.3 [2026-01-02T03:04:05+02:00] http://e.com:81 "POST /p\x22q?x HTTP" 201 0.250 "a\x0Ab" 10.0.0.2:80, 10.0.0.3:80`,
		map[string]any{
			"url": `http://e.com:81/p"q?x HTTP`, "remote_addr": "10.1.2.3", "time": "2026-01-02T01:04:05Z", "scheme_logged": "http",
			"http_host": "e.com:81", "method": "POST", "request_uri": `/p"q?x HTTP`, "status": int64(201), "request_time": 0.25,
			"http_x_id": "a\nb", "upstream_addr": "10.0.0.2:80, 10.0.0.3:80",
		},
	},
	"apache": {
		Options{Apache: `%{Host}i %p \"%m %U%q %H\" %{msec}t %D %{SSL_PROTOCOL}x %{X-Id}i %%`},
		`e.com 8443 "GET /a?b HTTP/1.1" 1767323045250 1234 TLSv1.3 id %`,
		map[string]any{
			"url": "https://e.com:8443/a?b", "http_host": "e.com", "server_port": int64(8443), "method": "GET", "request_uri": "/a?b",
			"protocol": "HTTP/1.1", "time": "2026-01-02T03:04:05.25Z", "request_time_us": int64(1234), "ssl_protocol": "TLSv1.3", "x_id": "id",
		},
	},
	"alb": {
		Options{Format: "alb"},
		`https 2026-07-02T22:23:00.186641Z app/my-lb/50dc6c495c0c9188 192.168.131.39:2817 10.0.0.1:80 0.086 0.048 0.037 200 404 0 57 ` +
			`"GET https://www.example.com:443/a?b=%22 HTTP/1.1" "curl/7.46.0" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:tg ` +
			`"Root=1-58337281" "www.example.com" "arn:aws:acm" 1 2026-07-02T22:22:48.364000Z "authenticate,forward" "-" "-" "10.0.0.1:80" "200" "-" "-" TID_1`,
		map[string]any{
			"url": "https://www.example.com:443/a?b=%22", "type": "https", "time": "2026-07-02T22:23:00.186641Z", "elb": "app/my-lb/50dc6c495c0c9188",
			"remote_addr": "192.168.131.39", "remote_port": int64(2817), "target": "10.0.0.1:80", "target_list": "10.0.0.1:80", "target_status_list": "200",
			"conn_trace_id": "TID_1", "request_processing_time": 0.086, "target_processing_time": 0.048,
			"response_processing_time": 0.037, "status": int64(200), "target_status": int64(404), "request_length": int64(0), "bytes": int64(57),
			"method": "GET", "protocol": "HTTP/1.1", "user_agent": "curl/7.46.0", "ssl_cipher": "ECDHE-RSA-AES128-GCM-SHA256",
			"ssl_protocol": "TLSv1.2", "target_group_arn": "arn:aws:tg", "trace_id": "Root=1-58337281", "domain_name": "www.example.com",
			"chosen_cert_arn": "arn:aws:acm", "matched_rule_priority": "1", "request_creation_time": "2026-07-02T22:22:48.364Z",
			"actions_executed": "authenticate,forward",
		},
	},
	"elb": {
		Options{Format: "elb"},
		`2026-05-13T23:39:43.945958Z my-lb 192.168.131.39:2817 10.0.0.1:80 -1 -1 -1 504 0 0 0 "GET http://www.example.com:80/ HTTP/1.1"`,
		map[string]any{
			"url": "http://www.example.com:80/", "time": "2026-05-13T23:39:43.945958Z", "elb": "my-lb", "remote_addr": "192.168.131.39",
			"remote_port": int64(2817),
			"target":      "10.0.0.1:80", "request_processing_time": -1.0, "target_processing_time": -1.0, "response_processing_time": -1.0,
			"status": int64(504), "target_status": int64(0), "request_length": int64(0), "bytes": int64(0), "method": "GET", "protocol": "HTTP/1.1",
		},
	},
	"s3": {
		Options{Format: "s3"},
		`79a59df9 my-bucket [06/Feb/2026:00:00:38 +0000] 192.0.2.3 79a59df9 3E57427F REST.GET.OBJECT photos/a.jpg ` +
			`"GET /my-bucket/photos/a.jpg?versionId=1 HTTP/1.1" 200 - 113 200 7 5 "-" "S3Console/0.4" - 9vKBE6vMhrNiWHZmb2L0mXOcqPGzQOI5 SigV4 ` +
			`ECDHE-RSA-AES128-GCM-SHA256 AuthHeader s3.us-west-1.amazonaws.com TLSV1.2 - -`,
		map[string]any{
			"url": "https://s3.us-west-1.amazonaws.com/my-bucket/photos/a.jpg?versionId=1", "bucket_owner": "79a59df9", "bucket": "my-bucket",
			"time": "2026-02-06T00:00:38Z", "remote_addr": "192.0.2.3", "requester": "79a59df9", "request_id": "3E57427F",
			"operation": "REST.GET.OBJECT", "object_key": "photos/a.jpg", "method": "GET", "protocol": "HTTP/1.1", "status": int64(200),
			"bytes": int64(113), "object_size": int64(200), "total_time_ms": int64(7), "turn_around_time_ms": int64(5),
			"user_agent": "S3Console/0.4", "host_id": "9vKBE6vMhrNiWHZmb2L0mXOcqPGzQOI5", "signature_version": "SigV4",
			"ssl_cipher": "ECDHE-RSA-AES128-GCM-SHA256", "ssl_protocol": "TLSV1.2", "authentication_type": "AuthHeader", "http_host": "s3.us-west-1.amazonaws.com",
		},
	},
	"haproxy": {
		Options{Format: "haproxy", Base: "https://e.com"},
		`Feb  6 12:14:14 localhost haproxy[14389]: 10.0.1.2:33317 [06/Feb/2026:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 "GET /index.html HTTP/1.1"`,
		map[string]any{
			"url": "https://e.com/index.html", "remote_addr": "10.0.1.2", "remote_port": int64(33317), "time": "2026-02-06T12:14:14.655Z",
			"frontend": "http-in", "backend": "static", "server": "srv1", "timers": "10/0/30/69/109", "status": int64(200), "bytes_sent": int64(2750),
			"termination_state": "----", "connections": "1/1/1/1/0", "queues": "0/0", "method": "GET", "protocol": "HTTP/1.1",
		},
	},
}

func TestFormats(t *testing.T) {
	for name, test := range formats {
		t.Run(name, func(t *testing.T) {
			rows := decode(t, test.o, test.line)
			if diff := cmp.Diff([]map[string]any{test.want}, rows); diff != "" {
				t.Error(diff)
			}
			if _, err := urlcore.Parse(rows[0]["url"].(string)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestW3C(t *testing.T) {
	rows := decode(t, Options{Format: W3C, Base: "http://base.example", Fields: []string{"X-My"}},
		"2026-01-01 00:00:00 before the fields are named",
		"#Version: 1.0", "#Date: 2026-01-01",
		"#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status time-taken X-My X-Unknown",
		"2026-01-01 00:00:05 10.0.0.1 GET /a.aspx id=1&b=c+d 443 - 10.0.0.9 Mozilla/5.0+(X11) http://r.example/?q=a+b 200 15 mine other",
		"2026-01-01 00:00:05 10.0.0.1 GET /a.aspx - 443 - 10.0.0.9 - 200",
		"#Fields: date\ttime x-edge-location cs(Host) cs-uri-stem cs-uri-query cs-protocol x-host-header cs(User-Agent)",
		"2026-02-01\t01:02:03.5\tFRA\td1.cloudfront.net\t/p%20q\t-\thttps\twww.example.com\tMozilla/5.0%20(X11)",
	)
	want := []map[string]any{
		{"fault": "record-malformed 0"},
		{
			"url": "http://base.example/a.aspx?id=1&b=c+d", "time": "2026-01-01T00:00:05Z", "server_addr": "10.0.0.1", "method": "GET", "uri": "/a.aspx",
			"args": "id=1&b=c+d", "server_port": int64(443), "remote_addr": "10.0.0.9", "user_agent": "Mozilla/5.0 (X11)", "status": int64(200),
			"referer": "http://r.example/?q=a+b", "time_taken": 15.0, "x_my": "mine",
		},
		{"fault": "record-malformed 60"},
		{
			"url": "https://www.example.com/p%20q", "time": "2026-02-01T01:02:03.5Z", "edge_location": "FRA", "cs_host": "d1.cloudfront.net", "uri": "/p%20q",
			"scheme_logged": "https", "http_host": "www.example.com", "user_agent": "Mozilla/5.0 (X11)",
		},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
}

func TestRealTime(t *testing.T) {
	o := Options{Format: RealTime, Fields: []string{"timestamp", "c-ip", "sc-status", "cs-protocol", "cs-host", "cs-uri-stem", "cs-user-agent", "cs-uri-query", "asn", "c-country"}}
	rows := decode(t, o,
		"1795262400.123\t2001:db8::1\t200\thttps\twww.example.com\t/a%20b?x=1\tMozilla/5.0%20(X11)\tx=1\t3320\tDE\r",
		"1795262400.123\t-\t200\thttp\twww.example.com\t/\t-\tx=1\tnone\t-",
		"1795262400.123\t192.0.2.1\t200\thttps\twww.example.com\t/\t-\t-\t1\t-\tmore",
		"# 1", "",
	)
	want := []map[string]any{
		{
			"url": "https://www.example.com/a%20b?x=1", "time": "2026-11-21T12:00:00.123Z", "remote_addr": "2001:db8::1", "status": int64(200), "asn": int64(3320),
			"scheme_logged": "https", "http_host": "www.example.com", "uri": "/a%20b?x=1", "args": "x=1", "user_agent": "Mozilla/5.0 (X11)", "country": "DE",
		},
		{
			"url": "http://www.example.com/?x=1", "time": "2026-11-21T12:00:00.123Z", "status": int64(200), "scheme_logged": "http", "http_host": "www.example.com",
			"uri": "/", "args": "x=1", "fault": "field-type 50",
		},
		{"fault": "record-malformed 61"},
		{"fault": "record-malformed 0"},
		{"fault": "record-malformed 0"},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	for want, fields := range map[string][]string{`"x" is no field`: {"cs-host", "cs-uri-stem", "x"}, "twice": {"cs-host", "cs-host"}, "no request": {"asn"}} {
		if err := (Options{Format: RealTime, Fields: fields}).Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", fields, err, want)
		}
	}
}

// TestObserve: a reading that begins in the middle has seen the header.
func TestObserve(t *testing.T) {
	_, c := mustCodec(t, Options{Format: W3C, Base: "http://e.com"})
	c.(codec.Observer).Observe([]byte("#Fields: cs-uri-stem\r"))
	c.(codec.Observer).Observe([]byte("/one"))
	var b pipeline.Batch
	c.Prepare(&b)
	if !c.Decode(&b, []byte("/two")) || string(b.URLs.At(0)) != "http://e.com/two" {
		t.Errorf("%s", b.URLs.Data)
	}
}

func TestMalformed(t *testing.T) {
	line := func(request string) string {
		return `1.2.3.4 - - [10/Oct/2026:13:55:36 +0000] "` + request + `" 400 0 "-" "-"`
	}
	for input, want := range map[string]string{
		"":                                   "record-malformed 0",
		"x":                                  "record-malformed 0",
		"1.2.3.4 - - x":                      "record-malformed 10",
		"1.2.3.4 - - [x":                     "record-malformed 13",
		line("-"):                            "record-field-missing 42",
		line(""):                             "record-field-missing 42",
		line(`\x16\x03\x01`):                 "record-malformed 42",
		line(`\x16\x03 \x01`):                "record-malformed 42",
		line("OPTIONS * HTTP/1.1"):           "record-field-missing 42",
		line("CONNECT a.com:443 HTTP/1.1"):   "record-field-missing 42",
		line("GET  HTTP/1.1"):                "record-field-missing 42",
		line("GET / HTTP/1.1") + " trailing": "record-malformed 70",
		strings.Replace(line("GET / HTTP/1.1"), "Oct", "Okt", 1):     "field-type 13",
		strings.Replace(line("GET / HTTP/1.1"), " 400", " 4x0", 1):   "field-type 58",
		strings.Replace(line("GET / HTTP/1.1"), ` "-" "-"`, "", 1):   "record-malformed 62",
		strings.Replace(line("GET / HTTP/1.1"), `" "-"`, `\" "-`, 1): "record-malformed 69",
	} {
		row := decode(t, Options{Format: "combined", Base: "http://e.com"}, input)[0]
		if got := row["fault"]; got != want {
			t.Errorf("%s: %v, want %s", input, got, want)
		}
		if url, ok := row["url"]; ok != strings.HasPrefix(want, "field-type") {
			t.Errorf("%s: url %v", input, url)
		}
	}
	for request, want := range map[string]string{
		"GET /":                      "http://e.com/",
		"GET /a b HTTP/1.1":          "http://e.com/a b",
		"GET http://x.com/ HTTP/1.1": "http://x.com/",
		`GET /\"\\\n\q\x4 HTTP/1.1`:  "http://e.com/\"\\\n\\q\\x4",
	} {
		if got := decode(t, Options{Format: "combined", Base: "http://e.com"}, line(request))[0]["url"]; got != want {
			t.Errorf("%s: %q, want %q", request, got, want)
		}
	}
	f, c := mustCodec(t, Options{Format: "combined", Base: "http://e.com"})
	var b pipeline.Batch
	c.Prepare(&b)
	c.DecodeNull(&b)
	if len(b.Faults) != 1 || b.Faults[0].Code != pipeline.FaultNull || b.URLs.Len() != 1 || f.HasBase() || !f.KeepsRecords() {
		t.Errorf("%+v", b)
	}
}

func TestOptionErrors(t *testing.T) {
	const base = "http://e.com"
	for want, o := range map[string]Options{
		"give one of format":                                        {},
		"give one of format, nginx and apache":                      {Format: "common", Nginx: "$request"},
		`there is no "clf"; there are alb, api_gateway, api_gatewa`: {Format: "clf", Base: base},
		"does not say the host":                                     {Format: "combined"},
		"base: \"example.com\" is no URL":                           {Format: "combined", Base: "example.com"},
		"more or less than an origin":                               {Format: "combined", Base: "http://e.com/x"},
		"scheme: \"ftp\" is not known; give http or https":          {Format: "combined", Base: base, Scheme: "ftp"},
		"only the formats w3c and cloudfront":                       {Format: "combined", Base: base, Fields: []string{"x"}},
		"nginx: it has no field":                                    {Nginx: "x", Base: base},
		"it has no request":                                         {Nginx: "$status", Base: base},
		"nothing stands between $host and the field":                {Nginx: "$request$host"},
		"a $ without the name of a variable at byte 9":              {Nginx: "$request $ "},
		"not closed by }":                                           {Nginx: "${request"},
		"apache: there is no directive %Z at byte 3":                {Apache: "%r %Z", Base: base},
		"a % without a directive":                                   {Apache: "%r %", Base: base},
		"%{ and is not closed":                                      {Apache: "%{x", Base: base},
	} {
		err := o.Validate()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
		if _, err := New(o); err == nil {
			t.Errorf("%+v: New accepts it", o)
		}
	}
}

func TestPresets(t *testing.T) {
	for _, name := range Formats() {
		f, _ := mustCodec(t, Options{Format: name, Base: "http://e.com"})
		seen := map[string]bool{}
		for _, field := range f.Fields() {
			if field.Name == "" || seen[field.Name] {
				t.Errorf("%s: column %q", name, field.Name)
			}
			seen[field.Name] = true
		}
		if !seen["time"] || name != "nlb" && (!seen["method"] || !seen["status"]) {
			t.Errorf("%s: columns %v", name, f.Fields())
		}
	}
}

func TestAllocatesNothing(t *testing.T) {
	_, c := mustCodec(t, Options{Format: "combined", Base: "https://www.example.com"})
	var b pipeline.Batch
	line := []byte(combinedLine)
	decode := func() {
		b.Reset()
		c.Prepare(&b)
		c.Decode(&b, line)
	}
	decode()
	if n := testing.AllocsPerRun(100, decode); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(combinedLine, uint8(0))
	f.Add(strings.NewReplacer(`\"`, "", `\xc3`, "", `\xa9`, "").Replace(combinedLine)+"\n"+combinedLine, uint8(2))
	f.Add(`1.2.3.4 - a b [c [01/Jan/2026:00:00:00 +0000] "GET /" 200 1 "x" "y"`+"\n"+`1.2.3.4 - - [01/Jan/2026:00:00:00 +0000] "GET /" 200 1 "x"" "y"`, uint8(2))
	f.Add(`1.2.3.4 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/ .1" 200 1 "" "y" `+"\n-", uint8(3))
	seeds := samples(f)
	for i, name := range Formats() { // the index is that of the factory only about; seeds of one help the others
		for _, line := range families[name] {
			f.Add(line, uint8(i))
		}
		f.Add(strings.Join(seeds[name], "\n"), uint8(i))
		if name == "alb" || name == "elb" || name == "s3" { // whose older lines end earlier
			var cut []string
			line := slices.Concat(seeds[name], families[name])[0]
			for n := 1; n < len(line); n++ {
				if strings.ContainsAny(line[n-1:n+1], " \"") {
					cut = append(cut, line[:n])
				}
			}
			f.Add(strings.Join(cut, "\n"), uint8(i-1)) // there is no auto
		}
	}
	for _, line := range led {
		f.Add(line.text, uint8(slices.Index(Formats(), "combined")))
	}
	f.Add("#Fields: date time cs-uri-stem\n2026-01-01 00:00:00 /x", uint8(3))
	var factories []codec.Factory
	for _, name := range Formats() {
		if name == Auto {
			continue
		}
		factory, _ := mustCodec(f, Options{Format: name, Base: "http://e.com"})
		factories = append(factories, factory)
	}
	nginx, _ := mustCodec(f, Options{Nginx: `$host "$request_uri" $uri?$args $time_local "$http_a" $b`})
	factories = append(factories, nginx)
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		factory := factories[int(which)%len(factories)]
		c, readable := factory.New(), factory.New()
		readable.(*lines).slow = true
		var b, want pipeline.Batch
		c.Prepare(&b)
		readable.Prepare(&want)
		rows := 0
		for line := range strings.SplitSeq(text, "\n") {
			if c.Decode(&b, []byte(line)) {
				rows++
			}
			readable.Decode(&want, []byte(line))
		}
		if diff := cmp.Diff(want, b, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("the fast way gives other rows than the readable one: %s", diff)
		}
		if b.URLs.Len() != rows || b.Records.Len() != rows || len(b.URLs.Valid) != rows {
			t.Fatalf("%d rows, %d URLs, %d records", rows, b.URLs.Len(), b.Records.Len())
		}
		for i := range b.Carried {
			v := &b.Carried[i]
			if len(v.Valid) != rows || v.Text.Len()+len(v.Ints)+len(v.Floats) != rows {
				t.Fatalf("column %s has %d values of %d", v.Field.Name, len(v.Valid), rows)
			}
		}
		for _, fault := range b.Faults {
			if int(fault.Row) >= rows || fault.Pos > int64(len(text)) {
				t.Fatalf("fault %+v", fault)
			}
		}
	})
}

func BenchmarkCombined(b *testing.B) {
	_, c := mustCodec(b, Options{Format: "combined", Base: "https://www.example.com"})
	var batch pipeline.Batch
	line := []byte(`203.0.113.9 - - [10/Oct/2026:13:55:36 -0700] "GET /products/garden/chairs?id=8841&utm_source=mail HTTP/1.1" 200 2326 ` +
		`"https://www.example.org/search?q=chairs" "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/149.0.0.0 Safari/537.36"`)
	b.SetBytes(int64(len(line)))
	for n := 0; b.Loop(); n++ {
		if n%1024 == 0 {
			batch.Reset()
			c.Prepare(&batch)
		}
		c.Decode(&batch, line)
	}
}

// TestSpare: texts that are not looked at are null, and all else is as it is with them.
func TestSpare(t *testing.T) {
	for format, log := range map[string][]string{
		"alb": {`https 2026-11-21T12:00:00.186641Z app/shop/50dc6c495c0c9188 192.0.2.17:46532 10.0.1.20:8080 x 0.048 0.000 200 200 1244 34366 ` +
			`"GET https://shop.example.com:443/garden HTTP/2.0" "agent" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2`},
		W3C: {"#Fields: date time c-ip cs-method cs-uri-stem cs-host sc-status cs(User-Agent)", "2026-11-21 12:00:00 192.0.2.17 GET /garden e.com x agent"},
	} {
		f, err := New(Options{Format: format})
		if err != nil {
			t.Fatal(err)
		}
		unused := slices.Repeat([]bool{true}, len(f.Fields()))
		agent := slices.IndexFunc(f.Fields(), func(f pipeline.Field) bool { return f.Name == "user_agent" })
		unused[agent] = false
		whole := f.New()
		if f, err = New(Options{Format: format}); err != nil {
			t.Fatal(err)
		}
		f.(codec.Sparing).Spare(unused)
		var all, some pipeline.Batch
		for b, c := range map[*pipeline.Batch]codec.Codec{&all: whole, &some: f.New()} {
			c.Prepare(b)
			for _, line := range log {
				c.Decode(b, []byte(line))
			}
		}
		nulls := 0
		for i := range all.Carried {
			v := &all.Carried[i]
			peer := format == "alb" && v.Field.Name == "remote_addr"
			if v.Field.Type == pipeline.String && !peer && i != agent && v.Valid[0] {
				nulls++
				v.Reset()
				v.AppendNull()
			}
		}
		if diff := cmp.Diff(all, some, cmpopts.EquateEmpty()); diff != "" || nulls < 2 || len(all.Faults) == 0 || !all.Carried[agent].Valid[0] {
			t.Errorf("%s: %d texts are spared: %s", format, nulls, diff)
		}
	}
}
