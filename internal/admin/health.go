package admin

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/urlmill/urlmill/pipeline"
)

// Problem is a reason for which a process is not ready.
type Problem struct {
	Code   string `json:"code"` // one of problemCodes
	Detail string `json:"detail"`
	Advice string `json:"advice"` // what to do about it
}

// problemCodes are all codes of problems.
var problemCodes = []string{"failed", "stuck", "source", "sink", "lag", "rows"}

// advice says what to do about problems of the kinds that are the same every time.
var advice = map[string]string{
	"failed": "Nothing that was committed is lost: mend what the message names, and start again. See docs/troubleshooting.md, It stopped.",
	"source": "It is tried again for as long as it takes: look at the brokers and at the network to them.",
	"sink": "It is tried again sink.s3.attempts times, and then the process stops: look at the server, the network to it, and the " +
		"credentials, which are looked up again when they have expired.",
	"rows": "Try the configuration with urlmill dry-run: the codec does not fit the records, or does not find the URL in them. See " +
		"docs/troubleshooting.md, A row has an error.",
	"lag": "Start more processes of the same group, up to one for each partition, or see docs/tuning.md.",
}

// refusedAdvice says what to do about a reload that was refused.
const refusedAdvice = "What was read before counts, and the pipeline runs. Mend what the message names; urlmill lint says whether it is right."

// Refused says why what was asked to change, such as "SIGHUP", changed nothing; nil when it did. The page shows the reason until then.
func (m *Monitor) Refused(what string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		delete(m.refused, what)
		return
	}
	m.refused[what] = Problem{"reload refused", clip(what+": "+err.Error(), maxText), refusedAdvice}
}

// Problems returns what keeps the process from being ready at now, worst first.
func (m *Monitor) Problems(now time.Time) []Problem {
	var out []Problem
	add := func(code, format string, args ...any) {
		out = append(out, Problem{code, fmt.Sprintf(format, args...), advice[code]})
	}
	m.mu.Lock()
	failure, spoiled := m.failure, m.spoiled
	m.mu.Unlock()
	if failure != "" {
		add("failed", "%s", failure)
	}
	if stuck := m.stuck(now); len(stuck) > 0 {
		p := stuck[0].problem()
		if n := len(stuck) - 1; n > 0 {
			p.Detail += fmt.Sprintf("; so are %d other lanes", n)
		}
		out = append(out, p)
	}
	failing := func(code string, since time.Time, err error) {
		if age := now.Sub(since); err != nil && age >= min(m.opts.StuckAfter, troubleAfter) {
			add(code, "failing for %v: %s", age.Round(time.Second), clip(err.Error(), maxText))
		}
	}
	in := m.counts().Input
	if in != nil {
		failing("source", in.Since, in.Err)
	}
	if m.opts.SinkTrouble != nil {
		since, err := m.opts.SinkTrouble()
		failing("sink", since, err)
	}
	if lag := in.Behind(); m.opts.MaxLag > 0 && lag > m.opts.MaxLag {
		add("lag", "%d records behind, more than %d", lag, m.opts.MaxLag)
	}
	if spoiled >= manyRows {
		add("rows", "every one of the last %d rows has an error, mostly %s", spoiled, pipeline.Mostly(m.opts.Stats.Totals().Errors))
	}
	slices.SortStableFunc(out, func(a, b Problem) int {
		return cmp.Compare(slices.Index(problemCodes, a.Code), slices.Index(problemCodes, b.Code))
	})
	return out
}

// troubleAfter is how long a source or a sink may fail before that is a problem: brokers that start anew take less.
const troubleAfter = 30 * time.Second

// manyRows is how many rows in a row have to have an error for that to be a problem: a producer's few bad ones are none.
const manyRows = 100

// tell tells the log which problems have begun and which have ended. Failures tell of themselves.
func (m *Monitor) tell(now time.Time) {
	m.tellLanes(now)
	problems := m.Problems(now)
	for _, code := range []string{"source", "sink", "lag", "rows"} {
		i := slices.IndexFunc(problems, func(p Problem) bool { return p.Code == code })
		since, told := m.told[code]
		switch {
		case i >= 0 && !told:
			m.told[code] = now
			m.opts.Log.Warn("not ready", "problem", code, "detail", problems[i].Detail, "advice", problems[i].Advice)
		case i < 0 && told:
			delete(m.told, code)
			m.opts.Log.Info("ready again", "problem", code, "after", now.Sub(since).Round(time.Second))
		}
	}
}

// livez says that the process answers. It has no opinion of the pipeline: one that fails ends the process itself.
func (s *Server) livez(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }

// readyz answers 503 while there are problems; what they are is told to those who have the token.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	problems := s.monitor.Problems(time.Now())
	if len(problems) == 0 {
		fmt.Fprintln(w, "ok")
		return
	}
	w.WriteHeader(http.StatusServiceUnavailable)
	for _, p := range problems {
		if !s.knows(r) {
			p.Detail = "see it with the token"
		}
		fmt.Fprintf(w, "%s: %s\n", p.Code, p.Detail)
	}
}
