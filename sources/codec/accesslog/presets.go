package accesslog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/pipeline"
)

// The formats that ship with urlmill, in Apache's syntax where it has one for them.
const (
	common   = `%h %l %u %t "%r" %>s %b`
	combined = common + ` "%{Referer}i" "%{User-Agent}i"`
	vhost    = `%v:%p `
	// forwarded is what follows in the format main of the nginx.conf that nginx comes with.
	forwarded = ` "%{forwarded_for}x"`
)

// presets make the formats by their names. W3C is none of them: its lines say themselves what they have.
var presets = map[string]func() pattern{
	"common":         func() pattern { return clients(1, common) },
	"combined":       func() pattern { return clients(1, combined, combined+forwarded).listed(1) },
	"vhost_combined": func() pattern { return clients(3, vhost+combined, vhost+combined+forwarded).listed(1) },
	"nginx":          nginx,
	"main":           nginx,
	"fastly":         func() pattern { return clients(1, common) },
	"traefik":        traefik,
	"envoy":          envoy,
	"squid":          squid,
	"alb":            alb,
	"elb":            elb,
	"s3":             s3,
	"haproxy":        haproxy,
	"nlb":            nlb,
	"api_gateway_clf": func() pattern {
		return clients(1, common+` %{request_id}x %{extended_request_id}x`, common+` %{request_id}x`)
	},
}

// W3C is the name of the format whose lines say what they have.
const W3C = "w3c"

// synonyms are other names of formats, by the programs that write them.
var synonyms = map[string]string{"iis": W3C, "cloudfront": W3C}

// Formats returns the names of all formats. The caller owns the slice.
func Formats() []string {
	names := slices.AppendSeq([]string{Auto, W3C, RealTime}, maps.Keys(presets))
	names = slices.AppendSeq(names, maps.Keys(jsonFormats))
	names = slices.AppendSeq(names, maps.Keys(synonyms))
	slices.Sort(names)
	return names
}

func mustApache(format string) pattern {
	p, err := parseApache(format)
	if err != nil {
		panic(fmt.Sprintf("accesslog: %s: %v", format, err)) // TestPresets keeps this from happening
	}
	return p
}

// clients makes a pattern of lines in one of the formats, whose field with number client, from 1, is the address of the client, with
// the names of its user behind.
func clients(client int, formats ...string) pattern {
	p := mustApache(formats[0])
	for _, format := range formats[1:] {
		p.others = append(p.others, mustApache(format))
	}
	p.client = client
	return p
}

// listed returns p, in whose other layout i, from 1, the last field has to be a list of addresses: of any other field, it is not known
// what it is.
func (p pattern) listed(i int) pattern {
	p.others[i-1].list = len(p.others[i-1].tokens)
	return p
}

// refine replaces the fields of p that have these names.
func (p *pattern) refine(fields map[string]field) {
	for i := range p.tokens {
		if f, ok := fields[p.tokens[i].field.name]; ok {
			p.tokens[i].field = f
		}
	}
}

// nginx is the format main, or the one that nginx has built in, which is Apache's combined.
//
// Source: https://nginx.org/en/docs/http/ngx_http_log_module.html#log_format, https://github.com/nginx/nginx/blob/master/conf/nginx.conf
func nginx() pattern { return clients(1, combined+forwarded, combined) }

// Source: https://doc.traefik.io/traefik/observability/access-logs/#common-log-format
func traefik() pattern {
	p := clients(1, combined+` %{requests}x "%{router}x" "%{server_url}x" %{request_time_ms}xms`)
	p.refine(map[string]field{"requests": count("requests"), "request_time_ms": count("request_time_ms")})
	return p
}

// Source: https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage#default-format-string
func envoy() pattern {
	p := mustApache(`[%{start}x] "%r" %s %{response_flags}x %I %B %{request_time_ms}x %{upstream_time_ms}x ` +
		`"%{forwarded_for}x" "%{User-Agent}i" "%{request_id}x" "%{Host}i" "%{upstream_host}x"`)
	p.refine(map[string]field{
		"start": timestamp(timeISO), "request_time_ms": count("request_time_ms"), "upstream_time_ms": count("upstream_time_ms"),
	})
	p.strict, p.header = true, true
	return p
}

// squid is the native format. Its third field and those before are padded with spaces.
//
// Source: https://www.squid-cache.org/Doc/config/logformat
func squid() pattern {
	p := mustApache(`%{sec}t %{request_time_ms}x %a %{cache_result}x/%s %O %m %{request_uri}x %u %{hierarchy}x/%{peer}x %{content_type}x`)
	p.tokens[1].padded = true
	p.refine(map[string]field{
		"request_time_ms": count("request_time_ms"),
		"request_uri":     {name: "request_uri", role: target, escape: asIs},
	})
	p.strict, p.header, p.padded = true, true, true
	return p
}

// sequence makes a pattern of fields with spaces between. A name in quotation marks stands in them.
func sequence(names string, fields map[string]field) pattern {
	var p pattern
	before := ""
	for name := range strings.FieldsSeq(names) {
		bare := strings.Trim(name, `"[]`)
		mark := name[:strings.Index(name, bare)]
		f, ok := fields[bare]
		if !ok {
			f = text(bare)
		}
		if err := p.add(before+mark, f, bare); err != nil {
			panic("accesslog: " + err.Error())
		}
		before = name[len(mark)+len(bare):] + " "
	}
	p, err := p.finish(strings.TrimSuffix(before, " "))
	if err != nil {
		panic("accesslog: " + err.Error())
	}
	p.open = true // the vendors add fields at the end
	if last := &p.tokens[len(p.tokens)-1]; last.next == "" {
		last.endsBefore(" ")
	}
	return p
}

func number(name string) field { return column(name, pipeline.Float64) }

// balancerFields are those of Amazon's load balancers.
var balancerFields = map[string]field{
	"time":                     timestamp(timeISO),
	"client":                   {role: peer},
	"request":                  {role: request},
	"elb_status_code":          count("status"),
	"target_status_code":       count("target_status"),
	"received_bytes":           count("request_length"),
	"sent_bytes":               count("bytes"),
	"request_processing_time":  number("request_processing_time"),
	"target_processing_time":   number("target_processing_time"),
	"response_processing_time": number("response_processing_time"),
	"request_creation_time":    {name: "request_creation_time", typ: pipeline.Timestamp, role: timeISO},
}

// Source: https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-access-logs.html
func alb() pattern {
	return sequence(`type time elb client target request_processing_time target_processing_time response_processing_time `+
		`elb_status_code target_status_code received_bytes sent_bytes "request" "user_agent" ssl_cipher ssl_protocol `+
		`target_group_arn "trace_id" "domain_name" "chosen_cert_arn" matched_rule_priority request_creation_time `+
		`"actions_executed" "redirect_url" "error_reason" "target_list" "target_status_list" "classification" "classification_reason" `+
		`conn_trace_id`, balancerFields)
}

// nlb is the log of TLS listeners, the only ones that have one. A connection has no path: its URL is tls: with the name that the client
// asked for, and the port of the listener.
//
// Source: https://docs.aws.amazon.com/elasticloadbalancing/latest/network/load-balancer-access-logs.html
func nlb() pattern {
	p := sequence(`version time elb listener client destination connection_time_ms tls_handshake_time_ms received_bytes `+
		`sent_bytes incoming_tls_alert chosen_cert_arn chosen_cert_serial ssl_cipher ssl_protocol tls_named_group domain_name `+
		`alpn_fe_protocol alpn_be_protocol alpn_client_preference_list tls_connection_creation_time`, map[string]field{
		"time":                         timestamp(timeISO),
		"client":                       {role: peer},
		"destination":                  {name: "destination", role: port},
		"connection_time_ms":           count("connection_time_ms"),
		"tls_handshake_time_ms":        count("tls_handshake_time_ms"),
		"received_bytes":               count("request_length"),
		"sent_bytes":                   count("bytes"),
		"domain_name":                  {name: "http_host", role: host},
		"tls_connection_creation_time": {name: "tls_connection_creation_time", typ: pipeline.Timestamp, role: timeISO},
	})
	p.tokens[0].before = "tls "
	p.origin, p.lacking = "tls", true
	return p
}

// Source: https://docs.aws.amazon.com/elasticloadbalancing/latest/classic/access-log-collection.html
func elb() pattern {
	return sequence(`time elb client target request_processing_time target_processing_time response_processing_time `+
		`elb_status_code target_status_code received_bytes sent_bytes "request" "user_agent" ssl_cipher ssl_protocol`, balancerFields)
}

// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/LogFormat.html
func s3() pattern {
	p := sequence(`bucket_owner bucket [time] remote_addr requester request_id operation object_key "request" status error_code `+
		`bytes object_size total_time turn_around_time "referer" "user_agent" version_id host_id signature_version `+
		`ssl_cipher authentication_type http_host ssl_protocol access_point_arn acl_required`, map[string]field{
		"time":             timestamp(timeCLF),
		"request":          {role: request},
		"status":           count("status"),
		"bytes":            count("bytes"),
		"object_size":      count("object_size"),
		"total_time":       count("total_time_ms"),
		"turn_around_time": count("turn_around_time_ms"),
		"ssl_cipher":       {name: "ssl_cipher", role: secure},
		"http_host":        {name: "http_host", role: host},
	})
	p.quotes = 6 // it writes those of a user agent as they are, which would shift what follows
	return p
}

// haproxy is the format of option httplog. Captured headers stand in braces with | between: those of the request, then those of
// the response. Where one of them is not captured, HAProxy leaves it out without a trace, so that a single one is taken for the
// request's. It writes braces within as #7B and #7D.
//
// Source: https://docs.haproxy.org/3.0/configuration.html#8.2.3, section 8.8 of the same
func haproxy() pattern {
	format := func(captures string) pattern {
		p := mustApache(`%a:%{remote_port}x [%{%d/%b/%Y:%H:%M:%S %z}t] %{frontend}x %{backend}x/%{server}x ` +
			`%{timers}x %s %O %{captured_request_cookie}x %{captured_response_cookie}x %{termination_state}x ` +
			`%{connections}x %{queues}x ` + captures + `"%r"`)
		p.refine(map[string]field{"remote_port": count("remote_port")})
		return p
	}
	p := format("")
	p.others = []pattern{
		format(`{%{captured_request_headers}x} `),
		format(`{%{captured_request_headers}x} {%{captured_response_headers}x} `),
	}
	p.syslog, p.strict = true, true
	return p
}
