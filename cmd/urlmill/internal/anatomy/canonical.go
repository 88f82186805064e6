package anatomy

import (
	"encoding/json"
	"io"

	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/canon"
	"github.com/urlmill/urlmill/urlcore/form"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// canonicalForm is a canonical form of a URL.
type canonicalForm struct{ name, value string }

// canonicalForms returns all canonical forms of u.
func canonicalForms(u *urlcore.URL) []canonicalForm {
	var all []canonicalForm
	for _, name := range canon.Forms() {
		f, _ := canon.ParseForm(name) // one of canon.Forms
		c, err := canon.New(canon.Options{Form: f})
		if err != nil {
			continue // no options, no error
		}
		all = append(all, canonicalForm{name, string(c.Append(nil, u.Bytes(urlcore.Href)))})
	}
	return all
}

// Report is the anatomy of a URL as JSON has it.
type Report struct {
	Input string `json:"input"`
	Valid bool   `json:"valid"`
	// Error is why the input does not parse; nil when it does.
	Error            *Notice           `json:"error,omitempty"`
	URL              *Parts            `json:"url,omitempty"`
	ValidationErrors []Notice          `json:"validation_errors"`
	Canonical        map[string]string `json:"canonical,omitempty"`
}

// Notice is a validation error, with the byte of the input that it is about.
type Notice struct {
	Code     string `json:"code"`
	Position int    `json:"position"`
	Text     string `json:"text"`
}

// Parts are the components of a URL.
type Parts struct {
	Href              string      `json:"href"`
	Origin            string      `json:"origin"`
	Protocol          string      `json:"protocol"`
	Special           bool        `json:"special"`
	Username          string      `json:"username"`
	Password          string      `json:"password"`
	Host              string      `json:"host"`
	Hostname          string      `json:"hostname"`
	HostKind          string      `json:"host_kind"`
	HostUnicode       string      `json:"host_unicode,omitempty"`
	Port              string      `json:"port"`
	EffectivePort     *int        `json:"effective_port"`
	Pathname          string      `json:"pathname"`
	OpaquePath        bool        `json:"opaque_path"`
	Search            string      `json:"search"`
	Hash              string      `json:"hash"`
	PublicSuffix      string      `json:"public_suffix"`
	RegistrableDomain string      `json:"registrable_domain"`
	Params            [][2]string `json:"params"`
}

// WriteJSON prints what input is when it is resolved against base, which may be nil, as a line of JSON. It returns
// whether it parses, and the error of w.
func WriteJSON(w io.Writer, input string, base *urlcore.URL) (ok bool, err error) {
	p := urlcore.Parser{CollectErrors: true}
	var u urlcore.URL
	failure := p.Parse(&u, []byte(input), base)
	r := Report{Input: input, Valid: failure.OK(), ValidationErrors: []Notice{}}
	for _, e := range p.ValidationErrors() {
		r.ValidationErrors = append(r.ValidationErrors, Notice{e.Code.String(), e.Pos, e.Code.Text()})
	}
	if failure.OK() {
		r.URL = partsOf(&u)
		r.Canonical = map[string]string{}
		for _, c := range canonicalForms(&u) {
			r.Canonical[c.name] = c.value
		}
	} else {
		r.Error = &Notice{failure.Code.String(), failure.Pos, failure.Code.Text()}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return failure.OK(), enc.Encode(r)
}

func partsOf(u *urlcore.URL) *Parts {
	suffix, domain, _ := u.Site(psl.Default())
	parts := &Parts{
		Href: u.Href(), Origin: u.Origin(), Protocol: u.Protocol(), Special: u.Special(),
		Username: u.Username(), Password: u.Password(), Host: u.Host(), Hostname: u.Hostname(), HostKind: u.HostKind().String(),
		Port: u.Port(), Pathname: u.Pathname(), OpaquePath: u.OpaquePath(), Search: u.Search(), Hash: u.Hash(),
		PublicSuffix: string(suffix), RegistrableDomain: string(domain), Params: [][2]string{},
	}
	if port, ok := u.EffectivePort(); ok {
		n := int(port)
		parts.EffectivePort = &n
	}
	if text, _ := urlcore.DomainToUnicode(u.Hostname(), false); u.HostKind() == urlcore.HostDomain && text != u.Hostname() {
		parts.HostUnicode = text
	}
	for _, p := range form.Parse(string(u.Bytes(urlcore.Query))) {
		parts.Params = append(parts.Params, [2]string{p.Name, p.Value})
	}
	return parts
}
