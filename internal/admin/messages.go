package admin

import (
	"context"
	"log/slog"
	"strings"
	"time"
)

// Message is a message of the log.
type Message struct {
	At    time.Time `json:"at"`
	Level string    `json:"level"`
	Text  string    `json:"text"`
}

// Logger returns a logger to the same place as log whose warnings and errors the monitor gets to know.
func (m *Monitor) Logger(log *slog.Logger) *slog.Logger {
	return slog.New(&handler{Handler: log.Handler(), m: m})
}

// handler passes records on, and keeps those of warnings and errors.
type handler struct {
	slog.Handler
	m     *Monitor
	attrs string // as they are shown
	group string
}

func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn || h.Handler.Enabled(ctx, level)
}

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelWarn {
		h.keep(r)
	}
	if !h.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h *handler) keep(r slog.Record) {
	var b strings.Builder
	b.WriteString(r.Message)
	b.WriteString(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		b.WriteString(shown(h.group, a))
		return true
	})
	level := "WARN"
	if r.Level >= slog.LevelError {
		level = "ERROR"
	}
	h.m.histograms.messages.WithLabelValues(level).Inc()
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	h.m.messages.add(Message{r.Time, level, clip(b.String(), maxText)})
}

// shown returns an attribute as text.
func shown(group string, a slog.Attr) string {
	return " " + group + a.Key + "=" + a.Value.Resolve().String()
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	out := *h
	out.Handler = h.Handler.WithAttrs(attrs)
	for _, a := range attrs {
		out.attrs += shown(h.group, a)
	}
	return &out
}

func (h *handler) WithGroup(name string) slog.Handler {
	out := *h
	out.Handler = h.Handler.WithGroup(name)
	out.group += name + "."
	return &out
}
