// Package top shows on a terminal what the admin listener of a running pipeline says.
package top

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/internal/admin"
)

// mostBytes is how long an answer may be: what listens there need not be an urlmill.
const mostBytes = 16 << 20

// Client asks a listener.
type Client struct {
	HTTP  *http.Client
	Base  *url.URL
	Token string // "" for none

	before, now admin.Status
}

// Update asks for the status.
func (c *Client) Update(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Base.JoinPath("api/status").String(), nil)
	if err != nil {
		return err
	}
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	answer, err := c.HTTP.Do(r)
	if err != nil {
		return fmt.Errorf("%w; is it running, with admin in its configuration?", err)
	}
	defer func() { _ = answer.Body.Close() }() // only read from
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized:
		return fmt.Errorf("%s asks for the token of admin.token; give --token-file", c.Base.Host)
	default:
		return fmt.Errorf("%s answers %s; give the address that admin.listen names", c.Base.Host, answer.Status)
	}
	var s admin.Status
	if err := json.NewDecoder(io.LimitReader(answer.Body, mostBytes)).Decode(&s); err != nil || s.Began.IsZero() {
		return errors.Join(fmt.Errorf("%s does not answer as urlmill does; give the address that admin.listen names", c.Base.Host), err)
	}
	c.before, c.now = c.now, s
	if !c.before.Began.Equal(s.Began) {
		c.before = admin.Status{} // another process
	}
	return nil
}

// rates returns the rows and the errors a second since the update before, or in the last interval of the listener.
func (c *Client) rates() (rows, failed float64) {
	if seconds := c.now.Now.Sub(c.before.Now).Seconds(); !c.before.Now.IsZero() && seconds > 0 {
		return float64(c.now.Rows-c.before.Rows) / seconds, float64(c.now.Invalid-c.before.Invalid) / seconds
	}
	if n := len(c.now.History); n > 0 {
		return c.now.History[n-1].Rows, c.now.History[n-1].Errors
	}
	return 0, 0
}

// Lines returns what the last update said: problems first, then totals, errors and lanes. Text from outside is made plain.
func (c *Client) Lines() []string {
	s := &c.now
	up := s.Now.Sub(s.Began).Round(time.Second)
	name := plain.Text(s.Name)
	if name != "" {
		name += ": "
	}
	lines := []string{name + fmt.Sprintf("urlmill %s at %s, up %s", plain.Text(s.Build.Version), plain.Text(c.Base.Host), up)}
	for _, p := range s.Problems {
		lines = append(lines, fmt.Sprintf("NOT READY  %s: %s. %s", plain.Text(p.Code), plain.Text(p.Detail), plain.Text(p.Advice)))
	}
	rows, failed := c.rates()
	total := fmt.Sprintf("rows %s (%s/s)  committed %s  read %s", plain.Count(s.Rows), plain.Count(int64(rows)), plain.Count(s.Committed), plain.Bytes(s.Bytes))
	if s.HasLag {
		total += "  lag " + plain.Count(s.Lag)
	}
	if s.Files > 0 {
		total += fmt.Sprintf("  files %s with %s", plain.Count(s.Files), plain.Bytes(s.FileBytes))
	}
	memory := plain.Bytes(int64(s.Memory))
	if s.MemoryMax > 0 {
		memory += " of " + plain.Bytes(s.MemoryMax)
	}
	lines = append(lines, total+"  memory "+memory, c.errors(failed), "")
	return append(lines, c.lanes()...)
}

// errors returns the line of what had an error, those that are most first.
func (c *Client) errors(rate float64) string {
	s := &c.now
	line := fmt.Sprintf("errors %s (%s/s)  dead letters %s  dropped %s", plain.Count(s.Invalid), plain.Count(int64(rate)), plain.Count(s.Dead), plain.Count(s.Dropped))
	codes := slices.SortedFunc(maps.Keys(s.Errors), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.Errors[b], s.Errors[a]), cmp.Compare(a, b))
	})
	for _, code := range codes {
		line += fmt.Sprintf("  %s %s", plain.Text(code), plain.Count(s.Errors[code]))
	}
	return line
}

// lanes returns the table of the lanes.
func (c *Client) lanes() []string {
	rows := map[string]int64{}
	for _, l := range c.before.Lanes {
		rows[l.Name] = l.Rows
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "LANE\tROWS\tROWS/S\tWRITTEN\tCOMMITTED\tBEHIND\tOLDEST\t")
	for _, l := range c.now.Lanes {
		rate, behind, state := "", "", ""
		if before, ok := rows[l.Name]; ok {
			rate = plain.Count(int64(float64(l.Rows-before) / max(c.now.Now.Sub(c.before.Now).Seconds(), 1e-3)))
		}
		if l.Behind != nil {
			behind = plain.Count(*l.Behind)
		}
		if l.Stuck {
			state = "stuck"
		}
		oldest := time.Duration(l.Oldest * float64(time.Second)).Round(100 * time.Millisecond)
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\n", plain.Text(l.Name), plain.Count(l.Rows), rate, l.Written, l.Committed, behind, oldest, state)
	}
	_ = w.Flush() // memory takes everything
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	if more := c.now.LaneCount - len(c.now.Lanes); more > 0 {
		lines = append(lines, fmt.Sprintf("and %s more", plain.Count(int64(more))))
	}
	return lines
}

// Frame returns lines as a picture that takes the place of the one before on a terminal of this size.
func Frame(lines []string, width, height int) string {
	var b strings.Builder
	b.WriteString("\x1b[H")
	for i, line := range lines[:min(len(lines), height)] {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(plain.Clip(line, width) + "\x1b[K")
	}
	b.WriteString("\x1b[J")
	return b.String()
}
