package admin

import (
	"fmt"
	"net/http"
	"time"

	"github.com/urlmill/urlmill/pipeline"
)

// Problem is a reason for which a process is not ready.
type Problem struct {
	Code   string `json:"code"` // "failed", "stuck", "source" or "lag"
	Detail string `json:"detail"`
}

// problemCodes are all codes of problems.
var problemCodes = []string{"failed", "stuck", "source", "lag"}

// Problems returns what keeps the process from being ready at now, worst first.
func (m *Monitor) Problems(now time.Time) []Problem {
	var out []Problem
	m.mu.Lock()
	failure := m.failure
	m.mu.Unlock()
	if failure != "" {
		out = append(out, Problem{"failed", failure})
	}
	if p, ok := m.stuck(now); ok {
		out = append(out, p)
	}
	if m.opts.Trouble != nil {
		since, err := m.opts.Trouble()
		if age := now.Sub(since); err != nil && age >= min(m.opts.StuckAfter, troubleAfter) {
			out = append(out, Problem{"source", fmt.Sprintf("failing for %v: %v", age.Round(time.Second), err)})
		}
	}
	if _, lag := m.lag(); m.opts.MaxLag > 0 && lag > m.opts.MaxLag {
		out = append(out, Problem{"lag", fmt.Sprintf("%d records behind, more than %d", lag, m.opts.MaxLag)})
	}
	return out
}

// troubleAfter is how long a source may fail before that is a problem: brokers that start anew take less.
const troubleAfter = 30 * time.Second

// stuck returns the lane whose oldest uncommitted row is too old.
func (m *Monitor) stuck(now time.Time) (Problem, bool) {
	var worst pipeline.LaneStats
	count := 0
	for _, l := range m.opts.Stats.Lanes() {
		if l.Oldest.IsZero() || now.Sub(l.Oldest) < m.opts.StuckAfter {
			continue
		}
		if count++; count == 1 || l.Oldest.Before(worst.Oldest) {
			worst = l
		}
	}
	if count == 0 {
		return Problem{}, false
	}
	detail := fmt.Sprintf("%s: a row behind position %d is uncommitted for %v", worst.ID, worst.Committed,
		now.Sub(worst.Oldest).Round(time.Second))
	if count > 1 {
		detail += fmt.Sprintf("; so are rows of %d other lanes", count-1)
	}
	return Problem{"stuck", detail}, true
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
