package doctest

import (
	"fmt"
	"math"
	"strconv"
	"testing"
)

const (
	sparkPage      = "docs/plugins/spark.md"
	duckdbPage     = "docs/plugins/duckdb.md"
	clickhousePage = "docs/plugins/clickhouse.md"
)

// sparkReport is spark.json: what make bench-spark has measured, in CPU seconds a million rows.
type sparkReport struct {
	Systems map[string]struct {
		CPU float64 `json:"cpu"`
	} `json:"systems"`
}

// duckdbReport is duckdb.json: what make bench-duckdb has measured, for one thread and for two.
type duckdbReport struct {
	Versions map[string]string `json:"versions"`
	Results  []struct {
		Ns     map[string]float64 `json:"ns_per_row"`
		Column float64            `json:"column_alone_ns"`
		Times  map[string]float64 `json:"times_the_functions"`
	} `json:"results"`
	Border struct {
		Share float64 `json:"share"`
	} `json:"border"`
	Load float64 `json:"load_after"`
}

// clickhouseReport is clickhouse.json: what make bench-clickhouse has measured, for threads and sizes of blocks.
type clickhouseReport struct {
	Versions map[string]string `json:"versions"`
	Results  []struct {
		Threads int   `json:"threads"`
		Block   int64 `json:"block"`
		Ways    map[string]struct {
			Ns        float64 `json:"ns_per_row"`
			Processes float64 `json:"of_processes"`
			Times     float64 `json:"times_native"`
		} `json:"ways"`
	} `json:"results"`
	Load float64 `json:"load_after"`
}

// TestSparkFunctions compares the table of the SQL functions in docs/plugins/spark.md with the results of bench/spark.py.
func TestSparkFunctions(t *testing.T) {
	systems := results[sparkReport](t, "spark.json").Systems
	for _, row := range []struct{ name, label, base string }{
		{"read, nothing else", "reading the column, nothing else", ""},
		{"parse_url, three times", "`try_parse_url`, three times", "read, nothing else"},
		{"urlmill, SQL functions", "`url_host`, `url_path`, `url_query`", "read, nothing else"},
		{"urlmill, SQL functions, registrable domain as well", "the same and `url_registrable_domain`", "read, nothing else"},
		{"urlmill, mapInArrow", "`urlmill.spark.parse` (mapInArrow), three columns", "read, nothing else"},
		{"read and filter, nothing else", "reading the column and a filter", ""},
		{"urlmill, SQL functions behind a filter, registrable domain as well", "the four functions behind the filter: rows, not columns", "read and filter, nothing else"},
	} {
		r, there := systems[row.name]
		if !there {
			t.Errorf("%q was not measured", row.name)
		}
		more := "-"
		if row.base != "" {
			more = fmt.Sprintf("%.2f", r.CPU-systems[row.base].CPU)
		}
		says(t, sparkPage, fmt.Sprintf("| %s | %.2f | %s |", row.label, r.CPU, more))
	}
	for _, row := range []struct{ name, label, base string }{
		{"parse_url, three times", "`try_parse_url`, three times", ""},
		{"urlmill, mapInArrow", "`urlmill.spark.parse` (mapInArrow)", "parse_url, three times"},
		{"the column three times, mapInArrow", "the column given back three times, nothing parsed (mapInArrow)", "parse_url, three times"},
		{"urlmill, read_parquet", "`urlmill.spark.read_parquet`", "parse_url, three times"},
		{"urlmill, data source", "the data source", "parse_url, three times"},
		{"tldextract, mapInArrow", "tldextract and urllib (mapInArrow), registrable domain as well", "parse_url, three times"},
		{"parse_url to Parquet", "`try_parse_url`, three times, into Parquet", ""},
		{"urlmill, SQL functions to Parquet", "the SQL functions into Parquet", "parse_url to Parquet"},
		{"urlmill, mapInArrow to Parquet", "`urlmill.spark.parse` into Parquet", "parse_url to Parquet"},
		{"urlmill, backfill", "`urlmill.spark.backfill`", "parse_url to Parquet"},
		{"urlmill, backfill, registrable domain as well", "`urlmill.spark.backfill`, with registrable domain", "parse_url to Parquet"},
	} {
		r, times := systems[row.name], ""
		if row.base != "" {
			times = fmt.Sprintf("%.1f times as long ", systems[row.base].CPU/r.CPU)
		}
		says(t, sparkPage, fmt.Sprintf("| %s | %.2f | %s|", row.label, r.CPU, times))
	}
}

// TestDuckDBFunctions compares the speed that docs/plugins/duckdb.md tells with the results of make bench-duckdb.
func TestDuckDBFunctions(t *testing.T) {
	r := results[duckdbReport](t, "duckdb.json")
	if len(r.Results) != 2 {
		t.Fatalf("%d results, want those of one thread and of two", len(r.Results))
	}
	for _, row := range []struct{ name, label string }{
		{"functions", "`url_host`, `url_registrable_domain`, `url_path`, `url_query`"},
		{"struct", "`urlmill_parse`, the same four of its fields"},
		{"regular expressions", "four regular expressions of DuckDB; they know no public suffixes"},
		{"ClickHouse", "ClickHouse's `domain`, `cutToFirstSignificantSubdomain`, `path`, `queryString` (chdb), which are not the standard"},
		{"host alone", "`url_host` alone"},
	} {
		line := "| " + row.label + " |"
		for _, m := range r.Results {
			line += fmt.Sprintf(" %.0f ns", m.Ns[row.name])
			if times := m.Times[row.name]; times > 0 {
				line += fmt.Sprintf(" (%.1f times)", times)
			}
			line += " |"
		}
		says(t, duckdbPage, line)
	}
	says(t, duckdbPage, fmt.Sprintf("DuckDB %s, two cores with a load of %.0f;", r.Versions["duckdb"], r.Load))
	says(t, duckdbPage, fmt.Sprintf("Of the functions' time %.0f %% is not parsing but the border", 100*r.Border.Share))
}

// TestClickHouseFunctions compares the speed that docs/plugins/clickhouse.md tells with the results of make bench-clickhouse.
func TestClickHouseFunctions(t *testing.T) {
	r := results[clickhouseReport](t, "clickhouse.json")
	for _, row := range []struct{ name, label string }{
		{"native", "`protocol`, `domain`, `cutToFirstSignificantSubdomain`, `path`"},
		{"Native", "the same four columns in `Native`"},
		{"RowBinary", "in `RowBinary` with `--chunk-header`"},
		{"ArrowStream", "in `ArrowStream`"},
		{"native, host alone", "`domain` alone"},
		{"Native, host alone", "`host` alone in `Native`"},
	} {
		line := "| " + row.label + " |"
		for _, m := range r.Results {
			if m.Block != r.Results[0].Block {
				continue
			}
			way := m.Ways[row.name]
			line += fmt.Sprintf(" %.0f ns", way.Ns)
			if way.Times != 1 {
				line += fmt.Sprintf(" (%.1f times)", way.Times)
			}
			line += " |"
		}
		says(t, clickhousePage, line)
	}
	four, one := r.Results[0].Ways["Native"], r.Results[0].Ways["Native, host alone"]
	says(t, clickhousePage, fmt.Sprintf("ClickHouse %s (chdb %s), blocks of %s rows, two cores with a load of %.0f.",
		r.Versions["clickhouse"], r.Versions["chdb"], thousands(r.Results[0].Block), r.Load))
	says(t, clickhousePage, fmt.Sprintf("%.0f ns of the %.0f in `Native` are the process's", four.Processes, four.Ns))
	says(t, clickhousePage, fmt.Sprintf("four columns take %.1f times what one takes", four.Ns/one.Ns))
}

// TestSizingOfEngines works out the sizing on the page of each engine from what a million rows take there.
func TestSizingOfEngines(t *testing.T) {
	systems := results[sparkReport](t, "spark.json").Systems
	spark, read := systems["urlmill, SQL functions, registrable domain as well"].CPU, systems["read, nothing else"].CPU
	says(t, sparkPage, fmt.Sprintf("the four functions take %.2f CPU seconds a million rows with the reading of a Parquet column, %.2f of them more than reading.", spark, spark-read))
	says(t, sparkPage, fmt.Sprintf("add %.2f s, and put the sum in the place of %.2f.", spark-read, spark))
	sized(t, sparkPage, "%.2f", spark)

	duck := results[duckdbReport](t, "duckdb.json").Results[0]
	sum := (duck.Ns["functions"] + duck.Column) / 1e3
	says(t, duckdbPage, fmt.Sprintf("The four functions take %.0f ns a row on one thread and reading the column of a table %.0f ns, together %.3f CPU seconds a million rows.",
		duck.Ns["functions"], duck.Column, sum))
	sized(t, duckdbPage, "%.3f", sum)

	click := results[clickhouseReport](t, "clickhouse.json").Results[0].Ways["Native"].Ns
	says(t, clickhousePage, fmt.Sprintf("In `Native` on one thread the four columns take %.0f ns a row more than reading, which is %.3f CPU seconds a million rows.", click, click/1e3))
	sized(t, clickhousePage, "%.3f", click/1e3)
}

// sized checks the table of a page for work that takes so many CPU seconds a million rows: Common Crawl's index in one go on 16 cores, and a topic
// of 500 MB/s. Six tenths of a core are used.
func sized(t *testing.T, page, format string, seconds float64) {
	t.Helper()
	const (
		index, cores = 3000.0, 16 // million URLs
		topic        = 500.0 / 402
		used         = 0.6
		price        = 0.04 // dollars for an hour of a vCPU
	)
	per := fmt.Sprintf(format, seconds)
	seconds, err := strconv.ParseFloat(per, 64) // what a reader reckons with
	if err != nil {
		t.Fatal(err)
	}
	all := index * seconds
	sum := thousands(int64(math.Round(all)))
	says(t, page, fmt.Sprintf("| a month of Common Crawl's index | 3 x 10^9 | %s x %s = %s s | %s / (%d x %.1f) = %.0f s on %d cores | %s / 3,600 / %.1f x %.2f = %.3f dollars |",
		thousands(index), per, sum, sum, cores, used, all/cores/used, cores, sum, used, price, all/3600/used*price))
	busy := topic * seconds
	whole := math.Ceil(busy / used)
	says(t, page, fmt.Sprintf("| 500 / 402 = %.2f million a second | %.2f x %s = %.2f s a second | %.2f / %.1f = %.1f, so %.0f | %.0f x 24 x %.2f = %.2f dollars a day |",
		topic, topic, per, busy, busy, used, busy/used, whole, whole, price, whole*24*price))
}
