package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// job is a configuration of urlmill.
type job struct {
	feed      *feed
	group     string
	brokers   []string // default: the cluster's
	out       string   // folder or URL of the rows
	dead      string   // of the dead letters, if there are any
	rollRows  int      // default 50,000
	rollEvery time.Duration
	start     string // default earliest
	source    string // more keys of the source, each with a comma before it
	session   time.Duration
	postgres  string // a table instead of files
	parquet   string // more keys of the files, each with a comma before it
	sink      string // another line of the sink
	dedupe    string // what finds duplicates, if anything is to
}

const jobConfig = `
source:
  kafka: {brokers: [%s], topics: [%s], group: %s, start: %s, session_timeout: %v, heartbeat_interval: %v,
    rebalance_timeout: 90s, max_wait: 200ms, dial_timeout: 2s%s}
  codec: %s
columns: {include: [%s]%s}
on_error: %s
sink:
  %s
  roll: {rows: %d, every: %v}
%s
pipeline: {drain_timeout: 80s}
%s
`

// columns are those of the rows that records of a topic become: all that there are.
func columns(t *facts.Topic) []string {
	all := []string{
		"url", "href", "scheme", "has_username", "host", "port", "origin", "registrable_domain", "public_suffix", "path", "query",
		"params", "fragment", "url_error", "url_error_pos", "raw", "topic", "partition", "offset", "timestamp", "key", "headers",
	}
	if t.JSON {
		all = append(all, "number", "note")
	}
	if t.Pages {
		all = append(all, "canonical_url", "url_key")
	}
	return all
}

// config writes the configuration and returns its name.
func (r *run) config(j job) string {
	if j.brokers == nil {
		j.brokers = j.feed.cluster.Addrs()
	}
	if j.start == "" {
		j.start = "earliest"
	}
	if j.rollRows == 0 {
		j.rollRows = 50_000
	}
	if j.rollEvery == 0 {
		j.rollEvery = 250 * time.Millisecond
	}
	if j.session == 0 {
		j.session = 1200 * time.Millisecond
	}
	canonical, dedupe := "", ""
	if j.dedupe != "" {
		canonical, dedupe = ", canonical: {form: dedupe}", "dedupe: "+j.dedupe
	}
	codec := "{lines: {}}"
	if j.feed.JSON {
		codec = "{ndjson: {url: /url, carry: [{name: number, pointer: /number, type: int64}, {name: note, pointer: /note}]}}"
	}
	onError, dead := "keep", ""
	if j.dead != "" {
		onError, dead = "dead_letter", fmt.Sprintf(", dead_letters: %q", j.dead)
	}
	into := fmt.Sprintf(`parquet: {path: "%s"%s%s, compression: snappy}`, j.out, j.parquet, dead)
	if j.postgres != "" {
		into = "postgres: " + j.postgres
	}
	text := fmt.Sprintf(jobConfig, strings.Join(j.brokers, ", "), j.feed.Name, j.group, j.start, j.session, j.session/4, j.source,
		codec, strings.Join(columns(j.feed.Topic), ", "), canonical, onError, into, j.rollRows, j.rollEvery, j.sink, dedupe)
	r.mu.Lock()
	r.temps++
	name := filepath.Join(r.dir, fmt.Sprintf("job-%d.yaml", r.temps))
	r.mu.Unlock()
	r.must(os.WriteFile(name, []byte(text), 0o600))
	r.mu.Lock()
	r.groups[name] = j.group
	r.mu.Unlock()
	return name
}

// mill is a process of urlmill.
type mill struct {
	*testproc.Process
	group string
	log   string // file
}

// start starts the real binary on a configuration.
func (r *run) start(config string, environ ...string) *mill {
	return r.startAs(r.env.binary, config, environ...)
}

// startAs starts any build of it.
func (r *run) startAs(binary, config string, environ ...string) *mill {
	r.Helper()
	m := r.command(binary, environ, "run", config)
	m.group = r.groups[config]
	return m
}

// command starts a command of urlmill.
func (r *run) command(binary string, environ []string, args ...string) *mill {
	r.Helper()
	r.mu.Lock()
	r.out.Starts++
	m := &mill{log: filepath.Join(r.dir, fmt.Sprintf("mill-%d.log", r.out.Starts))}
	r.mills = append(r.mills, m)
	r.mu.Unlock()
	log, err := os.Create(m.log)
	r.must(err)
	defer log.Close() // the process has its own
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), environ...)
	cmd.Stdout, cmd.Stderr = log, log
	m.Process, err = testproc.Start(cmd)
	r.must(err)
	return m
}

// stopped reports whether a process is stopped by a signal.
func stopped(id int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
	_, state, ok := bytes.Cut(text, []byte(") "))
	return err == nil && ok && state[0] == 'T'
}

// endMills kills what a scenario has left running.
func (r *run) endMills() {
	for _, m := range r.mills {
		m.Kill()
	}
}

// endedBy reports whether it was a signal that ended the process.
func (m *mill) endedBy(sig syscall.Signal) bool {
	var exit *exec.ExitError
	if !errors.As(m.Err(), &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == sig
}

func (m *mill) text() string {
	text, err := os.ReadFile(m.log)
	if err != nil {
		return err.Error()
	}
	const last = 3000
	if len(text) > last {
		text = text[bytes.IndexByte(text[len(text)-last:], '\n')+len(text)-last:]
	}
	return string(text)
}

// stop ends a process by SIGTERM, which has to end well. One that has only just been started may not take notice of
// signals yet.
func (r *run) stop(m *mill) {
	r.Helper()
	m.Signal(syscall.SIGTERM)
	r.await("a process to end after SIGTERM", m.Ended)
	if early := m.endedBy(syscall.SIGTERM) && m.text() == ""; m.Err() != nil && !early {
		r.Errorf("after SIGTERM: %v\n%s", m.Err(), m.text())
	}
}

// awaitWith waits for something that a process does, and fails when the process ends before.
func (r *run) awaitWith(m *mill, what string, reached func() bool) {
	r.Helper()
	r.await(what, func() bool {
		ok := reached()
		if !ok && m.Ended() {
			r.Fatalf("the process ended (%v) before %s:\n%s", m.Err(), what, m.text())
		}
		return ok
	})
}

// refuses waits for a process to end by itself with exit code 1, and one of the texts in what it has said.
func (r *run) refuses(m *mill, texts ...string) {
	r.Helper()
	r.await("a process to stop", m.Ended)
	if code := m.Code(); code != 1 {
		r.Errorf("exit code %d instead of 1\n%s", code, m.text())
	}
	if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(m.text(), text) }) {
		r.Errorf("it says none of %q:\n%s", texts, m.text())
	}
}
