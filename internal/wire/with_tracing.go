//go:build !core

package wire

import (
	"context"
	"log/slog"

	"github.com/urlmill/urlmill/internal/tracing"
)

func init() {
	add("tracing", func(r *Components) { r.tracing = func() Tracing { return &spans{tracing.Default()} } })
}

// spans implements [Tracing].
type spans struct{ tracing.Options }

func (s *spans) Start(ctx context.Context, version string, log *slog.Logger) (Tracer, error) {
	o := s.Options
	o.Version = version
	return tracing.Start(ctx, o, log)
}
