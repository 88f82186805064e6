package codectest

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/accesslog"
)

func alb(h *Hit) string {
	return fmt.Sprintf(`https %s app/my-lb/50dc6c495c0c9188 %s:2817 10.0.0.1:80 0.086 0.048 0.037 %d %d 512 %d "%s %s %s" "%s" `+
		`TLS_AES_128_GCM_SHA256 %s arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/t/73e2d6bc24d8a067 "Root=1-%s" "%s" "session-reused" `+
		`0 %s "forward" "-" "-" "10.0.0.1:80" "%d" "-" "-"`,
		h.Time.Format("2006-01-02T15:04:05.000000Z"), h.IP, h.Status, h.Status, h.Bytes, h.Method, h.URL(), h.Protocol, h.Agent,
		h.Cipher, h.ID, h.Host, h.Time.Format("2006-01-02T15:04:05.000000Z"), h.Status)
}

func elb(h *Hit) string {
	return fmt.Sprintf(`%s my-lb %s:2817 10.0.0.1:80 0.000073 0.001048 0.000057 %d %d 0 %d "%s %s %s" "%s" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2`,
		h.Time.Format("2006-01-02T15:04:05.000000Z"), h.IP, h.Status, h.Status, h.Bytes, h.Method, h.URL(), h.Protocol, h.Agent)
}

func s3(h *Hit) string {
	return fmt.Sprintf(`79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be my-bucket [%s] %s - %s REST.GET.OBJECT photos/a.jpg `+
		`"%s" %d - %d %d 41 28 "%s" "%s" - 9vKBE6vMhrNiWHZmb2L0mXOcqPGzQOI5= SigV4 ECDHE-RSA-AES128-GCM-SHA256 AuthHeader %s TLSv1.2 - -`,
		h.clf(), h.IP, h.ID, h.request(), h.Status, h.Bytes, h.Bytes, dash(h.Referer), h.Agent, "my-bucket.s3.eu-central-1.amazonaws.com")
}

func haproxy(h *Hit) string {
	return fmt.Sprintf(`Nov 21 12:00:00 lb haproxy[14389]: %s:33317 [%s] http-in static/srv1 10/0/30/69/109 %d %d - - ---- 1/1/1/1/0 0/0 "%s"`,
		h.IP, h.Time.Format("02/Jan/2006:15:04:05.000"), h.Status, h.Bytes, h.request())
}

func envoy(h *Hit) string {
	return fmt.Sprintf(`[%s] "%s" %d - 0 %d %d %d "%s" "%s" "%s" "%s" "10.0.0.1:80"`, h.Time.Format("2006-01-02T15:04:05.000Z"), h.request(), h.Status,
		h.Bytes, h.Micros/1000, h.Micros/1000, h.IP, h.Agent, h.ID, h.Host)
}

func squid(h *Hit) string {
	return fmt.Sprintf(`%d.%03d %6d %s TCP_MISS/%03d %d %s %s %s HIER_DIRECT/10.0.0.1 text/html`, h.Time.Unix(), h.Time.Nanosecond()/1e6, h.Micros/1000,
		h.IP, h.Status, h.Bytes, h.Method, h.URL(), dash(h.User))
}

const nginxFormat = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $host $request_time $request_id`

func nginx(h *Hit) string {
	return fmt.Sprintf(`%s - %s [%s] "%s" %d %d "%s" "%s" %s %d.%03d %s`, h.IP, dash(h.User), h.clf(), h.request(), h.Status, h.Bytes,
		dash(h.Referer), h.Agent, h.Host, h.Micros/1e6, h.Micros/1e3%1000, h.ID)
}

// w3cCases are those of W3C Extended Log Files and what is like them.
func w3cCases() []Case {
	named := func(name string) func() (codec.Factory, error) {
		return func() (codec.Factory, error) { return accesslog.New(accesslog.Options{Format: name, Base: origin}) }
	}
	escaped := func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
	w3c := Case{
		Codec: "access_log", Name: "access_log/w3c", New: named(accesslog.W3C), Referer: "referer",
		Prologue: []string{
			"#Software: Microsoft Internet Information Services 10.0", "#Version: 1.0", "#Date: 2026-11-21 12:00:00",
			"#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) cs-host sc-status sc-substatus sc-win32-status time-taken",
		},
		Record: record(func(h *Hit) string {
			plus := strings.NewReplacer(" ", "+")
			return fmt.Sprintf("%s 10.0.0.1 %s %s %s 443 %s %s %s %s %s %d 0 0 %d", h.Time.Format("2006-01-02 15:04:05"), h.Method, h.Path, dash(h.Query),
				dash(h.User), h.IP, plus.Replace(h.Agent), dash(h.Referer), h.Host, h.Status, h.Micros/1000)
		}),
		Malformed: map[string]string{"": "record-malformed 0", "2026-11-21 12:00:00 x": "record-malformed 20"},
	}
	iis := w3c
	iis.Name, iis.New = "access_log/iis", named("iis")
	return []Case{w3c, iis, {
		Codec: "access_log", Name: "access_log/cloudfront", New: named("cloudfront"), Referer: "referer",
		Prologue: []string{
			"#Version: 1.0",
			"#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) " +
				"x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken x-forwarded-for ssl-protocol ssl-cipher " +
				"x-edge-response-result-type cs-protocol-version fle-status fle-encrypted-fields c-port time-to-first-byte x-edge-detailed-result-type " +
				"sc-content-type sc-content-len sc-range-start sc-range-end",
		},
		Record: record(func(h *Hit) string {
			return strings.Join([]string{
				h.Time.Format("2006-01-02"), h.Time.Format("15:04:05"), "FRA56-P4", fmt.Sprint(h.Bytes), h.IP, h.Method,
				"d111111abcdef8.cloudfront.net", h.Path, fmt.Sprint(h.Status), dash(h.Referer), escaped(h.Agent), dash(h.Query), "-", "Hit", h.ID,
				h.Host, "https", "512", "0.001", "-", h.Cipher, "TLS_AES_128_GCM_SHA256", "Hit", h.Protocol, "-", "-", "40112", "0.001", "Hit",
				"text/html", "78", "-", "-",
			}, "\t")
		}),
		Malformed: map[string]string{"2026-11-21\t12:00:00": "record-malformed 11"},
	}, {
		Codec: "access_log", Name: "access_log/cloudfront_realtime", Referer: "referer",
		New: func() (codec.Factory, error) {
			fields := strings.Fields("timestamp c-ip sc-status sc-bytes cs-method cs-protocol cs-host cs-uri-stem x-edge-request-id cs-user-agent cs-referer asn")
			return accesslog.New(accesslog.Options{Format: accesslog.RealTime, Fields: fields})
		},
		Record: record(func(h *Hit) string {
			return strings.Join([]string{
				fmt.Sprintf("%d.%03d", h.Time.Unix(), h.Time.Nanosecond()/1e6), h.IP, fmt.Sprint(h.Status), fmt.Sprint(h.Bytes), h.Method, "https",
				h.Host, h.Target(), h.ID, escaped(h.Agent), dash(escaped(h.Referer)), "3320",
			}, "\t")
		}),
		Malformed: map[string]string{"": "record-malformed 0", "1795262400.123\t192.0.2.1": "record-malformed 15"},
	}}
}

// jsonCases are those of access logs in JSON.
func jsonCases() []Case {
	return []Case{{
		Codec: "ndjson", Name: "ndjson/nginx", Referer: "referer",
		New: func() (codec.Factory, error) {
			return codec.NewNDJSON(codec.NDJSONOptions{URL: "/request_uri", Host: "/host", Scheme: "/scheme", Carry: []codec.CarriedField{
				{Name: "time", Pointer: "/time_iso8601", Type: pipeline.Timestamp},
				{Name: "remote_addr", Pointer: "/remote_addr"},
				{Name: "status", Pointer: "/status", Type: pipeline.Int64},
				{Name: "bytes", Pointer: "/body_bytes_sent", Type: pipeline.Int64},
				{Name: "referer", Pointer: "/http_referer"},
				{Name: "user_agent", Pointer: "/http_user_agent"},
			}})
		},
		Record: record(func(h *Hit) string {
			return fmt.Sprintf(`{"time_iso8601":%q,"remote_addr":%q,"scheme":"https","host":%q,"request_method":%q,"request_uri":%q,"status":%d,`+
				`"body_bytes_sent":%d,"http_referer":%q,"http_user_agent":%q}`, h.Time.Format("2006-01-02T15:04:05-07:00"), h.IP, h.Host, h.Method, h.Target(),
				h.Status, h.Bytes, h.Referer, h.Agent)
		}),
		Malformed: map[string]string{`{"host":"e.com","request_uri":`: "record-malformed 30"},
	}, {
		Codec: "access_log", Name: "access_log/caddy", Referer: "referer",
		New: func() (codec.Factory, error) { return accesslog.New(accesslog.Options{Format: accesslog.Caddy}) },
		Record: record(func(h *Hit) string {
			return fmt.Sprintf(`{"level":"info","ts":%d.%06d,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":%q,"proto":%q,`+
				`"method":%q,"host":%q,"uri":%q,"headers":{"User-Agent":[%q],"Referer":[%q]},"tls":{"resumed":false}},"user_id":"","duration":0.000929675,"size":%d,"status":%d}`,
				h.Time.Unix(), h.Time.Nanosecond()/1000, h.IP, h.Protocol, h.Method, h.Host, h.Target(), h.Agent, h.Referer, h.Bytes, h.Status)
		}),
		Malformed: map[string]string{"{": "record-malformed 1"},
	}, {
		Codec: "access_log", Name: "access_log/cloudflare", Referer: "referer",
		New: func() (codec.Factory, error) { return accesslog.New(accesslog.Options{Format: accesslog.Cloudflare}) },
		Record: record(func(h *Hit) string {
			return fmt.Sprintf(`{"CacheCacheStatus":"dynamic","ClientASN":3320,"ClientCountry":"de","ClientIP":%q,"ClientRequestBytes":512,"ClientRequestHost":%q,`+
				`"ClientRequestMethod":%q,"ClientRequestProtocol":%q,"ClientRequestReferer":%q,"ClientRequestScheme":"https","ClientRequestURI":%q,`+
				`"ClientRequestUserAgent":%q,"EdgeColoCode":"FRA","EdgeResponseBytes":%d,"EdgeResponseStatus":%d,"EdgeStartTimestamp":%d,"RayID":%q}`,
				h.IP, h.Host, h.Method, h.Protocol, h.Referer, h.Target(), h.Agent, h.Bytes, h.Status, h.Time.UnixNano(), h.ID)
		}),
		Malformed: map[string]string{"{": "record-malformed 1"},
	}}
}
