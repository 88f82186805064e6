// Package tracing tells an OpenTelemetry collector what a pipeline does with its batches, by OTLP over HTTP.
//
// A trace is the way of one batch; records are too many to have spans of their own:
//
//	batch                    links to the trace contexts in the Kafka headers of its first records
//	├── parse
//	├── write
//	└── commit               of the lane, links to the other sampled batches that it made durable
//
// The header is that of W3C's Trace Context, traceparent, with tracestate beside it. Which batches are sampled is chosen
// when they are parsed, so that a batch that is not costs next to nothing.
package tracing
