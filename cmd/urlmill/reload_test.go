package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/admin"
	"github.com/urlmill/urlmill/internal/wire"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// reloaded prepares the pipeline of a configuration, whose ${DIR} is dir, and returns the reload of it and its log.
func reloaded(t *testing.T, dir, text string) (r *reload, log *bytes.Buffer) {
	t.Helper()
	log = new(bytes.Buffer)
	r = &reload{
		level: new(slog.LevelVar),
		log:   slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	r.refused = func(what string, err error) {
		if err != nil {
			fmt.Fprintf(log, "the page says %s: %v\n", what, err)
		}
	}
	c := parseIn(t, dir, text)
	r.running = c
	r.latest.Store(c)
	t.Cleanup(func() { psl.Swap(psl.Embedded()) })
	var err error
	if r.session, err = wire.Open(c, wire.Setting{Log: r.log, In: io.MultiReader(), Out: io.Discard}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.session.Sink.Close() })
	return r, log
}

func parseIn(t *testing.T, dir, text string) *wire.Config {
	t.Helper()
	c, err := wire.Standard().Parse("c.yaml", []byte(text), config.Env{
		Lookup: func(name string) (string, bool) { return dir, name == "DIR" }, ReadFile: os.ReadFile,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func writeFile(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

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
		"level":       {text: base + "log: {level: debug}", level: slog.LevelDebug, says: `taken over" key=log.level from=info to=debug`},
		"nothing":     {text: base, level: slog.LevelInfo, says: "the configuration was read"},
		"by the flag": {text: base + "log: {level: debug}", fixed: true, level: slog.LevelInfo, says: "--log-level was given"},
		"memory":      {text: base + "memory_limit: 1GiB", level: slog.LevelInfo, says: `key=memory_limit reason="all memory was divided by it"`},
		"both":        {text: base + "log: {level: warn}\non_error: drop", level: slog.LevelWarn, says: "key=on_error reason="},
		"rates":       {text: "source: {generate: {rate: 7}}\nsink: {ndjson: {stdout: true}}\npipeline: {rate: 9}", says: "key=source.generate.rate from=0 to=7"},
		"wrong":       {text: base + "log: {level: wild}", level: slog.LevelInfo, says: "nothing was changed"},
		"wrong columns": {
			text: base + "columns: {include: [nope]}\nlog: {level: debug}", level: slog.LevelInfo, says: "nothing was changed",
		},
		"wrong list": {
			text: base + "columns: {public_suffix_list: /nowhere}\nlog: {level: debug}", level: slog.LevelInfo, says: "nothing was changed",
		},
		"gone": {fails: errors.New("no such file"), level: slog.LevelInfo, says: "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			r, log := reloaded(t, t.TempDir(), base)
			r.fixedLevel = test.fixed
			r.load = func() (*wire.Config, error) {
				if test.fails != nil {
					return nil, test.fails
				}
				return wire.Standard().Parse("c.yaml", []byte(test.text), config.OSEnv())
			}
			r.apply()
			if r.level.Level() != test.level || !strings.Contains(log.String(), test.says) {
				t.Errorf("level %s, want %s; log:\n%s", r.level.Level(), test.level, log.String())
			}
			log.Reset()
			r.apply()
			if strings.Contains(log.String(), `"SIGHUP: taken over" key`) {
				t.Errorf("taken over once more:\n%s", log.String())
			}
		})
	}
}

const (
	listOne  = "// VERSION: one\n// ===BEGIN ICANN DOMAINS===\ncom\n// ===END ICANN DOMAINS===\n"
	listTwo  = "// VERSION: two\n// ===BEGIN ICANN DOMAINS===\n*.com\n// ===END ICANN DOMAINS===\n"
	rulesOne = "version 2026-01-01\nnothing_at_all\n"
	rulesTwo = "version 2026-01-02\nutm_*\ngclid\nfbclid\n"
)

// TestReloadLists checks that lists are read again whose files have the names that they had.
func TestReloadLists(t *testing.T) {
	for name, test := range map[string]struct {
		more, refused string
		rules         string // afterwards
	}{
		"plain":                   {rules: "2026-01-02"},
		"dedupe by the rules":     {more: "dedupe: {path: '${DIR}/state'}\n", rules: "2026-01-01", refused: "would not be found again"},
		"dedupe without tracking": {more: "dedupe: {path: '${DIR}/state'}\n", rules: "2026-01-02"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFile(t, dir, "list", listOne)
			writeFile(t, dir, "rules", rulesOne)
			form := "dedupe"
			if name == "dedupe without tracking" {
				form = "strict"
			}
			text := "source: {generate: {}}\nsink: {ndjson: {path: '${DIR}/out', delivery: exactly_once}}\n" + test.more +
				"columns: {tracking_rules: '${DIR}/rules', public_suffix_list: '${DIR}/list', canonical: {form: " + form + "}}\n"
			r, log := reloaded(t, dir, text)
			r.load = func() (*wire.Config, error) { return parseIn(t, dir, text), nil }
			if psl.Version() != "one" || r.session.Lists().Rules.Version() != "2026-01-01" {
				t.Fatalf("at the start: list %s, rules of %s", psl.Version(), r.session.Lists().Rules.Version())
			}
			writeFile(t, dir, "list", listTwo)
			writeFile(t, dir, "rules", rulesTwo)
			r.apply()
			if psl.Version() != "two" || r.session.Lists().Rules.Version() != test.rules || !strings.Contains(log.String(), test.refused) {
				t.Errorf("afterwards: list %s, rules of %s\n%s", psl.Version(), r.session.Lists().Rules.Version(), log.String())
			}
			writeFile(t, dir, "list", "<html>")
			writeFile(t, dir, "rules", "")
			r.apply()
			if psl.Version() != "two" || r.session.Lists().Rules.Version() != test.rules || !strings.Contains(log.String(), "nothing was changed") {
				t.Errorf("after a file that is none: list %s, rules of %s\n%s", psl.Version(), r.session.Lists().Rules.Version(), log.String())
			}
		})
	}
}

// TestReloadAcquisition reads rules for channels again whose file has the name that it had, and options that stand beside it.
func TestReloadAcquisition(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "channels", "rules:\n  - {channel: A, medium: [a]}\n")
	const base = "source: {generate: {}}\nsink: {ndjson: {stdout: true}}\n"
	text := base + "enrich: {acquisition: {channels: '${DIR}/channels'}}\n"
	r, log := reloaded(t, dir, text)
	r.load = func() (*wire.Config, error) { return parseIn(t, dir, text), nil }
	provenance := func() string { return r.session.Lists().Acquisition.Version() }
	for _, step := range []struct{ what, channels, text, says string }{
		{"another file", "rules:\n  - {channel: B, medium: [a]}\n", text, `"SIGHUP: taken over" key=enrich.acquisition from=sha256:`},
		{"the same again", "rules:\n  - {channel: B, medium: [a]}\n", text, ""},
		{"a wrong file", "rules:\n  - {chanel: B, medium: [a]}\n", text, "nothing was changed"},
		{"the limit", "rules:\n  - {channel: B, medium: [a]}\n", base + "enrich: {acquisition: {channels: '${DIR}/channels', path_template_limit: 7}}\n", "key=enrich.acquisition from="},
		{"no section", "", base, "a change is not taken over; restart for it"},
	} {
		before, rules := provenance(), r.session.Lists().Acquisition
		log.Reset()
		text = step.text
		writeFile(t, dir, "channels", step.channels)
		r.apply()
		taken := strings.Contains(step.says, "key=enrich.acquisition from=")
		if changed := provenance() != before; changed != taken || changed == (rules == r.session.Lists().Acquisition) {
			t.Errorf("%s: the version was %s and is %s", step.what, before, provenance())
		}
		if !strings.Contains(log.String(), step.says) || !taken && strings.Contains(log.String(), "key=enrich.acquisition from=") {
			t.Errorf("%s: the log says\n%s", step.what, log.String())
		}
		if step.what == "a wrong file" && !strings.Contains(log.String(), "channels:2:6: unknown key") {
			t.Errorf("the log does not say where the file is wrong:\n%s", log.String())
		}
	}
}

// TestReloadFiles replaces a file of a bot's ranges while a pipeline runs: by a good one, and by one that is wrong.
func TestReloadFiles(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "ranges", "192.0.2.0/24\n")
	writeFile(t, dir, "access.log", "")
	r, log := reloaded(t, dir, `source: {generate: {}}
columns: {include: [url]}
sink: {ndjson: {stdout: true}}
`)
	if r.applyChanged(); log.Len() > 0 {
		t.Errorf("without files: %s", log)
	}
	r, log = reloaded(t, dir, `source: {file: {paths: ["${DIR}/access.log"]}, codec: {access_log: {format: combined, base: "https://example.com"}}}
enrich: {user_agent: {bot_ranges: [{bots: [Googlebot], files: ["${DIR}/ranges"]}]}}
sink: {ndjson: {stdout: true, delivery: at_least_once}}
`)
	first := r.session.Lists().Clients
	if r.applyChanged(); log.Len() > 0 || r.session.Lists().Clients != first {
		t.Errorf("nothing has changed: %s", log)
	}
	writeFile(t, dir, "ranges", "192.0.2.0/24\nnonsense\n")
	if r.applyChanged(); !strings.Contains(log.String(), "is wrong; the one before stays") || !strings.Contains(log.String(), "line 2") || r.session.Lists().Clients != first {
		t.Errorf("a file that is wrong: %s", log)
	}
	writeFile(t, dir, "ranges", "192.0.2.0/24\n198.51.100.0/24\n")
	if r.applyChanged(); !strings.Contains(log.String(), "was taken over") || r.session.Lists().Clients == first {
		t.Errorf("a file that has changed: %s", log)
	}
	second := r.session.Lists().Clients
	writeFile(t, dir, "ranges", "198.51.100.0/24\n")
	r.load = func() (*wire.Config, error) { return r.latest.Load(), nil }
	if r.apply(); !strings.Contains(log.String(), `SIGHUP: taken over" key=enrich from=`+second.Version()) || r.session.Lists().Clients == second {
		t.Errorf("SIGHUP: %s", log)
	}
}

// TestReloadRefused shows on the status page why a bad configuration, a bad list and a bad file were refused, until good ones are read.
func TestReloadRefused(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"ranges": "192.0.2.0/24\n", "list": listOne, "access.log": ""} {
		writeFile(t, dir, name, text)
	}
	const base = `source: {file: {paths: ["${DIR}/access.log"]}, codec: {access_log: {format: combined, base: "https://example.com"}}}
enrich: {user_agent: {bot_ranges: [{bots: [Googlebot], files: ["${DIR}/ranges"]}]}}
sink: {ndjson: {stdout: true, delivery: at_least_once}}
columns: {public_suffix_list: '${DIR}/list'}
`
	text := base
	r, _ := reloaded(t, dir, base)
	r.load = func() (*wire.Config, error) {
		return wire.Standard().Parse("c.yaml", []byte(strings.ReplaceAll(text, "${DIR}", dir)), config.OSEnv())
	}
	l := &listener{monitor: admin.NewMonitor(), log: r.log}
	l.monitor.Attach(admin.Watch{Stats: new(pipeline.Stats)})
	r.refused = l.refused
	shown := func() string {
		s := l.monitor.Status(time.Now())
		if len(s.Problems) > 0 {
			t.Errorf("it is not ready: %v", s.Problems)
		}
		return fmt.Sprint(s.Notices)
	}
	for _, step := range []struct {
		what, text, list, ranges string
		says                     []string
	}{
		{"all is right", base, listOne, "192.0.2.0/24\n", nil},
		{"a wrong key", base + "log: {level: wild}\n", listOne, "192.0.2.0/24\n", []string{"SIGHUP: c.yaml:5:14: level"}},
		{"a wrong list", base, "<html>", "192.0.2.0/24\n", []string{"SIGHUP: ", "public_suffix_list: ", "sections out of order"}},
		{"a wrong file of ranges", base, listOne, "192.0.2.0/24\nnonsense\n", []string{"SIGHUP: ", "a file of enrich: ", "line 2"}},
		{"all is right again", base, listTwo, "198.51.100.0/24\n", nil},
	} {
		text = step.text
		writeFile(t, dir, "list", step.list)
		writeFile(t, dir, "ranges", step.ranges)
		r.applyChanged()
		r.apply()
		got := shown()
		for _, want := range step.says {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in %s", step.what, want, got)
			}
		}
		if len(step.says) == 0 && got != "[]" {
			t.Errorf("%s: %s", step.what, got)
		}
	}
}

// TestReloadKeys checks that keys of hashes are read again, that a bad file changes nothing, and that no key gets into the log.
func TestReloadKeys(t *testing.T) {
	const text = "source: {generate: {}}\nsink: {ndjson: {stdout: true}}\nprivacy: {method: hash, keys: \"${DIR}/keys\"}\n"
	dir := t.TempDir()
	writeFile(t, dir, "keys", "2026-01-01 first-0123456789abcdef\n")
	r, log := reloaded(t, dir, text)
	r.load = func() (*wire.Config, error) { return parseIn(t, dir, text), nil }
	writeFile(t, dir, "keys", "2026-01-01 first-0123456789abcdef\n2026-02-01 second-0123456789abcdef\n")
	if r.apply(); !strings.Contains(log.String(), `taken over" key=privacy.keys from="1, the last from 2026-01-01T00:00:00Z" to="2, the last from 2026-02-01T00:00:00Z"`) {
		t.Errorf("log:\n%s", log)
	}
	second := r.session.Lists().Keys
	writeFile(t, dir, "keys", "2026-03-01 short\n")
	if r.apply(); !strings.Contains(log.String(), "nothing was changed") || r.session.Lists().Keys != second {
		t.Errorf("log:\n%s", log)
	}
	if strings.Contains(log.String(), "0123456789abcdef") || strings.Contains(log.String(), "short") {
		t.Errorf("a key is in the log:\n%s", log)
	}
}
