package main

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/wire"
	"github.com/urlmill/urlmill/config"
)

// TestReload changes a configuration in each way, and looks at the level and the log.
func TestReload(t *testing.T) {
	const base = "source: {generate: {}}\nsink: {ndjson: {stdout: true}}\n"
	for name, test := range map[string]struct {
		text  string
		fails error
		fixed bool
		level slog.Level
		says  string
	}{
		"level":         {text: base + "log: {level: debug}", level: slog.LevelDebug, says: "the level of the log changes"},
		"nothing":       {text: base, level: slog.LevelInfo, says: "stays"},
		"by the flag":   {text: base + "log: {level: debug}", fixed: true, level: slog.LevelInfo, says: "since --log-level was given"},
		"another sink":  {text: base + "memory_limit: 1GiB", level: slog.LevelInfo, says: "sections=memory_limit"},
		"both":          {text: base + "log: {level: warn}\non_error: drop", level: slog.LevelWarn, says: "sections=on_error"},
		"wrong":         {text: base + "log: {level: wild}", level: slog.LevelInfo, says: "nothing was changed"},
		"wrong columns": {text: base + "columns: {include: [nope]}\nlog: {level: debug}", level: slog.LevelInfo, says: "nothing was changed"},
		"gone":          {fails: errors.New("no such file"), level: slog.LevelInfo, says: "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			current, err := config.Parse("c.yaml", []byte(base), config.OSEnv())
			if err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			level := new(slog.LevelVar)
			r := &reload{
				current: current, check: wire.Standard().Check, level: level, fixedLevel: test.fixed,
				log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
				load: func() (*config.Config, error) {
					if test.fails != nil {
						return nil, test.fails
					}
					return config.Parse("c.yaml", []byte(test.text), config.OSEnv())
				},
			}
			r.apply()
			if level.Level() != test.level || !strings.Contains(log.String(), test.says) {
				t.Errorf("level %s, want %s; log:\n%s", level.Level(), test.level, log.String())
			}
		})
	}
}
