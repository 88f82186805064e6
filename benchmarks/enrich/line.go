package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/urlmill/urlmill/internal/dev/agentlist"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/enrich"
	"github.com/urlmill/urlmill/pipeline/privacy"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/accesslog"
)

// lines are lines of the Combined Log Format, whose user agents and addresses are those of a log: few have most of the lines.
func lines(n int) [][]byte {
	r := rand.New(rand.NewPCG(seed, 6))
	texts, clients := agentlist.Stream(agentlist.Distinct(distinctAgents, seed), n, seed), clientAddresses(4*distinctAgents)
	all := make([][]byte, n)
	for i, v := range views(n) {
		client := clients[int(math.Pow(float64(len(clients)), r.Float64()))-1]
		if v.referrer == "" {
			v.referrer = "-"
		}
		all[i] = fmt.Appendf(nil, `%s - - [23/Nov/2026:12:%02d:%02d +0000] "GET %s HTTP/1.1" 200 %d "%s" "%s"`, client, i/60%60, i%60, v.target, r.IntN(100_000), v.referrer, texts[i])
	}
	return all
}

// step is a plan with all that the steps before it have, and one thing more.
type step struct {
	name string
	add  func(o *urlcols.Options)
}

// lineGroups are the steps of a line: the codec, all columns of its URL, and those of each group.
func lineGroups(folder string, _ int) ([]group, func(), error) {
	factory, err := accesslog.New(accesslog.Options{Format: "combined", Base: "https://www.example.com"})
	if err != nil {
		return nil, nil, err
	}
	g := group{Name: "line of the Combined Log Format"}
	all := lines(logRows)
	options := urlcols.Options{Carried: factory.Fields(), HasBase: factory.HasBase(), KeepsRecords: factory.KeepsRecords()}
	acquisition, agent := enrich.Default(), enrich.DefaultUserAgent()
	countries, networks := placeFiles(folder)
	steps := []step{
		{"codec and columns of the URL", func(*urlcols.Options) {}},
		{"and acquisition", func(o *urlcols.Options) { o.Acquisition = &acquisition }},
		{"and user agent", func(o *urlcols.Options) { o.UserAgent = &agent }},
		{"and address", func(o *urlcols.Options) { o.Address = &enrich.Address{Files: []string{countries, networks}} }},
	}
	policy, err := privacy.New(privacy.Default())
	if err != nil {
		return nil, nil, err
	}
	for i, s := range steps {
		s.add(&options)
		plan, err := urlcols.New(options)
		if err != nil {
			return nil, nil, err
		}
		g.add(s.name, len(all), lineJob(factory.New(), plan.NewTransform(), all))
		if i == len(steps)-1 {
			g.add("and redaction: all", len(all), lineJob(factory.New(), policy.Transforms(plan.NewTransform)(), all))
		}
	}
	return []group{g}, func() {}, nil
}

// lineJob decodes the lines in batches, of which the transform makes columns.
func lineJob(c codec.Codec, t pipeline.Transform, all [][]byte) func() {
	b := new(pipeline.Batch)
	return func() {
		for at := 0; at < len(all); at += batchRows {
			b.Reset()
			c.Prepare(b)
			for i, line := range all[at : at+batchRows] {
				c.Decode(b, line)
				b.Offsets = append(b.Offsets, int64(at+i))
			}
			out, err := t.Apply(b)
			if err != nil {
				panic(err)
			}
			if out.Invalid > 0 {
				panic(fmt.Sprintf("%d lines are wrong", out.Invalid))
			}
			for _, r := range out.Records {
				if r != nil {
					r.Release()
				}
			}
		}
	}
}
