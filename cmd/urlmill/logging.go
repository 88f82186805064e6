package main

import (
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/urlmill/urlmill/config"
)

// console is standard error, shared by log lines and the progress line: a log line takes the place of the
// progress line, which is drawn again below it.
type console struct {
	mu    sync.Mutex
	w     io.Writer
	width int    // of the terminal, 0 when it is none
	line  string // the progress line that is shown
}

func newConsole(w io.Writer) *console { return &console{w: w, width: terminalWidth(w)} }

// terminalWidth returns the width of the terminal that w is, 0 when it is none.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return 80
	}
	return width
}

// terminal reports whether somebody is looking.
func (c *console) terminal() bool { return c.width > 0 }

const eraseLine = "\r\x1b[K"

// Write prints whole lines above the progress line.
func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.line == "" {
		return c.w.Write(p)
	}
	if _, err := io.WriteString(c.w, eraseLine); err != nil {
		return 0, err
	}
	n, err := c.w.Write(p)
	if err == nil {
		_, err = io.WriteString(c.w, c.line)
	}
	return n, err
}

// show sets the progress line; "" takes it away.
func (c *console) show(line string) {
	if !c.terminal() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := []rune(line); len(r) >= c.width {
		line = string(r[:c.width-1])
	}
	if line == "" && c.line == "" {
		return
	}
	c.line = line
	// A terminal that is gone is no reason to stop.
	_, _ = io.WriteString(c.w, eraseLine+line)
}

// logger returns a logger to the console.
func (a *app) logger(level slog.Leveler, format string) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(a.console, options))
	}
	return slog.New(slog.NewTextHandler(a.console, options))
}

// flagLogger returns the logger that the flags ask for.
func (a *app) flagLogger() *slog.Logger { return a.logger(a.level(), a.logFormat) }

// liveLogger returns the same, whose level can be changed while it is used.
func (a *app) liveLogger() (*slog.Logger, *slog.LevelVar) {
	level := new(slog.LevelVar)
	level.Set(a.level())
	return a.logger(level, a.logFormat), level
}

func (a *app) level() slog.Level {
	var level slog.Level
	_ = level.UnmarshalText([]byte(a.logLevel)) // checkLogFlags has seen it
	return level
}

// checkLogFlags checks the two log flags.
func (a *app) checkLogFlags() error {
	for _, f := range []struct {
		name, value string
		allowed     []string
	}{
		{"--log-format", a.logFormat, []string{"text", "json"}},
		{"--log-level", a.logLevel, []string{"debug", "info", "warn", "error"}},
	} {
		if err := checkChoice(f.name, f.value, f.allowed); err != nil {
			return err
		}
	}
	return nil
}

// checkChoice checks the value of a flag against the values that it can have.
func checkChoice(flag, value string, allowed []string) error {
	for _, v := range allowed {
		if v == value {
			return nil
		}
	}
	return usagef("%s is %q; give one of %s%s", flag, value, strings.Join(allowed, ", "), config.Suggest(value, allowed))
}
