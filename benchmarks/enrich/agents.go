package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/ua-parser/uap-go/uaparser"

	"github.com/urlmill/urlmill/benchmarks/internal/native"
	"github.com/urlmill/urlmill/benchmarks/internal/turns"
	"github.com/urlmill/urlmill/internal/dev/agentlist"
	"github.com/urlmill/urlmill/pipeline/enrich/agents"
)

// Sink keeps results from being dropped by the compiler.
var Sink int

const (
	// distinctAgents are how many user agents a log has, and logRows its rows.
	distinctAgents = 4000
	logRows        = 1 << 16
)

// agentGroups look up user agents of which each is new, and those of a log. Ours finds bots and classes of devices as well.
func agentGroups(folder string, rows int) ([]group, func(), error) {
	list := agentlist.Distinct(distinctAgents, seed)
	fresh, log := list[:rows], agentlist.Stream(list, logRows, seed)
	logBytes := make([][]byte, len(log))
	for i, text := range log {
		logBytes[i] = []byte(text)
	}
	plain, err := uaparser.New(uaparser.WithCacheSize(1))
	if err != nil {
		return nil, nil, err
	}
	cached, err := uaparser.New(uaparser.WithCacheSize(2 * distinctAgents))
	if err != nil {
		return nil, nil, err
	}
	uapGo := func(p *uaparser.Parser, texts []string) func() {
		return func() {
			for _, text := range texts {
				Sink += len(p.ParseUserAgent(text).Family) + len(p.ParseOs(text).Family) + len(p.ParseDevice(text).Family)
			}
		}
	}
	rules, scanner := agents.Default(), new(agents.Scanner)
	cache := agents.NewCache(rules, 8<<20)
	first, again := group{Name: "user agent, new"}, group{Name: "user agent, of a log"}
	first.add("urlmill", len(fresh), func() {
		for _, text := range fresh {
			Sink += len(rules.New(scanner, text).Browser)
		}
	})
	first.add("uap-go", len(fresh), uapGo(plain, fresh))
	again.add("urlmill", len(log), func() {
		for _, text := range logBytes {
			Sink += len(cache.Find(scanner, text).Browser)
		}
	})
	again.add("uap-go with a cache", len(log), uapGo(cached, log))
	stop := func() {}
	if program := os.Getenv("PEERS"); program != "" {
		core := filepath.Join(folder, "regexes.yaml")
		if err := os.WriteFile(core, uaparser.DefinitionYaml, 0o600); err != nil {
			return nil, nil, err
		}
		n, err := native.Start(program, []byte(strings.Join(fresh, "\n")+"\n"), "UAP_CORE="+core)
		if err != nil {
			return nil, nil, err
		}
		first.jobs = append(first.jobs, &turns.Job{Result: turns.Result{Name: "uap-rust"}, Rows: len(fresh), Pass: n.Pass("uap_rust")})
		stop = n.Stop
	}
	return []group{first, again}, stop, nil
}
