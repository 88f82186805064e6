package itest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/icebergtest"
	"github.com/urlmill/urlmill/internal/dev/itest/readers"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

const icebergByREST = `
source:
  file: {paths: [%q]}
  codec: {ndjson: {url: /url, carry: [{name: n, pointer: /n, type: int64}, {name: ts, pointer: /ts, type: timestamp}]}}
columns: {include: [host, port, n, ts]}
pipeline: {rate: %d, batch_rows: 500}
sink:
  parquet:
    path: %q
    partition_by: [date(ts)]
    iceberg: {table: web.clicks, every: 1s, rest: {uri: %q}}
  roll: {rows: 500, every: 1s}
`

// TestIcebergOtherWriters has other programs do to a table what they do, by a real REST catalog, while urlmill adds to it and is
// killed, and while "urlmill compact --watch" merges its files and is killed as well. In the end all rows are there, once, but for
// those that were deleted.
func TestIcebergOtherWriters(t *testing.T) {
	for engine, steps := range map[string][]string{
		"pyiceberg": {"columns", "partition", "delete", "append", "branch", "expire"},
		"spark":     {"rewrite", "columns", "partition", "delete", "rewrite", "branch", "append", "expire", "orphans"},
	} {
		t.Run(engine, func(t *testing.T) {
			if engine == "spark" && (os.Getenv("URLMILL_SPARK") != "1" || os.Getenv("URLMILL_SPARK_PYTHON") == "") {
				t.Skip("Spark takes minutes: set URLMILL_SPARK=1, and URLMILL_SPARK_PYTHON to a Python with pyspark 4.0")
			}
			otherWriters(t, engine, steps)
		})
	}
}

func otherWriters(t *testing.T, engine string, steps []string) {
	const deleted = 50                                             // see the steps
	rate := map[string]int{"pyiceberg": 500, "spark": 100}[engine] // rows a second, so that there are some until the end
	rows := int64(3000 * (len(steps) + 2))
	folder, catalog := t.TempDir(), icebergtest.Start(t)
	m := &restMill{t: t, config: filepath.Join(folder, "pipeline.yaml"), records: filepath.Join(folder, "clicks.ndjson"), out: filepath.Join(folder, "lake"), catalog: catalog}
	m.produce(rows)
	run := m.start(rate, "run", m.config)
	m.advance(0, run)
	w := readers.NewWriter(t, engine, catalog, "web.clicks")
	for i, step := range steps {
		compacting := m.start(rate, "compact", m.out, "--config", m.config, "--watch", "1s", "--min-age", "3s", "--max-snapshots", "500", "--load", "100", "--log-level", "warn")
		w.Do(step)
		at := m.sequence()
		m.advance(at, run) // no commit is starved
		compacting.Kill()
		if i%2 == 0 {
			run.Kill()
			run = m.start(rate, "run", m.config)
		}
	}
	run.Kill()
	m.finish("run", m.config)
	m.finish("compact", m.out, "--config", m.config, "--min-age", "0s", "--json")
	m.finish("verify", m.out)
	got := w.Do("count")
	sum, sites := rows*(rows-1)/2-(50+99)*deleted/2, rows-deleted
	if slices.Contains(steps, "append") {
		rows, sum = rows+2, sum-3
	}
	if got.Rows != rows-deleted || got.Distinct != got.Rows || got.Sum != sum || got.Sites != sites || got.Audit == 0 {
		t.Errorf("%+v, want %d rows with the sum %d, %d of them with a host", got, rows-deleted, sum, sites)
	}
	if one := sites/7 + 1; got.One < one-5 || got.One > one+5 { // files were left out by what the table says of them
		t.Errorf("%d rows of one host, want about %d", got.One, one)
	}
	if !slices.Equal(got.Columns, []string{"site", "port", "n", "ts", "note"}) {
		t.Errorf("columns %v", got.Columns)
	}
	for _, f := range got.Files {
		if !strings.Contains(f, "/lake/dt=") && !strings.Contains(f, "/lake/_iceberg/data/") {
			t.Errorf("a reader of the folder sees %s as well", f)
		}
	}
	t.Logf("%d files, of the partition specs %v", len(got.Files), got.Specs)
}

// restMill runs urlmill on a table of a REST catalog.
type restMill struct {
	t                             *testing.T
	config, records, out, catalog string
}

func (m *restMill) produce(rows int64) {
	var lines bytes.Buffer
	for n := range rows {
		at := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * 5 * time.Second)
		fmt.Fprintf(&lines, "{\"url\":\"https://site%d.example:8443/%d\",\"n\":%d,\"ts\":%q}\n", n%7, n, n, at.Format(time.RFC3339))
	}
	if err := os.WriteFile(m.records, lines.Bytes(), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

func (m *restMill) command(rate int, args ...string) (*exec.Cmd, *testproc.Log) {
	text := fmt.Sprintf(icebergByREST, m.records, rate, m.out, m.catalog)
	if err := os.WriteFile(m.config, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
	said := new(testproc.Log)
	cmd := exec.CommandContext(m.t.Context(), testproc.Urlmill(m.t), args...)
	cmd.Stdout, cmd.Stderr = said, said
	return cmd, said
}

func (m *restMill) start(rate int, args ...string) *testproc.Process {
	m.t.Helper()
	cmd, said := m.command(rate, args...)
	p, err := testproc.Start(cmd)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		p.Kill()
		if m.t.Failed() {
			m.t.Logf("%s said:\n%s", args[0], said)
		}
	})
	return p
}

func (m *restMill) finish(args ...string) {
	m.t.Helper()
	cmd, said := m.command(0, args...)
	if err := cmd.Run(); err != nil {
		m.t.Errorf("%v: %v\n%s", args, err, said)
	} else if args[0] != "run" {
		m.t.Logf("%s", said)
	}
}

// table returns what the catalog says of the table's snapshots that urlmill has made: the sum of its positions.
func (m *restMill) positions() (sum int64, err error) {
	answer, err := http.Get(m.catalog + "/v1/namespaces/web/tables/clicks")
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	var table struct {
		Metadata struct {
			Properties map[string]string `json:"properties"`
		} `json:"metadata"`
	}
	var held map[string]int64
	if err := json.NewDecoder(answer.Body).Decode(&table); err != nil {
		return 0, err
	}
	if text := table.Metadata.Properties["urlmill.positions"]; text != "" {
		err = json.Unmarshal([]byte(text), &held)
	}
	for _, next := range held {
		sum += next
	}
	return sum, err
}

func (m *restMill) sequence() int64 {
	m.t.Helper()
	sum, err := m.positions()
	if err != nil {
		m.t.Fatal(err)
	}
	return sum
}

var errStarved = errors.New("the table gets no rows")

// advance waits until the table has more rows than up to the given positions, or the pipeline has come to its end.
func (m *restMill) advance(at int64, run *testproc.Process) {
	m.t.Helper()
	err := run.Await(2*time.Minute, func() error {
		sum, err := m.positions()
		if err == nil && sum <= at {
			err = errStarved
		}
		return err
	})
	if err != nil && !run.Ended() {
		m.t.Fatal(err)
	}
}
