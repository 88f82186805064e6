// Command crawl writes a crawl with planted duplicates, WARC and WAT, and has urlmill make an index of it, through dedupe, while it is
// killed at random. It exits with 1 unless the index is what was planned: a row for each capture that leads back to its record, of each
// page exactly one that is no duplicate, and a dead letter for each damaged member. Then it measures the stages, and programs that do
// a part of it, in turns.
//
// Environment: QUICK=1 is 30 MB instead of 1 GB. BENCH_CRAWL_PYTHON is a Python with the packages of requirements.txt; without it
// there are no peers.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/urlmill/urlmill/benchmarks/internal/results"
)

type options struct {
	binary, dir, out, python string
	bytes                    int64
	files, kills, damaged    int
	seed                     uint64
}

// report is the JSON file.
type report struct {
	results.Head
	Stored   int64            `json:"stored_bytes"`
	Content  int64            `json:"content_bytes"`
	Captures int              `json:"captures"`
	Pages    int              `json:"pages"`
	Planted  map[string]int   `json:"planted_duplicates"`
	Damaged  int              `json:"damaged_members"`
	Kills    int              `json:"kills"`
	Stages   []measure        `json:"stages"`
	Gunzip   float64          `json:"share_of_gunzip"` // of the CPU time of the index
	Peers    []measure        `json:"peers,omitempty"`
	Keys     []map[string]any `json:"keys,omitempty"`
}

// measure is what a program took.
type measure struct {
	Name    string  `json:"name"`
	CPU     float64 `json:"cpu_s"`
	Seconds float64 `json:"seconds"`
	Memory  int64   `json:"peak_memory_bytes"`
	Rate    float64 `json:"content_mb_per_cpu_s"`
	Records int     `json:"records,omitempty"`
	Error   string  `json:"error,omitempty"`
}

func main() {
	o := options{bytes: 1 << 30, files: 8, kills: 8, damaged: 5, seed: uint64(time.Now().UnixNano()), python: os.Getenv("BENCH_CRAWL_PYTHON")}
	if os.Getenv("QUICK") != "" {
		o.bytes, o.files, o.kills = 30<<20, 4, 3
	}
	flag.StringVar(&o.binary, "binary", "../bin/urlmill", "urlmill to run")
	flag.StringVar(&o.dir, "dir", "", "folder for input, state and output, emptied in the end (default: a temporary one)")
	flag.StringVar(&o.out, "out", "", "JSON file for the result")
	flag.Int64Var(&o.bytes, "bytes", o.bytes, "of WARC")
	flag.Uint64Var(&o.seed, "seed", o.seed, "of the moments of the kills")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "crawl:", err)
		os.Exit(1)
	}
}

func run(o options) (err error) {
	dir, err := os.MkdirTemp(o.dir, "urlmill-crawl-*")
	if err != nil {
		return err
	}
	defer func() {
		if removing := os.RemoveAll(dir); err == nil {
			err = removing
		}
	}()
	p, err := generate(dir, o.bytes, o.files)
	if err != nil {
		return err
	}
	r := report{Head: results.NewHead(), Stored: p.stored, Content: p.content, Captures: len(p.pages), Pages: p.first, Planted: p.kinds, Damaged: o.damaged}
	fmt.Printf("%d captures of %d pages, %.0f MB of WARC with %.0f MB in it\n", r.Captures, r.Pages, float64(r.Stored)/1e6, float64(r.Content)/1e6)
	if err := o.measureStages(dir, p, &r); err != nil {
		return err
	}
	if o.python != "" {
		if err := o.peers(dir, p, &r); err != nil {
			return err
		}
	}
	if err := p.damage(dir, o.damaged); err != nil {
		return err
	}
	if r.Kills, err = o.killed(dir); err != nil {
		return err
	}
	if err := p.check(dir); err != nil {
		return fmt.Errorf("with -seed %d: %w", o.seed, err)
	}
	fmt.Printf("killed %d times: the index is as planned, %d duplicates in %d ways, %d damaged members\n", r.Kills, r.Captures-r.Pages, len(p.kinds), r.Damaged)
	if o.out != "" {
		return results.Write(o.out, &r)
	}
	return nil
}

const configText = `
source:
  file: {paths: ["%[1]s/warc"], parallel: 2}
  codec: {warc: {}}
columns:
  profile: cc_index
  canonical: {form: dedupe}
on_error: dead_letter
dedupe: {path: "%[1]s/seen", memory: 32MiB}
sink:
  parquet: {path: "%[1]s/%[2]s", dead_letters: "%[1]s/%[2]s-dead", sort_by: [url_surtkey, fetch_time]}
  roll: {rows: 2000, every: 0s}
memory_limit: 512MiB
`

func (o options) configure(dir, name string) (string, error) {
	path := filepath.Join(dir, name+".yaml")
	return path, os.WriteFile(path, fmt.Appendf(nil, configText, dir, name), 0o600)
}

// killed runs urlmill until it has ended by itself, and kills it at random before.
func (o options) killed(dir string) (kills int, err error) {
	config, err := o.configure(dir, "index")
	if err != nil {
		return 0, err
	}
	if err := os.RemoveAll(filepath.Join(dir, "seen")); err != nil { // of the measurement
		return 0, err
	}
	random := rand.New(rand.NewPCG(o.seed, 1))
	longest := 300*time.Millisecond + time.Duration(o.bytes/(64<<20))*time.Second
	for {
		cmd := exec.Command(o.binary, "run", config)
		var log strings.Builder
		cmd.Stderr = &log
		if err := cmd.Start(); err != nil {
			return kills, err
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		var moment <-chan time.Time
		if kills < o.kills {
			moment = time.After(time.Duration(random.Int64N(int64(longest))) + 50*time.Millisecond)
		}
		select {
		case err := <-ended:
			if err != nil {
				return kills, fmt.Errorf("urlmill run: %w\n%s", err, &log)
			}
			return kills, nil
		case <-moment:
			kills++
			_ = cmd.Process.Kill()
			<-ended //nolint:errcheck // it was killed
		}
	}
}

// peers runs the programs of peers.py over the first archive.
func (o options) peers(dir string, p *plan, r *report) error {
	first := filepath.Join(dir, "warc", "crawl-000.warc.gz")
	info, err := os.Stat(first)
	if err != nil {
		return err
	}
	content := float64(p.content) * float64(info.Size()) / float64(p.stored)
	ours := filepath.Join(dir, "ours")
	for _, args := range [][]string{
		{"parse", "-q", "--to", "cdxj", first},
		{"parse", "-q", "--to", "ndjson", "--canonical", "surt-cc", "--columns", "url,canonical_url,url_error", first},
	} {
		m, err := o.measure("urlmill "+strings.Join(args[2:len(args)-1], " "), ours+"."+args[3], content, o.binary, args...)
		if err != nil {
			return err
		}
		r.Peers = append(r.Peers, m)
	}
	cmd := exec.Command(o.python, "crawl/peers.py", first, ours+".cdxj", ours+".ndjson")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("peers.py: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, `{"keys"`) {
			var keys map[string]any
			if err := json.Unmarshal([]byte(line), &keys); err != nil {
				return err
			}
			r.Keys = append(r.Keys, keys)
			fmt.Print(line)
			continue
		}
		var m measure
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			return err
		}
		m.Rate = content / 1e6 / m.CPU
		m.print()
		r.Peers = append(r.Peers, m)
	}
	return nil
}
