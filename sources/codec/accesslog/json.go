package accesslog

import (
	"cmp"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// The names of the formats whose lines are JSON.
const (
	Caddy      = "caddy"
	Cloudflare = "cloudflare"
)

// jsonFormats make the options of the codec for them. scheme is that of their requests, "" for the default.
var jsonFormats = map[string]func(scheme string) codec.NDJSONOptions{Caddy: caddy, Cloudflare: cloudflare}

// caddy returns the options for the access log of the web server Caddy, which is NDJSON, with its fields under the names that
// the other formats have for them.
//
// Source: https://caddyserver.com/docs/logging
func caddy(scheme string) codec.NDJSONOptions {
	return codec.NDJSONOptions{
		URL: "/request/uri", Host: "/request/host", Scheme: scheme,
		Carry: []codec.CarriedField{
			{Name: "time", Pointer: "/ts", Type: pipeline.Timestamp, Time: codec.EpochSeconds},
			{Name: "remote_addr", Pointer: "/request/remote_ip"},
			{Name: "method", Pointer: "/request/method"},
			{Name: "protocol", Pointer: "/request/proto"},
			{Name: "status", Pointer: "/status", Type: pipeline.Int64},
			{Name: "bytes", Pointer: "/size", Type: pipeline.Int64},
			{Name: "request_time", Pointer: "/duration", Type: pipeline.Float64},
			{Name: "referer", Pointer: "/request/headers/Referer/0"},
			{Name: "user_agent", Pointer: "/request/headers/User-Agent/0"},
			{Name: "remote_user", Pointer: "/user_id"},
		},
	}
}

// cloudflare returns the options for the data set http_requests of Cloudflare's Logpush, which writes NDJSON unless told otherwise.
// Which fields there are is up to the job; those that it does not have are null. Times are nanoseconds unless it says rfc3339 or
// unix.
//
// Source: https://developers.cloudflare.com/logs/logpush/logpush-job/datasets/zone/http_requests/,
// https://developers.cloudflare.com/logs/logpush/logpush-job/log-output-options/
func cloudflare(scheme string) codec.NDJSONOptions {
	return codec.NDJSONOptions{
		URL: "/ClientRequestURI", Host: "/ClientRequestHost", Scheme: cmp.Or(scheme, "/ClientRequestScheme"),
		Carry: []codec.CarriedField{
			{Name: "time", Pointer: "/EdgeStartTimestamp", Type: pipeline.Timestamp, Time: codec.AnyTime},
			{Name: "remote_addr", Pointer: "/ClientIP"},
			{Name: "method", Pointer: "/ClientRequestMethod"},
			{Name: "protocol", Pointer: "/ClientRequestProtocol"},
			{Name: "status", Pointer: "/EdgeResponseStatus", Type: pipeline.Int64},
			{Name: "bytes", Pointer: "/EdgeResponseBytes", Type: pipeline.Int64},
			{Name: "request_length", Pointer: "/ClientRequestBytes", Type: pipeline.Int64},
			{Name: "referer", Pointer: "/ClientRequestReferer"},
			{Name: "user_agent", Pointer: "/ClientRequestUserAgent"},
			{Name: "request_id", Pointer: "/RayID"},
			{Name: "country", Pointer: "/ClientCountry"},
			{Name: "cache_status", Pointer: "/CacheCacheStatus"},
			{Name: "edge_location", Pointer: "/EdgeColoCode"},
			{Name: "origin_status", Pointer: "/OriginResponseStatus", Type: pipeline.Int64},
		},
	}
}
