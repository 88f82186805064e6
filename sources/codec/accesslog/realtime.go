package accesslog

import (
	"fmt"
	"slices"
	"strings"
)

// RealTime is the name of the format of CloudFront's real-time logs. Their lines have values with tabs between, and do not
// say which: the fields are those of the log configuration, in the order in which CloudFront has them.
const RealTime = "cloudfront_realtime"

// realTimeOrder are all fields in CloudFront's order.
//
// Source: https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/real-time-logs.html
var realTimeOrder = strings.Fields(`timestamp c-ip s-ip time-to-first-byte sc-status sc-bytes cs-method cs-protocol cs-host
	cs-uri-stem cs-bytes x-edge-location x-edge-request-id x-host-header time-taken cs-protocol-version c-ip-version
	cs-user-agent cs-referer cs-cookie cs-uri-query x-edge-response-result-type x-forwarded-for ssl-protocol ssl-cipher
	x-edge-result-type fle-encrypted-fields fle-status sc-content-type sc-content-len sc-range-start sc-range-end c-port
	x-edge-detailed-result-type c-country cs-accept-encoding cs-accept cache-behavior-path-pattern cs-headers
	cs-header-names cs-headers-count primary-distribution-id primary-distribution-dns-name origin-fbl origin-lbl asn`)

// realTimeFields are those that are called otherwise than in W3C logs, or are more than text.
var realTimeFields = map[string]field{
	"cs-user-agent":    {name: "user_agent", escape: byAgent},
	"cs-referer":       text("referer"),
	"cs-cookie":        text("cookie"),
	"sc-content-len":   count("sc_content_len"),
	"cs-headers-count": count("cs_headers_count"),
	"origin-fbl":       number("origin_fbl"),
	"origin-lbl":       number("origin_lbl"),
}

// realTime makes the pattern of the fields with those names, all where there are none.
func realTime(names []string) (p pattern, err error) {
	if len(names) == 0 {
		names = realTimeOrder
	}
	for i, name := range names {
		name = strings.ToLower(name)
		if !slices.Contains(realTimeOrder, name) {
			return p, fmt.Errorf("%q is no field of real-time logs; write it as CloudFront does, such as cs-uri-stem", name)
		}
		if slices.Contains(names[:i], name) {
			return p, fmt.Errorf("%q is there twice", name)
		}
		if name == "cs-host" && slices.Contains(names, "x-host-header") {
			name = "cs(host)" // see w3cFields
		}
		p.tokens = append(p.tokens, token{field: cloudFrontField(name)})
	}
	p.tabs = true
	return p, nil
}

// cloudFrontField returns the field that CloudFront calls by a name, which is in lower case.
func cloudFrontField(name string) field {
	f, ok := realTimeFields[name]
	if !ok {
		if f, ok = w3cFields[name]; !ok {
			f = text(columnName(name))
		}
	}
	return f.escapedBy(byPercent)
}
