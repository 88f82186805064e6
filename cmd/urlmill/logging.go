package main

import (
	"io"
	"log/slog"
	"os"
	"sync"

	"golang.org/x/term"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
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

// Write prints whole lines above the progress line. Names and texts from outside may be in them, by whatever way: what a terminal could
// act on is shown instead of done.
func (c *console) Write(p []byte) (int, error) {
	text := plain.Lines(string(p))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.line != "" {
		text = eraseLine + text + c.line
	}
	if _, err := io.WriteString(c.w, text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// jsonConsole is a console for lines of JSON, which have escapes of their own.
type jsonConsole struct{ *console }

func (c jsonConsole) Write(p []byte) (int, error) {
	if _, err := c.console.Write([]byte(plain.JSON(string(p)))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// show sets the progress line; "" takes it away.
func (c *console) show(line string) {
	if !c.terminal() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	line = plain.Text(line)
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
		return slog.New(slog.NewJSONHandler(jsonConsole{a.console}, options))
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
	_ = level.UnmarshalText([]byte(a.logLevel)) // checkChoices has seen it
	return level
}
