package wire

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/urlcore/psl"
	"github.com/urlmill/urlmill/urlcore/tracking"
)

// maxList bounds a file of rules or suffixes, in bytes; the Public Suffix List has a third of a megabyte.
const maxList = 16 << 20

// Lists are what columns depend on beside the records. They can be replaced while a pipeline runs.
type Lists struct {
	Rules    *tracking.Rules
	Suffixes *psl.List
}

// ReadLists reads the files that c names; where it names none, the lists are those that are built in.
func ReadLists(c *settings.Config) (Lists, *config.Problem) {
	lists := Lists{tracking.Default(), psl.Embedded()}
	for _, file := range []struct {
		key, path string
		parse     func(text []byte) error
	}{
		{"tracking_rules", c.Columns.TrackingRules, func(text []byte) (err error) {
			lists.Rules, err = tracking.Parse(string(text))
			return err
		}},
		{"public_suffix_list", c.Columns.PublicSuffixList, func(text []byte) (err error) {
			if lists.Suffixes, err = psl.Parse(bytes.NewReader(text)); err == nil && noRules(lists.Suffixes) {
				err = fmt.Errorf("it has no rule; take the file from https://publicsuffix.org/list/public_suffix_list.dat")
			}
			return err
		}},
	} {
		if file.path == "" {
			continue
		}
		text, err := readFile(file.path)
		if err == nil {
			err = file.parse(text)
		}
		if err != nil {
			problem := c.Problem("columns."+file.key, "%s: %s: %v", file.key, file.path, err)
			return lists, &problem
		}
	}
	return lists, nil
}

// readFile reads a file of at most maxList bytes.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was read alone
	text, err := io.ReadAll(io.LimitReader(f, maxList+1))
	if err == nil && len(text) > maxList {
		err = fmt.Errorf("larger than %s", config.FormatSize(maxList))
	}
	return text, err
}

// Lists returns those that are in use.
func (j *Job) Lists() Lists { return j.lists }

// CheckRules returns why the job cannot go over to other tracking rules while it runs, nil if it can: keys of dedupe are made
// with the rules, and those that are stored would not match any more.
func (j *Job) CheckRules(r *tracking.Rules) error {
	if j.dedupe == nil || identity(j.config, Lists{Rules: r}) == j.dedupe.identity {
		return nil
	}
	return fmt.Errorf("the keys in %s were made with the rules of %s, and would not be found again", j.dedupe.path, j.lists.Rules.Version())
}

// Use sets the lists for the batches to come, also while Run runs. The Public Suffix List becomes that of the whole process.
func (j *Job) Use(l Lists) {
	j.lists = l
	psl.Swap(l.Suffixes)
	j.Plan.SetRules(l.Rules)
}

// SetRates sets the rates of the pipeline and its generator to those of c, also while Run runs. source is the one that Open
// returned.
func (j *Job) SetRates(c *settings.Config, source any) {
	j.limiter.SetRate(c.Pipeline.Rate)
	if s, ok := source.(interface{ SetRate(float64) }); ok && c.Source.Generate != nil {
		s.SetRate(c.Source.Generate.Rate)
	}
}

// noRules reports whether a list is empty, as the list of a file that is something else.
func noRules(l *psl.List) bool {
	i := l.Info()
	return i.ICANN+i.Private == 0
}
