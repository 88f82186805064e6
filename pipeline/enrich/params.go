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
	field, rank    int
	network        []byte // of a click id
	source, medium []byte // that a click id stands for, nil if it stands for none
}

// params are the lines of a list of parameters, by names in lower case.
type params struct {
	names map[string]*param
	// lengths has bit n of its entry c set if there is a name of n bytes that begins with c: most parameters are none of these.
	lengths  [256]uint64
	networks map[string]bool
}

const maxParam = 63 // the longest name, in bytes

// parseParams reads a list of parameters, the one to be preferred first:
//
//	source  utm_source
//	click   gclid  google_ads  google cpc
//
// Behind the name of a click id stand its network and, if it says that the click was paid for, the source and the medium.
func parseParams(file, text string) (*params, error) {
	p := &params{names: make(map[string]*param), networks: make(map[string]bool)}
	err := eachLine(file, text, builtInParameters, func(line string, extended bool) error {
		f := strings.Fields(line)
		field := slices.Index(paramFields, f[0])
		click := field == fieldClick
		switch {
		case field < 0:
			return fmt.Errorf("%q is no kind of parameter%s; there are %s", f[0], config.Suggest(f[0], paramFields), config.Listed(paramFields, "and"))
		case click && len(f) != 3 && len(f) != 5, !click && len(f) != 2:
			return fmt.Errorf("%q is no parameter; write %s NAME, or click NAME NETWORK, or click NAME NETWORK SOURCE MEDIUM", line, f[0])
		case f[1] != strings.ToLower(f[1]) || len(f[1]) > maxParam:
			return fmt.Errorf("%q has to be in lower case, and at most %d bytes long; it matches any case then", f[1], maxParam)
		case p.names[f[1]] != nil && extended:
			return nil
		case p.names[f[1]] != nil:
			return fmt.Errorf("%q is there twice; take it out of one line", f[1])
		}
		entry := &param{field: field, rank: len(p.names)}
		if click {
			entry.network = []byte(f[2])
			p.networks[f[2]] = true
		}
		if len(f) == 5 {
			entry.source, entry.medium = []byte(f[3]), []byte(f[4])
		}
		p.names[f[1]] = entry
		p.lengths[f[1][0]] |= 1 << len(f[1])
		return nil
	})
	return p, err
}

// find returns the line of a parameter, nil if there is none.
func (p *params) find(name []byte) *param {
	if len(name) == 0 || len(name) > maxParam || p.lengths[lower(name[0])]>>len(name)&1 == 0 {
		return nil
	}
	var buf [maxParam]byte
	for i, c := range name {
		buf[i] = lower(c)
	}
	return p.names[string(buf[:len(name)])]
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
