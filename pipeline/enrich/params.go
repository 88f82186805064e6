package enrich

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/config"
)

//go:embed lists/parameters.txt
var builtInParameters string

// paramFields are the columns that a parameter of the page's URL may be of. Their order is that of the fields of rules.
var paramFields = []string{"source", "medium", "campaign", "term", "content", "campaign_id", "click"}

const (
	fieldSource = iota
	fieldMedium
	fieldCampaign
	fieldTerm
	fieldContent
	fieldCampaignID
	fieldClick
	numParamFields
)

// param is a line of a list of parameters. Of several in one URL the one with the lowest rank counts.
type param struct {
	name           string
	field, rank    int
	network        []byte // of a click id
	source, medium []byte // that a click id stands for, nil if it stands for none
}

// params are the lines of a list of parameters, by names in lower case.
type params struct {
	// slots has the lines by the first byte and the length of their names: most parameters of URLs find an empty slot.
	slots    [256][]*param
	networks map[string]bool
}

// slot returns the lines whose names may be one that begins with first and has n bytes.
func (p *params) slot(first byte, n int) *[]*param { return &p.slots[lower(first)<<4^byte(n)] }

// parseParams reads a list of parameters, the one to be preferred first:
//
//	source  utm_source
//	click   gclid  google_ads  google cpc
//
// Behind the name of a click id stand its network and, if it says that the click was paid for, the source and the medium.
func parseParams(file, text string) (*params, error) {
	p := &params{networks: make(map[string]bool)}
	rank := 0
	err := eachLine(file, text, builtInParameters, func(line string, extended bool) error {
		f := strings.Fields(line)
		field := slices.Index(paramFields, f[0])
		click := field == fieldClick
		switch {
		case field < 0:
			return fmt.Errorf("%q is no kind of parameter%s; there are %s", f[0], config.Suggest(f[0], paramFields), config.Listed(paramFields, "and"))
		case click && len(f) != 3 && len(f) != 5, !click && len(f) != 2:
			return fmt.Errorf("%q is no parameter; write %s NAME, or click NAME NETWORK, or click NAME NETWORK SOURCE MEDIUM", line, f[0])
		case f[1] != strings.ToLower(f[1]):
			return fmt.Errorf("%q has to be in lower case; it matches any case then", f[1])
		case p.find([]byte(f[1])) != nil && extended:
			return nil
		case p.find([]byte(f[1])) != nil:
			return fmt.Errorf("%q is there twice; take it out of one line", f[1])
		}
		entry := &param{name: f[1], field: field, rank: rank}
		rank++
		if click {
			entry.network = []byte(f[2])
			p.networks[f[2]] = true
		}
		if len(f) == 5 {
			entry.source, entry.medium = []byte(f[3]), []byte(f[4])
		}
		slot := p.slot(f[1][0], len(f[1]))
		*slot = append(*slot, entry)
		return nil
	})
	return p, err
}

// find returns the line of a parameter, nil if there is none.
func (p *params) find(name []byte) *param {
	if len(name) == 0 {
		return nil
	}
	for _, entry := range *p.slot(name[0], len(name)) {
		if equalLower(name, entry.name) {
			return entry
		}
	}
	return nil
}

// equalLower reports whether name, with its ASCII letters in lower case, is want.
func equalLower(name []byte, want string) bool {
	if len(name) != len(want) {
		return false
	}
	for i, c := range name {
		if lower(c) != want[i] {
			return false
		}
	}
	return true
}

// lower folds ASCII letters.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c |= 0x20
	}
	return c
}

// appendLower appends text with its ASCII letters in lower case.
func appendLower(dst, text []byte) []byte {
	for _, c := range text {
		dst = append(dst, lower(c))
	}
	return dst
}
