package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/pipeline/processor"
	"github.com/urlmill/urlmill/urlcore/canon"
	"github.com/urlmill/urlmill/urlcore/psl"
	"github.com/urlmill/urlmill/urlcore/tracking"
)

// options is the JSON that urlmill.h describes.
type options struct {
	URL           string            `json:"url"`
	Base          string            `json:"base"`
	BaseURL       string            `json:"base_url"`
	Carry         []string          `json:"carry"`
	Include       []string          `json:"include"`
	Exclude       []string          `json:"exclude"`
	Rename        map[string]string `json:"rename"`
	Profile       string            `json:"profile"`
	Params        string            `json:"params"`
	Promote       []promote         `json:"promote"`
	Canonical     *canonical        `json:"canonical"`
	Tracking      string            `json:"tracking"`
	TrackingRules string            `json:"tracking_rules"`
	PSL           string            `json:"psl"`
	BatchRows     int               `json:"batch_rows"`
}

type promote struct {
	Param string   `json:"param"`
	Or    []string `json:"or"`
	Name  string   `json:"name"`
	Take  string   `json:"take"`
}

type canonical struct {
	Form    string   `json:"form"`
	With    []string `json:"with"`
	Without []string `json:"without"`
}

var takes = map[string]processor.Take{"first": processor.First, "last": processor.Last, "all": processor.Every}

// parseOptions reads the JSON of urlmill_processor_new. batchRows is the most rows of a batch, 0 for any number.
func parseOptions(text string) (_ processor.Options, batchRows int, _ error) {
	var o options
	if strings.TrimSpace(text) != "" {
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&o); err != nil {
			return processor.Options{}, 0, fmt.Errorf("options: %w", err)
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return processor.Options{}, 0, errors.New("options: there is more behind the object")
		}
	}
	out := processor.Options{
		URL: o.URL, Base: o.Base, BaseURL: o.BaseURL, Carry: o.Carry,
		Include: o.Include, Exclude: o.Exclude, Rename: o.Rename, Profile: o.Profile,
	}
	var errs []error
	if o.BatchRows < 0 {
		errs = append(errs, fmt.Errorf("options: batch_rows is %d; give a number from 1 on, or 0 for any", o.BatchRows))
	}
	out.ParamsAsMap = choose(&errs, "params", o.Params, "list", "map") == "map"
	out.Tracking = choose(&errs, "tracking", o.Tracking, "keep", "separate") == "separate"
	for _, p := range o.Promote {
		out.Promote = append(out.Promote, processor.Promoted{
			Params: append([]string{p.Param}, p.Or...), Name: cmp.Or(p.Name, p.Param),
			Take: takes[choose(&errs, "promote: take", p.Take, "first", "last", "all")],
		})
	}
	if o.Canonical != nil {
		out.Canonical = o.Canonical.options(&errs)
	}
	if o.TrackingRules != "" {
		rules, err := os.ReadFile(o.TrackingRules)
		if err == nil {
			out.Rules, err = tracking.Parse(string(rules))
		}
		errs = append(errs, of("tracking_rules", err))
	}
	if o.PSL != "" {
		list, err := os.ReadFile(o.PSL)
		if err == nil {
			out.PSL, err = psl.Parse(bytes.NewReader(list))
		}
		errs = append(errs, of("psl", err))
	}
	return out, o.BatchRows, errors.Join(errs...)
}

func of(option string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("options: %s: %w", option, err)
}

// choose returns value, or the first choice where it is empty.
func choose(errs *[]error, option, value string, choices ...string) string {
	if value == "" {
		return choices[0]
	}
	if !slices.Contains(choices, value) {
		*errs = append(*errs, fmt.Errorf("options: %s is %q; it is one of %s", option, value, strings.Join(choices, ", ")))
		return choices[0]
	}
	return value
}

func (c *canonical) options(errs *[]error) *canon.Options {
	form, err := canon.ParseForm(cmp.Or(c.Form, "dedupe"))
	*errs = append(*errs, of("canonical", err))
	out := &canon.Options{Form: form}
	steps := func(names []string) (all canon.Step) {
		for _, name := range names {
			step, err := canon.ParseStep(name)
			*errs = append(*errs, of("canonical", err))
			all |= step
		}
		return all
	}
	out.With, out.Without = steps(c.With), steps(c.Without)
	return out
}
