package wire

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/enrich"
	"github.com/urlmill/urlmill/pipeline/privacy"
	"github.com/urlmill/urlmill/urlcore/psl"
	"github.com/urlmill/urlmill/urlcore/tracking"
)

// maxList bounds a file of rules or suffixes, in bytes; the Public Suffix List has a third of a megabyte.
const maxList = 16 << 20

// Lists are what columns depend on beside the records. They can be replaced while a pipeline runs.
type Lists struct {
	Rules    *tracking.Rules
	Suffixes *psl.List
	// Acquisition is nil without enrich.acquisition.
	Acquisition *enrich.Rules
	// Clients are nil without enrich.user_agent and enrich.address.
	Clients *enrich.Clients
	// Sites are those of enrich.frontier. They stay as they are while a pipeline runs: keys of dedupe are made by them.
	Sites *enrich.Sites
	// Keys is nil without privacy.keys.
	Keys *privacy.Keys
}

// ReadLists reads the files that c names; where it names none, the lists are those that are built in.
func ReadLists(c *Config) (Lists, error) {
	problems := problems{c: c}
	return readLists(c, &problems), c.Errors(problems.all)
}

func readLists(c *Config, problems *problems) Lists {
	lists := Lists{Rules: tracking.Default(), Suffixes: psl.Embedded()}
	read := func(at, path string, parse func(text []byte) error) {
		if path == "" {
			return
		}
		text, err := config.ReadFile(path, maxList)
		if err == nil {
			err = parse(text)
		}
		if err != nil {
			problems.add(at, "%s: %s: %v", at[strings.LastIndexByte(at, '.')+1:], path, err)
		}
	}
	read("columns.tracking_rules", c.Columns.TrackingRules, func(text []byte) (err error) {
		lists.Rules, err = tracking.Parse(string(text))
		return err
	})
	read("columns.public_suffix_list", c.Columns.PublicSuffixList, func(text []byte) (err error) {
		if lists.Suffixes, err = psl.Parse(bytes.NewReader(text)); err == nil && noRules(lists.Suffixes) {
			err = fmt.Errorf("it has no rule; take the file from https://publicsuffix.org/list/public_suffix_list.dat")
		}
		return err
	})
	if o := c.Privacy; o != nil {
		read("privacy.keys", o.Keys, func(text []byte) (err error) {
			lists.Keys, err = privacy.ParseKeys(text)
			return err
		})
	}
	if o := c.Enrich.Acquisition; o != nil {
		rules, err := o.Read()
		problems.note(acquisition, err)
		lists.Acquisition = rules
	}
	clients, err := c.Enrich.ReadClients()
	problems.note("enrich", err)
	lists.Clients = clients
	sites, err := c.Enrich.Frontier.ReadSites()
	problems.note("enrich.frontier", err)
	lists.Sites = sites
	return lists
}

// acquisition is the path of the section.
const acquisition = "enrich.acquisition"

// Lists returns those that are in use.
func (j *Job) Lists() Lists { return j.lists }

// CheckRules returns why the job cannot go over to other tracking rules while it runs, nil if it can: keys of dedupe are made
// with the rules, and those that are stored would not match any more.
func (j *Job) CheckRules(r *tracking.Rules) error {
	if j.dedupe == nil || identity(j.config, Lists{Rules: r, Sites: j.lists.Sites}) == j.identity {
		return nil
	}
	return fmt.Errorf("the keys in %s were made with the rules of %s, and would not be found again", j.dedupe.State(), j.lists.Rules.Version())
}

// Use sets the lists for the batches to come, also while Run runs. The Public Suffix List becomes that of the whole process.
func (j *Job) Use(l Lists) {
	l.Sites = cmp.Or(j.lists.Sites, l.Sites)
	j.lists = l
	psl.Swap(l.Suffixes)
	j.Plan.SetRules(l.Rules)
	j.Plan.SetAcquisition(l.Acquisition)
	j.Plan.SetClients(l.Clients)
	j.acquired.Store(l.Acquisition)
	j.clients.Store(l.Clients)
	if j.privacy != nil {
		j.privacy.SetKeys(l.Keys)
	}
}

// SetRates sets the rates of the pipeline and its source to those of c, also while Run runs. source is the one that Open
// returned.
func (j *Job) SetRates(c *Config, source pipeline.Source) {
	j.limiter.SetRate(c.Rate)
	if s, ok := pipeline.As[pipeline.Rated](source); ok {
		asks, _ := c.source()
		s.SetRate(asks.Rate)
	}
}

// noRules reports whether a list is empty, as the list of a file that is something else.
func noRules(l *psl.List) bool {
	i := l.Info()
	return i.ICANN+i.Private == 0
}
