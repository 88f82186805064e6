//go:build !core

package wire

import (
	"context"
	"log/slog"

	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/internal/tracing"
)

func init() { add("tracing", func(r *Registry) { r.tracing = startTracing }) }

func startTracing(ctx context.Context, t *settings.Tracing, version string, log *slog.Logger) (tracer, error) {
	return tracing.Start(ctx, tracing.Options{
		Endpoint: t.Endpoint, Sample: t.Sample, Token: t.Token.Reveal(), Service: t.Service, Version: version,
	}, log)
}
