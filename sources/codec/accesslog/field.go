package accesslog

import (
	"strings"

	"github.com/urlmill/urlmill/pipeline"
)

// role says what a field is to the URL or to another field.
type role uint8

const (
	plain      role = iota
	request         // method, target and protocol, as in GET /path HTTP/1.1
	method          // of the request
	target          // path and query, or a whole URL
	path            // without the query
	query           // with or without the question mark
	host            // perhaps with a port
	edge            // the host of the server, where the log does not have the one that was asked
	port            // of the server
	scheme          // http or https
	secure          // on, 1 or a protocol of TLS where the request was encrypted, - or nothing else
	timeCLF         // 10/Oct/2000:13:55:36 -0700, a fraction and the zone may be missing
	timeISO         // 2000-10-10T13:55:36.5Z, in any zone
	timeEpoch       // seconds since 1970, with or without a fraction
	timeMillis      // milliseconds since 1970
	dateOnly        // 2000-10-10
	clock           // 13:55:36, of the field with dateOnly
	timeAny         // as any of those, or in CLF
	seconds         // a number with the letter s behind it
	peer            // address and port of the client
	ignored         // it has no column
)

// ofURL reports whether a field with the role is part of the URL.
func (r role) ofURL() bool { return request <= r && r <= secure && r != method && r != port }

// escape is how a field writes what it cannot as it is.
type escape uint8

const (
	byBackslash escape = iota // \xHH, \" and the like
	byPercent                 // %HH
	byAgent                   // that, perhaps twice: CloudFront has written %2520 for a space
	byPlus                    // + for a space
	asIs                      // not at all: + in a URL that IIS logs is part of it
)

// field is a field of a format.
type field struct {
	name   string // of its column; of several fields with the same name, the first that has a value gives it
	typ    pipeline.FieldType
	role   role
	escape escape
}

// column makes a field that is nothing but a column.
func column(name string, typ pipeline.FieldType) field { return field{name: name, typ: typ} }

func text(name string) field  { return column(name, pipeline.String) }
func count(name string) field { return column(name, pipeline.Int64) }

func timestamp(r role) field { return field{name: "time", typ: pipeline.Timestamp, role: r} }

// nginxFields are the variables of nginx that are more than a text of their own name.
//
// Source: https://nginx.org/en/docs/http/ngx_http_core_module.html#variables, ngx_http_log_module.html#log_format
var nginxFields = map[string]field{
	"request":         {role: request},
	"request_method":  {name: "method", role: method},
	"request_uri":     {name: "request_uri", role: target},
	"uri":             {name: "uri", role: path},
	"document_uri":    {name: "uri", role: path},
	"args":            {name: "args", role: query},
	"query_string":    {name: "args", role: query},
	"host":            {name: "http_host", role: host},
	"http_host":       {name: "http_host", role: host},
	"server_name":     {name: "server_name", role: host},
	"server_port":     {name: "server_port", typ: pipeline.Int64, role: port},
	"scheme":          {name: "scheme_logged", role: scheme},
	"https":           {name: "https", role: secure},
	"time_local":      timestamp(timeCLF),
	"time_iso8601":    timestamp(timeISO),
	"msec":            timestamp(timeEpoch),
	"status":          count("status"),
	"body_bytes_sent": count("bytes"),
	"bytes_sent":      count("bytes_sent"),
	"request_length":  count("request_length"),
	"connection":      count("connection"),
	"request_time":    column("request_time", pipeline.Float64),
	"http_referer":    text("referer"),
	"http_user_agent": text("user_agent"),
	"http_cookie":     text("cookie"),
	"server_protocol": text("protocol"),
}

// apacheFields are the directives of Apache httpd's LogFormat, without modifiers.
//
// Source: https://httpd.apache.org/docs/2.4/mod/mod_log_config.html#formats
var apacheFields = map[string]field{
	"a": text("remote_addr"),
	"h": text("remote_addr"),
	"A": text("server_addr"),
	"l": text("remote_logname"),
	"u": text("remote_user"),
	"t": timestamp(timeCLF),
	"r": {role: request},
	"m": {name: "method", role: method},
	"U": {name: "uri", role: path},
	"q": {name: "args", role: query},
	"v": {name: "server_name", role: host},
	"V": {name: "http_host", role: host},
	"p": {name: "server_port", typ: pipeline.Int64, role: port},
	"H": text("protocol"),
	"s": count("status"),
	"b": count("bytes"),
	"B": count("bytes"),
	"O": count("bytes_sent"),
	"I": count("request_length"),
	"D": count("request_time_us"),
	"T": column("request_time", pipeline.Float64),
	"P": count("process"),
	"k": count("keepalive_requests"),
	"X": text("connection_status"),
	"f": text("filename"),
	"R": text("handler"),
}

// apacheHeaders are request headers by their names in lower case.
var apacheHeaders = map[string]field{
	"host":       {name: "http_host", role: host},
	"referer":    text("referer"),
	"user-agent": text("user_agent"),
	"cookie":     text("cookie"),
}

// w3cFields are the fields of W3C Extended Log Files as IIS and CloudFront write them.
//
// CloudFront's x-host-header is the header Host of the request, and cs(Host) the name of the distribution, which is what the
// viewer asked for only where it has no name of its own.
//
// Source: https://www.w3.org/TR/WD-logfile.html, IIS documentation,
// https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logs-reference.html
var w3cFields = map[string]field{
	"date":                {role: dateOnly},
	"time":                {name: "time", typ: pipeline.Timestamp, role: clock},
	"timestamp":           timestamp(timeEpoch),
	"timestamp(ms)":       timestamp(timeMillis),
	"c-ip":                text("remote_addr"),
	"c-port":              count("remote_port"),
	"cs-username":         text("remote_user"),
	"s-sitename":          text("s_sitename"),
	"s-computername":      text("s_computername"),
	"s-ip":                text("server_addr"),
	"s-port":              {name: "server_port", typ: pipeline.Int64, role: port},
	"cs-method":           {name: "method", role: method},
	"cs-uri-stem":         {name: "uri", role: path},
	"cs-uri-query":        {name: "args", role: query},
	"cs-uri":              {name: "request_uri", role: target},
	"cs-host":             {name: "http_host", role: host},
	"x-host-header":       {name: "http_host", role: host},
	"cs(host)":            {name: "cs_host", role: edge},
	"cs-protocol":         {name: "scheme_logged", role: scheme},
	"cs-version":          text("protocol"),
	"cs-protocol-version": text("protocol"),
	"cs(user-agent)":      {name: "user_agent", escape: byAgent},
	"cs(referer)":         {name: "referer", escape: asIs},
	"cs(cookie)":          text("cookie"),
	"sc-status":           count("status"),
	"sc-substatus":        count("sc_substatus"),
	"sc-win32-status":     count("sc_win32_status"),
	"sc-bytes":            count("bytes"),
	"cs-bytes":            count("request_length"),
	"time-taken":          column("time_taken", pipeline.Float64),
	"x-edge-location":     text("edge_location"),
	"x-edge-result-type":  text("edge_result_type"),
	"x-edge-request-id":   text("request_id"),
	"x-forwarded-for":     text("forwarded_for"),
	"ssl-protocol":        {name: "ssl_protocol", role: secure},
	"ssl-cipher":          text("ssl_cipher"),
	"time-to-first-byte":  column("time_to_first_byte", pipeline.Float64),
	"c-country":           text("country"),
	"asn":                 count("asn"),
}

// columnName makes the name of a column of any name in a log.
func columnName(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		default:
			return '_'
		}
	}, name), "_")
}
