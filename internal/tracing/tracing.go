package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
)

// Options say where spans go and how many.
type Options struct {
	Endpoint string        // URL of the collector's OTLP over HTTP; without a path, /v1/traces is asked for
	Sample   float64       // share of the batches that have a trace, 0 to 1
	Token    config.Secret // sent as a bearer token, "" for none
	Service  string        // service.name
	Version  string        // service.version
}

const (
	maxPending = 4096             // sampled batches between parsing and writing
	maxLinks   = 8                // of a batch
	maxBatches = 64               // that a commit links to
	exportTime = 10 * time.Second // for a request
	complain   = time.Minute      // between warnings about the collector
)

// Tracer makes spans of what a pipeline does. Make one with Start; nil makes none.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer

	mu      sync.Mutex
	pending map[place]*batch // sampled batches that are not written yet
}

// place is where a batch begins.
type place struct {
	lane  pipeline.LaneID
	first int64
}

// Start begins to send spans. A collector that cannot be reached keeps nobody waiting: spans are dropped, and log says so.
func Start(ctx context.Context, o Options, log *slog.Logger) (*Tracer, error) {
	endpoint, err := url.Parse(o.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("tracing: endpoint: %w", err)
	}
	if strings.Trim(endpoint.Path, "/") == "" {
		endpoint.Path = "/v1/traces"
	}
	options := []otlptracehttp.Option{
		otlptracehttp.WithEndpointURL(endpoint.String()), otlptracehttp.WithCompression(otlptracehttp.GzipCompression),
		otlptracehttp.WithTimeout(exportTime),
	}
	if o.Token != "" {
		options = append(options, otlptracehttp.WithHeaders(map[string]string{"Authorization": "Bearer " + o.Token.Reveal()}))
	}
	exporter, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	about, err := resource.Merge(resource.Default(), resource.NewSchemaless(
		attribute.String("service.name", o.Service), attribute.String("service.version", o.Version)))
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	otel.SetErrorHandler(&complaints{log: log})
	return newTracer(sdk.WithBatcher(exporter), o.Sample, about), nil
}

func newTracer(processor sdk.TracerProviderOption, sample float64, about *resource.Resource) *Tracer {
	p := sdk.NewTracerProvider(processor, sdk.WithResource(about), sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(sample))))
	return &Tracer{provider: p, tracer: p.Tracer("github.com/urlmill/urlmill"), pending: map[place]*batch{}}
}

// Close sends what is left, until ctx ends. What could not be sent is lost.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// complaints logs the errors of exports, but not every one of them.
type complaints struct {
	log  *slog.Logger
	mu   sync.Mutex
	last time.Time
}

// Handle implements [otel.ErrorHandler].
func (c *complaints) Handle(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.last) < complain {
		return
	}
	c.last = time.Now()
	c.log.Warn("spans cannot be sent; the pipeline goes on without", "error", err)
}
