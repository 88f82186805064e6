package doctest

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// results reads a file of benchmarks/results.
func results[T any](t *testing.T, name string) (report T) {
	t.Helper()
	if err := json.Unmarshal([]byte(read(t, filepath.Join(root, "benchmarks", "results", name))), &report); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return report
}

// coreReport is core.json: what make bench-core has measured.
type coreReport struct {
	Corpora []struct {
		Name  string  `json:"name"`
		Bytes float64 `json:"mean_bytes"`
	} `json:"corpora"`
	Results []struct {
		Corpus string  `json:"corpus"`
		Peer   string  `json:"peer"`
		Ns     float64 `json:"ns_min"`
	} `json:"results"`
}

// of returns the time of a peer for a URL, 0 if it was not measured.
func (r *coreReport) of(corpus, peer string) float64 {
	for _, m := range r.Results {
		if m.Corpus == corpus && m.Peer == peer {
			return m.Ns
		}
	}
	return 0
}

func (r *coreReport) bytes(corpus string) float64 {
	for _, c := range r.Corpora {
		if c.Name == corpus {
			return c.Bytes
		}
	}
	return 0
}

// jobsReport is e2e.json: what make bench-e2e has measured.
type jobsReport struct {
	Results []struct {
		Job     string  `json:"job"`
		System  string  `json:"system"`
		Codec   string  `json:"codec"`
		Rows    float64 `json:"rows"`
		Rate    float64 `json:"rows_per_s"`
		CPU     float64 `json:"cpu_ns_per_row"`
		RSS     float64 `json:"peak_rss_mb"`
		Bytes   float64 `json:"out_bytes"`
		Speedup float64 `json:"urlmill_speedup"`
		Version string  `json:"version"`
	} `json:"results"`
}

// says checks that a page has a text, wherever its lines break.
func says(t *testing.T, page, want string) {
	t.Helper()
	text := strings.Join(strings.Fields(read(t, filepath.Join(root, filepath.FromSlash(page)))), " ")
	if !strings.Contains(text, want) {
		t.Errorf("by the results of the benchmark, %s has to say: %s", page, want)
	}
}

// TestSpeedOfReadme compares what README says of the speed with the results of the benchmarks.
func TestSpeedOfReadme(t *testing.T) {
	core, jobs := results[coreReport](t, "core.json"), results[jobsReport](t, "e2e.json")
	web, browser := core.of("web", "urlmill_full"), core.of("browser", "urlmill_full")
	says(t, "README.md", fmt.Sprintf("On one core, a %.0f-byte URL becomes all of its columns in %.0f ns, a %.0f-byte one in %.0f ns. Go's net/url with "+
		"x/net/publicsuffix and ParseQuery takes %.0f and %.0f times as long, Ada's parser alone %.1f and %.1f times.",
		core.bytes("web"), web, core.bytes("browser"), browser, core.of("web", "go_stdlib_job")/web, core.of("browser", "go_stdlib_job")/browser,
		core.of("web", "ada_url_aggregator")/web, core.of("browser", "ada_url_aggregator")/browser))
	cpu, speedup := map[string]float64{}, map[string]float64{}
	for _, r := range jobs.Results {
		cpu[r.Job+" "+r.System], speedup[r.Job+" "+r.System] = r.CPU, r.Speedup
	}
	says(t, "README.md", fmt.Sprintf("urlmill writes %.1f times the rows a second of a program of kafka-go's Reader, net/url and pqarrow on the same two "+
		"cores, and %.1f times from an imitated broker, where that program takes %.1f times the CPU time.",
		speedup["kafka_real naive_go"], speedup["kafka naive_go"], cpu["kafka naive_go"]/cpu["kafka urlmill"]))
}

// TestJobs compares the table of docs/performance.md with the results of make bench-e2e.
func TestJobs(t *testing.T) {
	for _, r := range results[jobsReport](t, "e2e.json").Results {
		says(t, "docs/performance.md", fmt.Sprintf("| %s | `%s` | %s | %.2f (%.1f) | %.0f | %.0f | %.1f | %s |",
			r.Job, r.System, r.Codec, r.Rate/1e6, r.Speedup, r.CPU, r.RSS, r.Bytes/r.Rows, r.Version))
	}
}

// dedupeReport is the result of make dedupe-100m, and of make dedupe-1b.
type dedupeReport struct {
	Found int64 `json:"found_duplicates"`
	Steps []struct {
		Rows   int64   `json:"rows"`
		Rate   int64   `json:"rows_per_s"`
		CPU    float64 `json:"cpu_ns_per_row"`
		Memory float64 `json:"memory_bytes"`
		State  float64 `json:"state_bytes"`
	} `json:"steps"`
}

// TestDedupeSteps compares the tables of docs/dedupe.md and docs/design/dedupe.md with the results of make dedupe-100m and make dedupe-1b.
func TestDedupeSteps(t *testing.T) {
	mebibytes := func(n float64) string { return thousands(int64(n/(1<<20) + 0.5)) }
	for _, s := range results[dedupeReport](t, "dedupe.json").Steps {
		says(t, "docs/dedupe.md", fmt.Sprintf("| %d M | %s | %.1f µs | %s MiB |", s.Rows/1e6, thousands(s.Rate), s.CPU/1e3, mebibytes(s.State)))
	}
	billion := results[dedupeReport](t, "dedupe-billion.json")
	says(t, "docs/design/dedupe.md", fmt.Sprintf("**%s duplicates were found**", thousands(billion.Found)))
	for _, s := range billion.Steps {
		if s.Rows%100_000_000 == 0 {
			says(t, "docs/design/dedupe.md", fmt.Sprintf("| %d M | %s | %.1f µs | %s MiB | %s MiB |",
				s.Rows/1e6, thousands(s.Rate), s.CPU/1e3, mebibytes(s.Memory), mebibytes(s.State)))
		}
	}
}

// TestSeen compares the table of docs/dedupe.md with the results of make bench-seen.
func TestSeen(t *testing.T) {
	report := results[struct {
		Systems []struct {
			Name   string  `json:"name"`
			Rate   float64 `json:"rows_per_s"`
			CPU    float64 `json:"cpu_us_per_row"`
			Memory int64   `json:"peak_memory_bytes"`
			State  int64   `json:"state_bytes"`
			Lost   int64   `json:"lost_pages"`
			Passed int64   `json:"passed_duplicates"`
		} `json:"systems"`
	}](t, "seen.json")
	if len(report.Systems) != 5 {
		t.Errorf("%d systems", len(report.Systems))
	}
	for _, s := range report.Systems {
		says(t, "docs/dedupe.md", fmt.Sprintf("| %s | %.2f | %s | %d | %d | %s | %s |",
			s.Name, s.CPU, thousands(int64(s.Rate+0.5)), s.Memory>>20, s.State>>20, thousands(s.Lost), thousands(s.Passed)))
	}
}

// TestKeys compares the tables of docs/performance.md with the results of make bench-keys.
func TestKeys(t *testing.T) {
	report := results[struct {
		Sets []struct {
			Keys    int64   `json:"keys"`
			Filter  float64 `json:"filter_bits"`
			Filters float64 `json:"run_filters_bits"`
			Hot     float64 `json:"hot_bits"`
			Indexes float64 `json:"index_bits"`
			Tables  float64 `json:"tables_bits_mean"`
			Most    float64 `json:"tables_bits_most"`
			Disk    float64 `json:"disk_bytes"`
			Written float64 `json:"written_bytes"`
			Add     float64 `json:"cpu_ns_to_add"`
		} `json:"sets"`
		Lookups []struct {
			Store string  `json:"store"`
			Keys  int64   `json:"keys"`
			What  string  `json:"what"`
			Ns    float64 `json:"cpu_ns"`
			Rate  float64 `json:"per_cpu_s"`
		} `json:"lookups"`
		Restores []struct {
			Where   string  `json:"where"`
			Keys    int64   `json:"keys"`
			Runs    int64   `json:"runs"`
			Bytes   float64 `json:"fetched_bytes_per_key"`
			Seconds float64 `json:"seconds"`
			CPU     float64 `json:"cpu_s_per_million"`
			Heap    float64 `json:"heap_bits"`
		} `json:"restores"`
	}](t, "keys.json")
	for _, m := range report.Sets {
		says(t, "docs/performance.md", fmt.Sprintf("| %d M | %.1f | %.1f | %.2f | %.2f | %.2f | %.2f | %.1f | %.1f | %.0f |",
			m.Keys/1e6, m.Filter, m.Filters, m.Hot, m.Indexes, m.Tables, m.Most, m.Disk, m.Written, m.Add))
	}
	for _, l := range report.Lookups {
		says(t, "docs/performance.md", fmt.Sprintf("| `%s` | %d M | %s | %.0f | %.1f |", l.Store, l.Keys/1e6, l.What, l.Ns, l.Rate/1e6))
	}
	for _, r := range report.Restores {
		says(t, "docs/performance.md", fmt.Sprintf("| %s | %d M | %d | %.1f | %.2f | %.3f | %.1f |", r.Where, r.Keys/1e6, r.Runs, r.Bytes, r.Seconds, r.CPU, r.Heap))
	}
	if len(report.Sets) != 2 || len(report.Lookups) != 12 || len(report.Restores) != 6 {
		t.Errorf("%d sets, %d look-ups, %d restores", len(report.Sets), len(report.Lookups), len(report.Restores))
	}
}

// thousands writes a number with commas.
func thousands(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

var (
	peerRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\|(.*)\\|$")
	cell    = regexp.MustCompile(`^ (\d+(?:\.(\d+))?)(?: \((\d+\.\d)\))? $`)
)

// TestPeers compares the tables of docs/performance.md whose columns are lists of URLs with the results of make bench-core.
func TestPeers(t *testing.T) {
	core, cells := results[coreReport](t, "core.json"), 0
	for _, table := range strings.Split(read(t, filepath.Join(root, "docs", "performance.md")), "\n\n") {
		head, _, _ := strings.Cut(table, "\n")
		if !strings.HasPrefix(head, "| | web | browser | unseen | web-dirty |") {
			continue
		}
		corpora := strings.Split(strings.Trim(head, "| "), " | ")
		base := "urlmill_full"
		if strings.Contains(table, "`urlmill_parse`") {
			base = "urlmill_parse"
		}
		for _, row := range peerRow.FindAllStringSubmatch(table, -1) {
			for i, text := range strings.Split(row[2], "|") {
				ns, m := core.of(corpora[i], row[1]), cell.FindStringSubmatch(text)
				if m == nil || m[1] != strconv.FormatFloat(ns, 'f', len(m[2]), 64) || m[3] != "" && m[3] != fmt.Sprintf("%.1f", ns/core.of(corpora[i], base)) {
					t.Errorf("%s, %s: %q, measured %.1f ns, %.2f times %s", row[1], corpora[i], text, ns, ns/core.of(corpora[i], base), base)
				}
				cells++
			}
		}
	}
	if cells < 50 {
		t.Errorf("%d figures in the tables", cells)
	}
}

// TestCrawl compares the table of docs/crawl.md with the results of make crawl.
func TestCrawl(t *testing.T) {
	type measure struct {
		Name   string  `json:"name"`
		Rate   float64 `json:"content_mb_per_cpu_s"`
		Memory int64   `json:"peak_memory_bytes"`
	}
	r := results[struct {
		Stages []measure `json:"stages"`
		Peers  []measure `json:"peers"`
		Gunzip float64   `json:"share_of_gunzip"`
	}](t, "crawl.json")
	text, rows := read(t, filepath.Join(root, "docs", "crawl.md")), 0
	for _, m := range append(r.Stages, r.Peers...) {
		if row := fmt.Sprintf("| %s | %.0f | %d |", m.Name, m.Rate, m.Memory>>20); strings.Contains(text, "| "+m.Name+" |") {
			if rows++; !strings.Contains(strings.ReplaceAll(text, "| |\n", "| 0 |\n"), row) {
				t.Errorf("measured: %s", row)
			}
		}
	}
	if share := fmt.Sprintf("takes %.0f %% of the CPU time", 100*r.Gunzip); rows < 6 || !strings.Contains(text, share) {
		t.Errorf("%d rows; measured: %s", rows, share)
	}
}

// TestEnrich compares the table of docs/performance.md with the results of make bench-enrich.
func TestEnrich(t *testing.T) {
	report := results[struct {
		Groups []struct {
			Name    string `json:"name"`
			Results []struct {
				Name   string  `json:"name"`
				Ns     float64 `json:"ns_min"`
				Allocs float64 `json:"allocs"`
			} `json:"results"`
		} `json:"groups"`
	}](t, "enrich.json")
	for _, g := range report.Groups {
		for _, r := range g.Results {
			says(t, "docs/performance.md", fmt.Sprintf("| %s | %s | %s | %.1f | %.1f |", g.Name, r.Name, thousands(int64(r.Ns+0.5)), r.Ns/g.Results[0].Ns, r.Allocs))
		}
	}
	if len(report.Groups) != 6 {
		t.Errorf("%d groups", len(report.Groups))
	}
}

// TestCalls compares the table of docs/plugins/README.md with the results of make bench-calls.
func TestCalls(t *testing.T) {
	report := results[struct {
		Results []struct {
			Host    string `json:"host"`
			Columns string `json:"columns"`
			Calls   []struct {
				Rows  int     `json:"rows"`
				Times float64 `json:"times"`
			} `json:"calls"`
		} `json:"results"`
	}](t, "calls.json")
	rows := map[string]string{
		"Go, View": "Go, `View`", "Go, Process or Parse": "Go, `Parse`", "urlmill.parse of an array": "Python, `urlmill.parse` of an array",
		"urlmill.parse of a list": "of a list", "map_batches, a batch": "`map_batches`, a batch",
		"table, a batch of batch_rows": "`Parser.table`, a batch of `batch_rows`", "Polars, an expression": "Polars, an expression",
		"pandas, a series": "pandas, a series", "DuckDB, a query": "DuckDB, a query",
	}
	short := func(times float64) string {
		if times >= 10 {
			return fmt.Sprintf("%.0f", times)
		}
		return fmt.Sprintf("%.1f", times)
	}
	if len(report.Results) != 2*len(rows) {
		t.Errorf("%d results, want those of %d hosts with three columns and with all", len(report.Results), len(rows))
	}
	for i := 0; i+1 < len(report.Results); i += 2 {
		three, all := report.Results[i], report.Results[i+1]
		if three.Host != all.Host || three.Columns != "three" || all.Columns != "all" || rows[three.Host] == "" {
			t.Errorf("%s, %s columns, and %s, %s", three.Host, three.Columns, all.Host, all.Columns)
			continue
		}
		line := "| " + rows[three.Host] + " |"
		for k, c := range three.Calls[:len(three.Calls)-1] { // the last one is what the others are compared with
			line += " " + short(c.Times) + " / " + short(all.Calls[k].Times) + " |"
		}
		says(t, "docs/plugins/README.md", line)
	}
}

// TestStores compares the tables of docs/performance.md with the results of make bench-store.
func TestStores(t *testing.T) {
	report := results[struct {
		Results []struct {
			Format  string             `json:"format"`
			System  string             `json:"system"`
			MB      float64            `json:"mb_per_cpu_s"`
			Ratio   float64            `json:"urlmill_ratio"`
			Wall    float64            `json:"mb_per_s"`
			RSS     float64            `json:"peak_rss_mb"`
			Bytes   float64            `json:"parquet_bytes_per_row"`
			Version string             `json:"version"`
			Shares  map[string]float64 `json:"cpu_shares"`
		} `json:"results"`
		Sinks []struct {
			Store    string  `json:"store"`
			By       string  `json:"by"`
			MB       float64 `json:"mb_per_s"`
			CPU      float64 `json:"mb_per_cpu_s"`
			Requests float64 `json:"requests_per_gb"`
		} `json:"sinks"`
	}](t, "store.json")
	for _, r := range report.Results {
		says(t, "docs/performance.md", fmt.Sprintf("| %s | %s | %.1f | %.2f | %.1f | %.0f | %.1f | %s |",
			r.Format, r.System, r.MB, r.Ratio, r.Wall, r.RSS, r.Bytes, r.Version))
		if r.Shares == nil {
			continue
		}
		row := "| " + r.Format
		for _, part := range []string{"gunzip", "codec", "parse", "encode", "zstd", "network", "rest"} {
			row += fmt.Sprintf(" | %.0f %%", r.Shares[part]*100)
		}
		says(t, "docs/performance.md", row+" |")
	}
	for _, s := range report.Sinks {
		says(t, "docs/performance.md", fmt.Sprintf("| %s | %s | %.0f | %.0f | %.0f |", s.Store, s.By, s.MB, s.CPU, s.Requests))
	}
}

// TestLoads compares the table of docs/performance.md with the results of make bench-load.
func TestLoads(t *testing.T) {
	for _, r := range results[struct {
		Results []struct {
			Database  string  `json:"database"`
			Version   string  `json:"version"`
			Way       string  `json:"way"`
			Seconds   float64 `json:"seconds_per_million"`
			Client    float64 `json:"client_cpu_seconds_per_million"`
			ByHand    float64 `json:"by_hand"`
			CPU       float64 `json:"cpu_seconds_per_million"`
			CPUByHand float64 `json:"cpu_by_hand"`
		} `json:"results"`
	}](t, "load.json").Results {
		says(t, "docs/performance.md", fmt.Sprintf("| %s %s | %s | %.1f (%.2f) | %.2f (%.2f) | %.2f |",
			r.Database, r.Version, r.Way, r.Seconds, r.ByHand, r.CPU, r.CPUByHand, r.Client))
	}
}

// lakeReport is what the pages have of the results of make bench-lake.
type lakeReport struct {
	Results []struct {
		Form     string  `json:"form"`
		Rows     float64 `json:"rows_per_cpu_s"`
		MB       float64 `json:"mb_per_cpu_s"`
		CPU      float64 `json:"cpu_s_per_million_rows"`
		Files    float64 `json:"files_per_gb"`
		Requests float64 `json:"http_requests_per_gb"`
		Out      float64 `json:"out_mb_per_gb"`
		Dollars  float64 `json:"dollars_per_tb"`
		Fresh    struct {
			P50 float64 `json:"p50_s"`
			P99 float64 `json:"p99_s"`
			CPU float64 `json:"cpu"`
		} `json:"fresh"`
	} `json:"results"`
}

// TestLake compares the table of docs/performance.md with the results of make bench-lake.
func TestLake(t *testing.T) {
	for _, r := range results[lakeReport](t, "lake.json").Results {
		says(t, "docs/performance.md", fmt.Sprintf("| %s | %s | %.1f | %.2f | %.0f | %.0f | %.3f | %.1f | %.1f |",
			r.Form, thousands(int64(r.Rows+0.5)), r.MB, r.CPU, r.Requests, r.Out, r.Dollars, r.Fresh.P50, r.Fresh.P99))
	}
}

// TestSizing works out docs/sizing.md from the results of make bench-lake: cores for 500 MB/s of which six tenths are used, and how long what
// came in within ten minutes keeps them busy beside what comes in meanwhile.
func TestSizing(t *testing.T) {
	const load, used, outage = 500, 0.6, 10
	for _, r := range results[lakeReport](t, "lake.json").Results {
		cores := math.Ceil(load / r.MB / used)
		says(t, "docs/sizing.md", fmt.Sprintf("| %s | %.0f MB | %.1f | %.0f | %.0f min |", r.Form, r.MB, load/r.MB, cores, math.Ceil(outage*load/(cores*r.MB-load))))
	}
}
