package accesslog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/pipeline"
)

// The formats that ship with urlmill, in Apache's syntax where it has one for them.
const (
	common   = `%h %l %u %t "%r" %>s %b`
	combined = common + ` "%{Referer}i" "%{User-Agent}i"`
)

// presets make the formats by their names. W3C is none of them: its lines say themselves what they have.
var presets = map[string]func() pattern{
	"common":         func() pattern { return mustApache(common) },
	"combined":       func() pattern { return mustApache(combined) },
	"vhost_combined": func() pattern { return mustApache(`%v:%p ` + combined) },
	"alb":            alb,
	"elb":            elb,
	"s3":             s3,
	"haproxy":        haproxy,
}

// W3C is the name of the format whose lines say what they have.
const W3C = "w3c"

// Formats returns the names of all formats. The caller owns the slice.
func Formats() []string {
	names := []string{W3C, RealTime}
	for name := range presets {
		names = append(names, name)
	}
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
		last.next = " "
	}
	return p
}

func number(name string) field { return column(name, pipeline.Float64) }

// balancerFields are those of Amazon's load balancers.
var balancerFields = map[string]field{
	"time":                     timestamp(timeISO),
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
		`"actions_executed" "redirect_url" "error_reason"`, balancerFields)
}

// Source: https://docs.aws.amazon.com/elasticloadbalancing/latest/classic/access-log-collection.html
func elb() pattern {
	return sequence(`time elb client target request_processing_time target_processing_time response_processing_time `+
		`elb_status_code target_status_code received_bytes sent_bytes "request" "user_agent" ssl_cipher ssl_protocol`, balancerFields)
}

// Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/LogFormat.html
func s3() pattern {
	return sequence(`bucket_owner bucket [time] remote_addr requester request_id operation object_key "request" status error_code `+
		`bytes object_size total_time turn_around_time "referer" "user_agent" version_id host_id signature_version `+
		`cipher_suite authentication_type http_host`, map[string]field{
		"time":             timestamp(timeCLF),
		"request":          {role: request},
		"status":           count("status"),
		"bytes":            count("bytes"),
		"object_size":      count("object_size"),
		"total_time":       count("total_time_ms"),
		"turn_around_time": count("turn_around_time_ms"),
		"cipher_suite":     {name: "cipher_suite", role: secure},
		"http_host":        {name: "http_host", role: host},
	})
}

// Source: https://docs.haproxy.org/3.0/configuration.html#8.2.3
func haproxy() pattern {
	p := mustApache(`%a:%{remote_port}x [%{%d/%b/%Y:%H:%M:%S %z}t] %{frontend}x %{backend}x/%{server}x ` +
		`%{timers}x %s %O %{captured_request_cookie}x %{captured_response_cookie}x %{termination_state}x ` +
		`%{connections}x %{queues}x "%r"`)
	p.syslog = true
	for i := range p.tokens {
		if p.tokens[i].field.name == "remote_port" {
			p.tokens[i].field.typ = pipeline.Int64
		}
	}
	return p
}
