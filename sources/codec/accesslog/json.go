package accesslog

import (
	"strings"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// The names of the formats whose lines are JSON.
const (
	Caddy              = "caddy"
	Cloudflare         = "cloudflare"
	CloudFrontJSON     = "cloudfront_json"
	WAF                = "aws_waf"
	APIGateway         = "api_gateway"
	FastlyJSON         = "fastly_json"
	GoogleLoadBalancer = "google_lb"
	AzureFrontDoor     = "azure_front_door"
	AzureGateway       = "azure_application_gateway"
	EnvoyJSON          = "envoy_json"
	TraefikJSON        = "traefik_json"
)

// member is a field of a format whose lines are JSON: the pointers to it, with spaces between, of which the first that leads to a value
// counts. Empty text and - are none, as in other formats.
type member struct {
	pointers string
	field
}

// Fields that many formats have.
var (
	aTarget  = field{role: target}
	aPath    = field{role: path}
	aQuery   = field{role: query}
	aScheme  = field{role: scheme}
	aHost    = field{name: "http_host", role: host}
	aMethod  = field{name: "method", role: method}
	aPeer    = field{role: peer}
	aTime    = timestamp(timeAny)
	aRequest = number("request_time") // in seconds
)

// jsonFormats are the formats whose lines are JSON.
var jsonFormats = map[string][]member{
	// Source: https://caddyserver.com/docs/logging
	Caddy: {
		{"/request/uri", aTarget},
		{"/request/host", aHost},
		{"/ts", aTime},
		{"/request/remote_ip", text("remote_addr")},
		{"/request/remote_port", count("remote_port")},
		{"/request/remote_addr", aPeer}, // before version 2.5
		{"/request/headers/X-Forwarded-For/0", text("forwarded_for")},
		{"/request/method", aMethod},
		{"/request/proto", text("protocol")},
		{"/status", count("status")},
		{"/size", count("bytes")},
		{"/duration", aRequest},
		{"/request/headers/Referer/0", text("referer")},
		{"/request/headers/User-Agent/0", text("user_agent")},
		{"/user_id", text("remote_user")},
	},
	// The data set http_requests of Logpush. Which fields there are is up to the job.
	//
	// Source: https://developers.cloudflare.com/logs/logpush/logpush-job/datasets/zone/http_requests/,
	// https://developers.cloudflare.com/logs/logpush/logpush-job/log-output-options/
	Cloudflare: {
		{"/ClientRequestURI /ClientRequestPath", aTarget},
		{"/ClientRequestHost", aHost},
		{"/ClientRequestScheme", aScheme},
		{"/EdgeStartTimestamp", aTime},
		{"/ClientIP", text("remote_addr")},
		{"/ClientSrcPort", count("remote_port")},
		{"/ClientRequestMethod", aMethod},
		{"/ClientRequestProtocol", text("protocol")},
		{"/EdgeResponseStatus", count("status")},
		{"/EdgeResponseBytes", count("bytes")},
		{"/ClientRequestBytes", count("request_length")},
		{"/ClientRequestReferer", text("referer")},
		{"/ClientRequestUserAgent", text("user_agent")},
		{"/RayID", text("request_id")},
		{"/ClientSSLProtocol", text("ssl_protocol")},
		{"/ClientSSLCipher", text("ssl_cipher")},
		{"/ClientCountry", text("country")},
		{"/ClientASN", count("asn")},
		{"/CacheCacheStatus", text("cache_status")},
		{"/EdgeColoCode", text("edge_location")},
		{"/OriginResponseStatus", count("origin_status")},
	},
	CloudFrontJSON: cloudFrontMembers(),
	// The host is in an array of headers, whose names are as the client wrote them; newer records have it beside as well.
	//
	// Source: https://docs.aws.amazon.com/waf/latest/developerguide/logging-fields.html
	WAF: {
		{"/httpRequest/uri", aPath},
		{"/httpRequest/args", aQuery},
		{"/httpRequest/headers/name:host /httpRequest/host", aHost},
		{"/httpRequest/scheme", aScheme},
		{"/timestamp", aTime},
		{"/httpRequest/clientIp", text("remote_addr")},
		{"/httpRequest/headers/name:x-forwarded-for", text("forwarded_for")},
		{"/httpRequest/httpMethod", aMethod},
		{"/httpRequest/httpVersion", text("protocol")},
		{"/responseCodeSent", count("status")}, // of a block alone
		{"/httpRequest/headers/name:referer", text("referer")},
		{"/httpRequest/headers/name:user-agent", text("user_agent")},
		{"/httpRequest/requestId", text("request_id")},
		{"/httpRequest/country", text("country")},
		{"/action", text("action")},
		{"/terminatingRuleId", text("rule")},
		{"/webaclId", text("web_acl")},
		{"/httpSourceName", text("source_name")},
		{"/httpSourceId", text("source_id")},
	},
	// Its format is the user's; these are the names of the templates that its documentation and console have. There is no variable for
	// the query.
	//
	// Source: https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html
	APIGateway: {
		{"/path /resourcePath", aTarget},
		{"/domainName /host", aHost},
		{"/requestTimeEpoch /requestTime", aTime},
		{"/ip /sourceIp", text("remote_addr")},
		{"/user", text("remote_user")},
		{"/caller", text("caller")},
		{"/httpMethod", aMethod},
		{"/protocol", text("protocol")},
		{"/status", count("status")},
		{"/responseLength", count("bytes")},
		{"/userAgent", text("user_agent")},
		{"/requestId", text("request_id")},
		{"/responseLatency", count("request_time_ms")},
		{"/stage", text("stage")},
		{"/routeKey", text("route")},
	},
	// The format that Fastly's web interface begins with for logs in JSON.
	//
	// Source: https://docs.fastly.com/en/guides/custom-log-formats
	FastlyJSON: {
		{"/url", aTarget},
		{"/host", aHost},
		{"/timestamp", aTime},
		{"/client_ip", text("remote_addr")},
		{"/request_method", aMethod},
		{"/request_protocol", text("protocol")},
		{"/response_status", count("status")},
		{"/response_body_size", count("bytes")},
		{"/request_referer", text("referer")},
		{"/request_user_agent", text("user_agent")},
		{"/geo_country", text("country")},
		{"/geo_city", text("city")},
		{"/response_state", text("cache_status")},
		{"/fastly_server", text("edge_location")},
	},
	// Records of Cloud Logging.
	//
	// Source: https://cloud.google.com/load-balancing/docs/https/https-logging-monitoring,
	// https://cloud.google.com/logging/docs/reference/v2/rest/v2/LogEntry#HttpRequest
	GoogleLoadBalancer: {
		{"/httpRequest/requestUrl", aTarget},
		{"/timestamp", aTime},
		{"/httpRequest/remoteIp", text("remote_addr")},
		{"/httpRequest/requestMethod", aMethod},
		{"/httpRequest/protocol", text("protocol")},
		{"/httpRequest/status", count("status")},
		{"/httpRequest/responseSize", count("bytes")},
		{"/httpRequest/requestSize", count("request_length")},
		{"/httpRequest/referer", text("referer")},
		{"/httpRequest/userAgent", text("user_agent")},
		{"/httpRequest/latency", field{name: "request_time", typ: pipeline.Float64, role: seconds}},
		{"/httpRequest/serverIp", text("upstream_host")},
		{"/insertId", text("request_id")},
		{"/trace", text("trace")},
		{"/jsonPayload/statusDetails", text("status_details")},
		{"/resource/labels/url_map_name", text("url_map")},
		{"/resource/labels/forwarding_rule_name", text("forwarding_rule")},
		{"/resource/labels/backend_service_name", text("backend")},
	},
	// Source: https://learn.microsoft.com/azure/frontdoor/monitor-front-door#access-log
	AzureFrontDoor: {
		{"/properties/requestUri", aTarget},
		{"/properties/hostName", aHost},
		{"/time", aTime},
		{"/properties/clientIp", text("remote_addr")},
		{"/properties/clientPort", count("remote_port")},
		{"/properties/httpMethod", aMethod},
		{"/properties/httpVersion", text("protocol")},
		{"/properties/httpStatusCode", count("status")},
		{"/properties/responseBytes", count("bytes")},
		{"/properties/requestBytes", count("request_length")},
		{"/properties/referer /properties/referrer", text("referer")},
		{"/properties/userAgent", text("user_agent")},
		{"/properties/timeTaken", aRequest},
		{"/properties/trackingReference", text("request_id")},
		{"/properties/securityProtocol", text("ssl_protocol")},
		{"/properties/securityCipher", text("ssl_cipher")},
		{"/properties/clientCountry", text("country")},
		{"/properties/cacheStatus", text("cache_status")},
		{"/properties/pop", text("edge_location")},
		{"/properties/socketIp", text("socket_addr")},
		{"/properties/routingRuleName", text("route")},
		{"/properties/originUrl", text("origin_url")},
		{"/properties/errorInfo /properties/ErrorInfo", text("error_reason")},
	},
	// What was asked for, before rules rewrote it, is in members of its own where there are such rules.
	//
	// Source: https://learn.microsoft.com/azure/application-gateway/monitor-application-gateway-reference#access-log-category
	AzureGateway: {
		{"/properties/originalRequestUriWithArgs", aTarget},
		{"/properties/requestUri", aPath},
		{"/properties/requestQuery", aQuery},
		{"/properties/originalHost /properties/host", aHost},
		{"/properties/sslEnabled", field{role: secure}},
		{"/timeStamp /time", aTime},
		{"/properties/clientIP", text("remote_addr")},
		{"/properties/clientPort", count("remote_port")},
		{"/properties/httpMethod", aMethod},
		{"/properties/httpVersion", text("protocol")},
		{"/properties/httpStatus", count("status")},
		{"/properties/sentBytes", count("bytes")},
		{"/properties/receivedBytes", count("request_length")},
		{"/properties/referer", text("referer")},
		{"/properties/userAgent", text("user_agent")},
		{"/properties/timeTaken", aRequest},
		{"/properties/transactionId", text("request_id")},
		{"/properties/sslProtocol", text("ssl_protocol")},
		{"/properties/sslCipher", text("ssl_cipher")},
		{"/properties/serverRouted", text("upstream_host")},
		{"/properties/serverStatus", count("origin_status")},
		{"/properties/error_info", text("error_reason")},
	},
	// Its format is the user's; these are the names of Istio and of Envoy Gateway.
	//
	// Source: https://istio.io/latest/docs/tasks/observability/logs/access-log/#default-access-log-format,
	// https://gateway.envoyproxy.io/docs/tasks/observability/proxy-accesslog/
	EnvoyJSON: {
		{"/x-envoy-origin-path /path /:path", aTarget},
		{"/authority /:authority", aHost},
		{"/start_time", aTime},
		{"/downstream_remote_address", aPeer},
		{"/x_forwarded_for /x-forwarded-for", text("forwarded_for")},
		{"/method /:method", aMethod},
		{"/protocol", text("protocol")},
		{"/response_code", count("status")},
		{"/bytes_sent", count("bytes")},
		{"/bytes_received", count("request_length")},
		{"/referer", text("referer")},
		{"/user_agent /user-agent", text("user_agent")},
		{"/duration", count("request_time_ms")},
		{"/request_id /x-request-id", text("request_id")},
		{"/upstream_host", text("upstream_host")},
		{"/upstream_cluster", text("upstream_cluster")},
		{"/response_flags", text("response_flags")},
		{"/route_name", text("route")},
	},
	// Headers are there where accessLog.fields.headers keeps them.
	//
	// Source: https://doc.traefik.io/traefik/observability/access-logs/#json-format
	TraefikJSON: {
		{"/RequestPath", aTarget},
		{"/RequestAddr /RequestHost", aHost},
		{"/RequestScheme", aScheme},
		{"/StartUTC /time", aTime},
		{"/ClientHost", text("remote_addr")},
		{"/ClientPort", count("remote_port")},
		{"/ClientUsername", text("remote_user")},
		{"/request_X-Forwarded-For", text("forwarded_for")},
		{"/RequestMethod", aMethod},
		{"/RequestProtocol", text("protocol")},
		{"/DownstreamStatus", count("status")},
		{"/DownstreamContentSize", count("bytes")},
		{"/RequestContentSize", count("request_length")},
		{"/request_Referer", text("referer")},
		{"/request_User-Agent", text("user_agent")},
		{"/Duration", count("request_time_ns")},
		{"/RequestCount", count("requests")},
		{"/RouterName", text("router")},
		{"/ServiceURL/Host /ServiceURL", text("server_url")}, // an object before version 3
		{"/OriginStatus", count("origin_status")},
		{"/TLSVersion", text("ssl_protocol")},
		{"/TLSCipher", text("ssl_cipher")},
	},
}

// cloudFrontMembers are the fields of standard logs, version 2, in JSON: those of the others by the same names, all of them text.
//
// Source: https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logs-reference.html
func cloudFrontMembers() []member {
	var members []member
	for name := range strings.FieldsSeq(`timestamp(ms) timestamp date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status
		cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken
		x-forwarded-for ssl-protocol ssl-cipher x-edge-response-result-type cs-protocol-version c-port time-to-first-byte
		x-edge-detailed-result-type sc-content-type sc-content-len sc-range-start sc-range-end asn c-country cache-behavior-path-pattern
		origin-fbl origin-lbl`) {
		members = append(members, member{"/" + name, cloudFrontField(strings.ToLower(name))})
	}
	return members
}

// CloudFrontColumns returns the columns that CloudFront's standard logs have in Parquet, all of them text, and the codec of a record
// that has their values, in this order, with tabs between. The caller owns the slice.
//
// Source: https://docs.aws.amazon.com/athena/latest/ug/create-cloudfront-table-manual-parquet.html
func CloudFrontColumns() ([]string, codec.Factory) {
	var names []string
	members := cloudFrontMembers()
	for _, m := range members {
		names = append(names, columnName(m.pointers))
	}
	p := jsonPattern(members)
	p.places, p.tabs = nil, true
	return names, newFactory(Options{}, p, nil)
}

// jsonPattern makes the pattern of a format whose lines are JSON.
func jsonPattern(members []member) pattern {
	var p pattern
	var pointers []string
	for _, m := range members {
		t := token{field: m.field}
		if t.field.escape == byBackslash {
			t.field.escape = asIs // reading JSON has taken its escapes away
		}
		p.encoded = p.encoded || t.field.escape != asIs
		for pointer := range strings.FieldsSeq(m.pointers) {
			t.places = append(t.places, len(pointers))
			pointers = append(pointers, pointer)
		}
		p.tokens = append(p.tokens, t)
	}
	p.places = codec.NewPlaces(pointers)
	return p
}

// envelope is the member that has the records of Azure's diagnostic settings, where they are no lines.
const envelope = "records"

// Envelope implements [codec.Enveloped].
func (f *factory) Envelope() string { return f.envelope }

// Envelope implements [codec.Enveloped].
func (f *autoFactory) Envelope() string { return envelope }

// splitJSON finds the fields of a record. What has escapes is a text of its own behind the record, in scratch memory that becomes the
// line then.
func (c *lines) splitJSON(record []byte) (at int, ok bool) {
	if at, ok = c.reader.Scan(record); !ok {
		return at, false
	}
	c.ascii = !c.slow && c.reader.Plain()
	c.plain = c.ascii && !c.encoded
	c.spans = c.spans[:len(c.layout.tokens)]
	c.unescapedLine = c.unescapedLine[:0]
	for i := range c.spans {
		t := &c.layout.tokens[i]
		switch p := c.reader.At(t.places[0]); { // most take no closer look
		case p.Scalar() && !p.Escaped && p.End-p.Start > 1 && (p.Text() || !t.field.role.ofURL()):
			c.spans[i] = span{p.Start, p.End}
		case !p.There() && len(t.places) == 1:
			c.spans[i] = span{}
		default:
			c.spans[i] = c.find(record, i)
		}
	}
	if len(c.unescapedLine) > 0 {
		c.line = c.unescapedLine
	}
	return len(record), true
}

// find returns where field i is in record, or behind it.
func (c *lines) find(record []byte, i int) span {
	t := &c.layout.tokens[i]
	wrong := -1
	for _, place := range t.places {
		p := c.reader.At(place)
		switch {
		case !p.There() || p.Start == p.End || p.End == p.Start+1 && record[p.Start] == '-':
		case !p.Scalar() || !p.Text() && t.field.role.ofURL():
			wrong = p.Start
		case p.Escaped:
			if len(c.unescapedLine) == 0 {
				c.unescapedLine = append(c.unescapedLine, record...)
			}
			start := len(c.unescapedLine)
			c.unescapedLine = codec.AppendUnescaped(c.unescapedLine, record[p.Start:p.End])
			return span{start, len(c.unescapedLine)}
		default:
			return span{p.Start, p.End}
		}
	}
	switch {
	case wrong < 0:
	case t.field.role.ofURL():
		c.fault.Note(pipeline.FaultFieldType, int64(wrong))
	case uint(c.binding.columns[i]) < uint(len(c.columns)): // -1: it has none
		c.fault.NoteField(c.binding.columns[i], int64(wrong))
	}
	return span{}
}

// position returns where field i is in the record as it was read.
func (c *lines) position(i int) int64 {
	if c.places == nil {
		return int64(c.spans[i].start)
	}
	for _, place := range c.layout.tokens[i].places {
		if p := c.reader.At(place); p.There() {
			return int64(p.Start)
		}
	}
	return -1
}
