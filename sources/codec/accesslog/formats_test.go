package accesslog

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/urlmill/urlmill/pipeline"
)

const (
	commonPart   = `[21/Nov/2026:12:00:00 +0000] "GET /a?b=1 HTTP/1.1" 200 12`
	combinedPart = commonPart + ` "https://ref.example/" "curl/8.14.1"`
)

// families are lines of formats, written after their documentation.
var families = map[string][]string{
	"nginx":          {"192.0.2.1 - ann " + combinedPart + ` "203.0.113.7, 10.0.0.9"`, "192.0.2.1 - ann " + combinedPart},
	"main":           {"192.0.2.1 - ann " + combinedPart + ` "-"`},
	"fastly":         {`<134>2026-11-21T12:00:00Z cache-fra19128 LogTest[62959]: 192.0.2.1 - ann ` + commonPart},
	"common":         {"192.0.2.1 - ann " + commonPart},
	"combined":       {"192.0.2.1 - ann " + combinedPart},
	"vhost_combined": {"shop.example:80 192.0.2.1 - ann " + combinedPart},
	"traefik":        {"192.0.2.1 - ann " + combinedPart + ` 17 "web@docker" "http://10.0.0.1:80" 5ms`},
	"envoy": {
		`[2026-11-21T12:00:00.250Z] "GET /a?b=1 HTTP/1.1" 200 - 7 12 154 150 "203.0.113.7,10.0.0.9" "curl/8.14.1" "0e8c8f95" "shop.example" "10.0.0.1:80"`,
	},
	"squid": {`1795262400.250    921 192.0.2.1 TCP_MISS/200 507 GET http://shop.example/a?b=1 ann HIER_DIRECT/10.0.0.1 text/html`},
	"haproxy": {
		`haproxy[14389]: 192.0.2.1:33317 [21/Nov/2026:12:00:00.250] http-in static/srv1 10/0/30/69/109 200 12 - - ---- 1/1/1/1/0 0/0 "GET /a?b=1 HTTP/1.1"`,
	},
	"alb": {formats["alb"].line}, "elb": {formats["elb"].line}, "s3": {formats["s3"].line},
	Caddy: {`{"ts":1795262400.25,"request":{"remote_ip":"192.0.2.1","proto":"HTTP/1.1","method":"GET","host":"shop.example","uri":"/a?b=1"},"size":12,"status":200}`},
	Cloudflare: {
		`{"ClientIP":"192.0.2.1","ClientRequestHost":"shop.example","ClientRequestMethod":"GET","ClientRequestScheme":"http","ClientRequestURI":"/a?b=1",` +
			`"EdgeStartTimestamp":1795262400250000000,"EdgeResponseStatus":200,"EdgeResponseBytes":12}`,
	},
}

// TestFamilies: the formats that are called after programs have the fields that these write.
func TestFamilies(t *testing.T) {
	logged := map[string]any{
		"url": "https://e.com/a?b=1", "remote_addr": "192.0.2.1", "remote_user": "ann", "time": "2026-11-21T12:00:00Z", "method": "GET",
		"protocol": "HTTP/1.1", "status": int64(200), "bytes": int64(12), "referer": "https://ref.example/", "user_agent": "curl/8.14.1",
	}
	but := func(changes map[string]any) map[string]any {
		row := map[string]any{}
		for _, m := range []map[string]any{logged, changes} {
			for k, v := range m {
				row[k] = v
				if v == nil {
					delete(row, k)
				}
			}
		}
		return row
	}
	for format, want := range map[string][]map[string]any{
		"nginx":  {but(map[string]any{"forwarded_for": "203.0.113.7, 10.0.0.9"}), logged},
		"main":   {logged},
		"fastly": {but(map[string]any{"referer": nil, "user_agent": nil})},
		"traefik": {but(map[string]any{
			"requests": int64(17), "router": "web@docker", "server_url": "http://10.0.0.1:80", "request_time_ms": int64(5),
		})},
		"envoy": {but(map[string]any{
			"url": "https://shop.example/a?b=1", "http_host": "shop.example", "time": "2026-11-21T12:00:00.25Z", "remote_addr": nil, "remote_user": nil,
			"referer": nil, "request_length": int64(7), "request_time_ms": int64(154), "upstream_time_ms": int64(150),
			"forwarded_for": "203.0.113.7,10.0.0.9", "request_id": "0e8c8f95", "upstream_host": "10.0.0.1:80",
		})},
		"squid": {{
			"url": "http://shop.example/a?b=1", "request_uri": "http://shop.example/a?b=1", "time": "2026-11-21T12:00:00.25Z", "request_time_ms": int64(921),
			"remote_addr": "192.0.2.1", "cache_result": "TCP_MISS", "status": int64(200), "bytes_sent": int64(507), "method": "GET", "remote_user": "ann",
			"hierarchy": "HIER_DIRECT", "peer": "10.0.0.1", "content_type": "text/html",
		}},
		Cloudflare: {{
			"url": "http://shop.example/a?b=1", "http_host": "shop.example", "remote_addr": "192.0.2.1", "time": "2026-11-21T12:00:00.25Z", "method": "GET", "status": int64(200), "bytes": int64(12),
		}},
	} {
		if diff := cmp.Diff(want, decode(t, Options{Format: format, Base: "https://e.com"}, families[format]...)); diff != "" {
			t.Errorf("%s: %s", format, diff)
		}
	}
	for _, stamp := range []string{`"2026-11-21T12:00:00Z"`, "1795262400", "1795262400000", "1795262400000000"} {
		row := decode(t, Options{Format: Cloudflare}, `{"ClientRequestURI":"/","ClientRequestHost":"e.com","EdgeStartTimestamp":`+stamp+"}")[0]
		if row["time"] != "2026-11-21T12:00:00Z" || row["url"] != "https://e.com/" {
			t.Errorf("%s: %v", stamp, row)
		}
	}
	for _, line := range []string{
		`1795262400.250  9 192.0.2.1 TCP_TUNNEL/200 507 CONNECT shop.example:443 - HIER_DIRECT/10.0.0.1 -`,
		`1795262400.250  0 192.0.2.1 NONE_NONE/400 0 NONE error:invalid-request - HIER_NONE/- -`,
	} {
		if row := decode(t, Options{Format: "squid"}, line)[0]; row["url"] != nil || !strings.HasPrefix(row["fault"].(string), "record-field-missing") {
			t.Errorf("%s: %v", line, row)
		}
	}
}

// led are lines in the format combined behind what may stand before it, with what comes of them beside the format's own fields:
// the origin, the client's address, and the columns of the lead. A fault stands alone.
var led = []struct{ text, want string }{
	{"192.0.2.1 - ann " + combinedPart, "https://e.com 192.0.2.1"},
	{"client.example.net - ann " + combinedPart, "https://e.com client.example.net"},
	{"192.0.2.1 - ann smith " + combinedPart, "https://e.com 192.0.2.1"},
	{"shop.example:8443 192.0.2.1 - ann " + combinedPart, "https://shop.example:8443 192.0.2.1 server_name=shop.example server_port=8443"},
	{"shop.example 2001:db8::1 - ann " + combinedPart, "https://shop.example 2001:db8::1 server_name=shop.example"},
	{"[::1]:80 192.0.2.1 - ann " + combinedPart, "http://[::1]:80 192.0.2.1 server_name=[::1] server_port=80"},
	{"203.0.113.7, 10.0.0.9, 10.0.0.8 - ann " + combinedPart, "https://e.com 203.0.113.7 forwarded_for=203.0.113.7, 10.0.0.9, 10.0.0.8"},
	{"203.0.113.7,10.0.0.9 - ann " + combinedPart, "https://e.com 203.0.113.7 forwarded_for=203.0.113.7,10.0.0.9"},
	{"unknown, 10.0.0.9 192.0.2.1 - ann " + combinedPart, "https://e.com 192.0.2.1 forwarded_for=unknown, 10.0.0.9"},
	{"- 192.0.2.1 - ann " + combinedPart, "https://e.com 192.0.2.1"},
	{"shop.example:443 203.0.113.7, 10.0.0.9 - ann " + combinedPart, "https://shop.example:443 203.0.113.7 forwarded_for=203.0.113.7, 10.0.0.9 server_name=shop.example server_port=443"},
	{"Nov 21 12:00:00 web1 nginx: 192.0.2.1 - ann " + combinedPart, "https://e.com 192.0.2.1"},
	{"<190>Nov  1 12:00:00 web1 nginx[7]: 192.0.2.1 - ann " + combinedPart, "https://e.com 192.0.2.1"},
	{"<190>Nov 21 12:00:00 nginx: shop.example:80 192.0.2.1 - ann " + combinedPart, "http://shop.example:80 192.0.2.1 server_name=shop.example server_port=80"},
	{"2026-11-21T12:00:00.25+00:00 web1 nginx: 192.0.2.1 - ann " + combinedPart, "https://e.com 192.0.2.1"},
	{"<190>1 2026-11-21T12:00:00Z web1 nginx 7 - - 192.0.2.1 - ann " + combinedPart, "https://e.com 192.0.2.1"},
	{`<190>1 2026-11-21T12:00:00Z web1 nginx 7 - [a b="c d"] 192.0.2.1 - ann ` + combinedPart, "https://e.com 192.0.2.1"},
	{"192.0.2.1 - ann " + combinedPart + ` "203.0.113.7, 10.0.0.9"`, "https://e.com 192.0.2.1 forwarded_for=203.0.113.7, 10.0.0.9"},
	{"192.0.2.1 - ann " + combinedPart + ` "-"`, "https://e.com 192.0.2.1"},

	{"192.0.2.1 - ann " + combinedPart + ` "a text"`, "record-malformed"},
	{"192.0.2.1 - ann " + combinedPart + ` 0.123`, "record-malformed"},
	{"10.0.0.5 192.0.2.1 - ann " + combinedPart, "record-malformed"}, // which of them is the client?
	{"7f3a 192.0.2.1 - ann " + combinedPart, "record-malformed"},
	{"shop.example - 192.0.2.1 - ann " + combinedPart, "record-malformed"},
	{"a b 192.0.2.1 - ann " + combinedPart, "record-malformed"},
	{"web1 1234 ann " + combinedPart, "record-malformed"},
	{"203.0.113.7, x, 10.0.0.9 - ann " + combinedPart, "record-malformed"},
	{"<190>Nov 21 12:00:00 web1 192.0.2.1 - ann " + combinedPart, "record-malformed"},
	{`"192.0.2.1" - ann ` + combinedPart, "record-malformed"},
}

// TestLed: what stands before and behind a line of combined is taken off where it is known, and is an error where it is not. It never
// shifts fields.
func TestLed(t *testing.T) {
	for _, test := range led {
		row := decode(t, Options{Format: "combined", Base: "https://e.com"}, test.text)[0]
		if fault, ok := row["fault"].(string); ok {
			if got := strings.Fields(fault)[0]; got != test.want || len(row) > 1 {
				t.Errorf("%s: %v, want %s", test.text, row, test.want)
			}
			continue
		}
		url, _ := strings.CutSuffix(row["url"].(string), "/a?b=1")
		got := url + " " + row["remote_addr"].(string)
		for _, name := range []string{"forwarded_for", "server_name", "server_port"} {
			if v, ok := row[name]; ok {
				got += " " + name + "=" + fmt.Sprint(v)
			}
		}
		if got != test.want || !strings.HasPrefix(row["remote_user"].(string), "ann") || row["status"] != int64(200) || row["user_agent"] != "curl/8.14.1" {
			t.Errorf("%s: %s of %v, want %s", test.text, got, row, test.want)
		}
	}
	line := "203.0.113.7, 10.0.0.9 - ann " + combinedPart
	if row := decode(t, Options{Format: "vhost_combined"}, "shop.example:80 "+line)[0]; row["server_name"] != "shop.example" || row["remote_addr"] != "203.0.113.7" {
		t.Errorf("%v", row)
	}
	for _, bad := range []string{line, "x y:80 192.0.2.1 - ann " + combinedPart, "shop.example:80 1.2.3.4 1.2.3.4 - ann " + combinedPart} {
		if row := decode(t, Options{Format: "vhost_combined"}, bad)[0]; len(row) != 1 {
			t.Errorf("%s: %v", bad, row)
		}
	}
	if row := decode(t, Options{Format: "combined", Base: "http://e.com"}, "shop.example 192.0.2.1 - ann "+combinedPart)[0]; row["url"] != "http://shop.example/a?b=1" {
		t.Errorf("the scheme is not that of base: %v", row)
	}
}

// TestLedAllocatesNothing: neither does a line that has to be looked at closer.
func TestLedAllocatesNothing(t *testing.T) {
	_, c := mustCodec(t, Options{Format: "combined", Base: "https://e.com"})
	var b pipeline.Batch
	var lines [][]byte
	for _, line := range led {
		lines = append(lines, []byte(line.text))
	}
	decode := func() {
		b.Reset()
		c.Prepare(&b)
		for _, line := range lines {
			c.Decode(&b, line)
		}
	}
	decode()
	if n := testing.AllocsPerRun(50, decode); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestCaptures: HAProxy's captured headers have columns, and do not end up in others.
func TestCaptures(t *testing.T) {
	line := func(captures string) string {
		return strings.Replace(families["haproxy"][0], ` "GET`, captures+` "GET`, 1)
	}
	for captures, want := range map[string][2]any{
		"":                                    {},
		" {shop.example|curl/8}":              {"shop.example|curl/8", nil},
		` {shop.example|a b #7B} {text/html}`: {"shop.example|a b #7B", "text/html"},
		" {|} {}":                             {"|", nil},
	} {
		row := decode(t, Options{Format: "haproxy", Base: "https://e.com"}, line(captures))[0]
		if row["queues"] != "0/0" || row["captured_request_headers"] != want[0] || row["captured_response_headers"] != want[1] || row["url"] != "https://e.com/a?b=1" {
			t.Errorf("%s: %v", captures, row)
		}
	}
	if row := decode(t, Options{Format: "haproxy", Base: "https://e.com"}, line(" x"))[0]; len(row) != 1 {
		t.Errorf("%v", row)
	}
}

// TestPorts: a port stands behind the last colon, since addresses of IPv6 have some; in lines that are plain and in others.
func TestPorts(t *testing.T) {
	haproxy := Options{Format: "haproxy", Base: "https://e.com"}
	own := Options{Apache: `%h:%{remote_port}x "%r" %s`, Base: "https://e.com"}
	for client, want := range map[string][2]any{
		"192.0.2.1:33317":     {"192.0.2.1", "33317"},
		"::1:5000":            {"::1", "5000"},
		"2001:db8::1:443":     {"2001:db8::1", "443"},
		"[2001:db8::1]:443":   {"[2001:db8::1]", "443"},
		"::ffff:10.0.0.1:443": {"::ffff:10.0.0.1", "443"},
		"unix:1":              {"unix", "1"},
	} {
		for _, path := range []string{"/a", "/\u00e4 b"} {
			line := strings.Replace(strings.Replace(families["haproxy"][0], "192.0.2.1:33317", client, 1), "/a?b=1", path, 1)
			for o, line := range map[*Options]string{&haproxy: line, &own: client + ` "GET ` + path + ` HTTP/1.1" 200`} {
				row := decode(t, *o, line)[0]
				if row["remote_addr"] != want[0] || fmt.Sprint(row["remote_port"]) != want[1] || fmt.Sprint(row["status"]) != "200" {
					t.Errorf("%s: %v", line, row)
				}
			}
		}
	}
	if row := decode(t, haproxy, strings.Replace(families["haproxy"][0], "192.0.2.1:33317", "192.0.2.1", 1))[0]; row["fault"] == nil {
		t.Errorf("without a port: %v", row)
	}
}

// TestAuto: the first line that fits a format decides, the log says which, and what is of another format behind it is an error.
func TestAuto(t *testing.T) {
	for name, lines := range families {
		want := name
		switch name {
		case "main":
			want = "nginx"
		case "fastly":
			want = "common"
		}
		var log bytes.Buffer
		f, _ := mustCodec(t, Options{Format: Auto, Base: "https://e.com"})
		f.(*autoFactory).SetLog(slog.New(slog.NewTextHandler(&log, nil)))
		c := f.New()
		var b pipeline.Batch
		c.Prepare(&b)
		foreign := `{"x":1}`
		if strings.HasPrefix(lines[0], "{") {
			foreign = families["squid"][0]
		}
		for _, line := range []string{"what is this", lines[0], foreign, lines[0]} {
			c.Decode(&b, []byte(line))
		}
		rows := decode(t, Options{Format: Auto, Base: "https://e.com"}, lines...)
		if rows[0]["url"] == nil || rows[0]["status"] != int64(200) && rows[0]["status"] != int64(504) {
			t.Errorf("%s: %v", name, rows[0])
		}
		if len(b.Faults) != 2 || b.Faults[0].Row != 0 || b.Faults[1].Row != 2 || b.Faults[0].Code != pipeline.FaultMalformed || b.URLs.Valid[2] {
			t.Errorf("%s: faults %+v", name, b.Faults)
		}
		f.New().Decode(&b, []byte(lines[0]))
		if text := log.String(); !strings.Contains(text, "recognised the format of an access log") || !strings.Contains(text, "format="+want+"\n") || strings.Count(text, "\n") != 1 {
			t.Errorf("%s: log %q", name, text)
		}
	}
}

// TestAutoW3C: a W3C log is recognised by its head, which a reading that begins in the middle has observed.
func TestAutoW3C(t *testing.T) {
	head := []string{"#Version: 1.0", "#Fields: date time cs-method cs-uri-stem sc-status cs-host"}
	rows := decode(t, Options{Format: Auto}, append(head, "2026-11-21 12:00:00 GET /a 200 e.com", "192.0.2.1 - - "+combinedPart)...)
	if len(rows) != 2 || rows[0]["url"] != "https://e.com/a" || rows[0]["http_host"] != "e.com" || rows[1]["url"] != nil {
		t.Errorf("%v", rows)
	}
	_, c := mustCodec(t, Options{Format: Auto})
	for _, line := range head {
		c.(*auto).Observe([]byte(line))
	}
	var b pipeline.Batch
	c.Prepare(&b)
	if !c.Decode(&b, []byte("2026-11-21 12:00:00 GET /a 200 e.com")) || string(b.URLs.At(0)) != "https://e.com/a" {
		t.Errorf("%s", b.URLs.Data)
	}
}
