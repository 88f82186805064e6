package admin

import (
	"encoding/json"
	"mime"
	"net/http"

	"github.com/urlmill/urlmill/internal/keytrace"
	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/canon"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// maxURLs is how many URLs are looked at in one request.
const maxURLs = 1000

// Inspected is what a URL is: its members are those of the class URL, or Error is what is wrong with it.
type Inspected struct {
	Error    string `json:"error,omitempty"`
	Position *int   `json:"position,omitempty"` // of the error, in bytes
	Text     string `json:"text,omitempty"`     // what the error means

	Href     string `json:"href"`
	Origin   string `json:"origin"`
	Protocol string `json:"protocol"`
	Username string `json:"username"`
	Password string `json:"password"`
	Host     string `json:"host"`
	Hostname string `json:"hostname"`
	Port     string `json:"port"`
	Pathname string `json:"pathname"`
	Search   string `json:"search"`
	Hash     string `json:"hash"`
	// Params are the decoded names and values of the query, in order.
	Params [][2]string `json:"params,omitempty"`

	RegistrableDomain string   `json:"registrable_domain"`
	Noticed           []Notice `json:"noticed,omitempty"`

	// Key is the canonical form dedupe, and Steps the way to it, as "urlmill explain" shows it.
	Key   string            `json:"key,omitempty"`
	Steps []keytrace.Change `json:"key_steps,omitempty"`
}

// Notice is a validation error that does not keep a URL from being one.
type Notice struct {
	Code     string `json:"code"`
	Position int    `json:"position"`
	Text     string `json:"text"`
}

// inspect answers a request for what URLs are: {"urls": [...], "base": "..."}.
func inspect(w http.ResponseWriter, r *http.Request) {
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		http.Error(w, "send JSON", http.StatusUnsupportedMediaType)
		return
	}
	var request struct {
		URLs []string `json:"urls"`
		Base string   `json:"base"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, `send {"urls": [...], "base": "..."} of at most 1 MiB`, http.StatusBadRequest)
		return
	}
	if len(request.URLs) > maxURLs {
		http.Error(w, "at most 1000 URLs at a time", http.StatusRequestEntityTooLarge)
		return
	}
	results := make([]Inspected, len(request.URLs))
	var base *urlcore.URL
	if request.Base != "" {
		var parsed urlcore.URL
		var p urlcore.Parser
		if failure := p.Parse(&parsed, []byte(request.Base), nil); !failure.OK() {
			for i := range results {
				results[i] = Inspected{Error: "base-" + failure.Code.String(), Position: &failure.Pos, Text: failure.Code.Text()}
			}
			writeJSON(w, results)
			return
		}
		base = &parsed
	}
	for i, u := range request.URLs {
		results[i] = look(u, base)
	}
	writeJSON(w, results)
}

func look(input string, base *urlcore.URL) Inspected {
	p := urlcore.Parser{CollectErrors: true}
	var u urlcore.URL
	failure := p.Parse(&u, []byte(input), base)
	var out Inspected
	if failure.OK() {
		_, domain, _ := u.Site(psl.Default())
		out = Inspected{
			Href: u.Href(), Origin: u.Origin(), Protocol: u.Protocol(), Username: u.Username(), Password: u.Password(),
			Host: u.Host(), Hostname: u.Hostname(), Port: u.Port(), Pathname: u.Pathname(), Search: u.Search(), Hash: u.Hash(),
			RegistrableDomain: string(domain),
		}
		for name, value := range u.SearchParams().All() {
			out.Params = append(out.Params, [2]string{name, value})
		}
		if t, err := keytrace.Of(canon.Options{Form: canon.Dedupe}, out.Href); err == nil {
			out.Key, out.Steps = t.Key, t.Changes
		}
	} else {
		out.Error, out.Position, out.Text = failure.Code.String(), &failure.Pos, failure.Code.Text()
	}
	for _, e := range p.ValidationErrors() {
		if e.Code == failure.Code && e.Pos == failure.Pos {
			continue
		}
		out.Noticed = append(out.Noticed, Notice{e.Code.String(), e.Pos, e.Code.Text()})
	}
	return out
}
