package codectest

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/accesslog"
)

func nlb(h *Hit) string {
	return fmt.Sprintf(`tls 2.0 %s net/edge/c6e77e28c25b2234 g3d4b5e8bb8464cd %s:51341 10.0.0.30:443 5 2 98 %d - arn:aws:acm:eu-central-1:1:certificate/2a - `+
		`TLS_AES_128_GCM_SHA256 tlsv13 - %s h2 h2 "h2","http/1.1" %s`, h.Time.Format("2006-01-02T15:04:05"), h.IP, h.Bytes, h.Host,
		h.Time.Format("2006-01-02T15:04:05"))
}

// cloudFormats are the formats in JSON of clouds and proxies, with a record of each. The verbs are time, address, method, host, path,
// query, status, bytes, protocol, agent, referer and ID of the request.
var cloudFormats = map[string]string{
	accesslog.CloudFrontJSON: `{"date":"%[13]s","time":"%[14]s","x-edge-location":"FRA56-P4","sc-bytes":"%[8]d","c-ip":%[2]q,"cs-method":%[3]q,` +
		`"cs(Host)":"d111111abcdef8.cloudfront.net","cs-uri-stem":%[5]q,"sc-status":"%[7]d","cs(Referer)":%[15]q,"cs(User-Agent)":%[16]q,` +
		`"cs-uri-query":%[6]q,"x-edge-request-id":%[12]q,"x-host-header":%[4]q,"cs-protocol":"https","time-taken":"0.001","cs-protocol-version":%[9]q}`,
	accesslog.WAF: `{"timestamp":%[17]d,"formatVersion":1,"webaclId":"arn:aws:wafv2:1","terminatingRuleId":"Default_Action","action":"ALLOW",` +
		`"httpSourceName":"ALB","ruleGroupList":[],"responseCodeSent":%[7]d,"httpRequest":{"clientIp":%[2]q,"country":"DE","headers":[{"name":"Host","value":%[4]q},` +
		`{"name":"user-agent","value":%[10]q},{"name":"referer","value":%[11]q}],"uri":%[5]q,"args":%[6]q,"httpVersion":%[9]q,"httpMethod":%[3]q,"requestId":%[12]q}}`,
	accesslog.APIGateway: `{"requestId":%[12]q,"ip":%[2]q,"requestTime":"%[18]s","httpMethod":%[3]q,"path":%[19]q,"domainName":%[4]q,"status":"%[7]d",` +
		`"protocol":%[9]q,"responseLength":"%[8]d","userAgent":%[10]q}`,
	accesslog.FastlyJSON: `{"timestamp":"%[20]s","client_ip":%[2]q,"geo_country":"germany","host":%[4]q,"url":%[19]q,"request_method":%[3]q,` +
		`"request_protocol":%[9]q,"request_referer":%[11]q,"request_user_agent":%[10]q,"response_status":%[7]d,"response_body_size":%[8]d}`,
	accesslog.GoogleLoadBalancer: `{"httpRequest":{"latency":"0.123456s","protocol":%[9]q,"referer":%[11]q,"remoteIp":%[2]q,"requestMethod":%[3]q,"requestSize":"412",` +
		`"requestUrl":"https://%[4]s%[19]s","responseSize":"%[8]d","status":%[7]d,"userAgent":%[10]q},"insertId":%[12]q,"resource":{"type":"http_load_balancer"},"timestamp":%[1]q}`,
	accesslog.AzureFrontDoor: `{"time":%[1]q,"category":"FrontDoorAccessLog","properties":{"trackingReference":%[12]q,"httpMethod":%[3]q,"httpVersion":%[9]q,` +
		`"requestUri":"https://%[4]s:443%[19]s","responseBytes":"%[8]d","userAgent":%[10]q,"clientIp":%[2]q,"timeTaken":"0.045","httpStatusCode":"%[7]d","referer":%[11]q}}`,
	accesslog.AzureGateway: `{"timeStamp":%[1]q,"category":"ApplicationGatewayAccessLog","properties":{"clientIP":%[2]q,"clientPort":40112,"httpMethod":%[3]q,"requestUri":%[5]q,` +
		`"requestQuery":%[6]q,"userAgent":%[10]q,"httpStatus":%[7]d,"httpVersion":%[9]q,"sentBytes":%[8]d,"timeTaken":0.047,"sslEnabled":"on","host":%[4]q,"referer":%[11]q}}`,
	accesslog.EnvoyJSON: `{"authority":%[4]q,"bytes_received":0,"bytes_sent":%[8]d,"downstream_remote_address":"%[2]s:40112","duration":45,"method":%[3]q,"path":%[19]q,` +
		`"protocol":%[9]q,"request_id":%[12]q,"response_code":%[7]d,"response_flags":"-","start_time":%[1]q,"user_agent":%[10]q,"referer":%[11]q}`,
	accesslog.TraefikJSON: `{"ClientHost":%[2]q,"ClientPort":"40112","ClientUsername":"-","DownstreamContentSize":%[8]d,"DownstreamStatus":%[7]d,"Duration":45123456,"RequestAddr":%[4]q,` +
		`"RequestMethod":%[3]q,"RequestPath":%[19]q,"RequestProtocol":%[9]q,"RequestScheme":"https","StartUTC":%[1]q,"request_User-Agent":%[10]q,"request_Referer":%[11]q}`,
}

// cloudCases are those of [cloudFormats], and the texts of the same clouds.
func cloudCases() []Case {
	escaped := func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
	var cases []Case
	for format, template := range cloudFormats {
		cases = append(cases, Case{
			Codec: "access_log", Name: "access_log/" + format, Referer: "referer",
			New: func() (codec.Factory, error) { return accesslog.New(accesslog.Options{Format: format}) },
			Record: record(func(h *Hit) string {
				return fmt.Sprintf(template, h.Time.Format("2006-01-02T15:04:05.000Z"), h.IP, h.Method, h.Host, h.Path, h.Query, h.Status, h.Bytes, h.Protocol,
					h.Agent, h.Referer, h.ID, h.Time.Format("2006-01-02"), h.Time.Format("15:04:05"), escaped(h.Referer), escaped(h.Agent), h.Time.UnixMilli(), h.clf(),
					h.Target(), h.Time.Format("2006-01-02T15:04:05-0700"))
			}),
			Malformed: map[string]string{"{": "record-malformed 1", "{}": "record-field-missing -1"},
		})
		if format == accesslog.APIGateway {
			cases[len(cases)-1].Referer = "" // it has no variable for it
		}
	}
	slices.SortFunc(cases, func(a, b Case) int { return strings.Compare(a.Name, b.Name) })
	return cases
}
