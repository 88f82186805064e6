package doctest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// scheduler returns the folder of programs of the Python that "make schedulers" has made for one: that which the variable names, or the
// one in bin. Without it the test is skipped, and fails if URLMILL_REQUIRE_SCHEDULERS is 1.
func scheduler(t *testing.T, name string) string {
	t.Helper()
	venv := os.Getenv("URLMILL_" + strings.ToUpper(name) + "_VENV")
	if venv == "" {
		venv = filepath.Join(root, "bin", "venv-"+name)
	}
	bin, err := filepath.Abs(filepath.Join(venv, "bin"))
	if err == nil {
		_, err = os.Stat(filepath.Join(bin, name))
	}
	if err != nil {
		testproc.Missing(t, "URLMILL_REQUIRE_SCHEDULERS", "there is no "+name+" in "+bin+": make schedulers gets it")
	}
	return bin
}

// withUrlmill returns the environment in which urlmill and the programs of a folder are found first.
func withUrlmill(t *testing.T, bin string, more ...string) []string {
	t.Helper()
	dirs := []string{filepath.Dir(testproc.Urlmill(t)), bin, os.Getenv("PATH")}
	return append(append(os.Environ(), "PATH="+strings.Join(dirs, string(os.PathListSeparator))), more...)
}

// TestDbt runs the blocks of docs/scheduled.md that need dbt, and then with rows that have come since. Rows that are not complete leave the
// models as they are.
func TestDbt(t *testing.T) {
	bin, dir := scheduler(t, "dbt"), t.TempDir()
	shell := func(script string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
		cmd.Dir, cmd.Env = dir, withUrlmill(t, bin, "DO_NOT_TRACK=1", "HOME="+dir)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	job := ""
	for _, b := range blocks("scheduled.md", read(t, filepath.Join(root, "docs", "scheduled.md"))) {
		if !strings.HasPrefix(b.reason, "it needs dbt") {
			continue
		}
		job = b.text
		if out, err := shell(job); err != nil {
			t.Fatalf("%v\n%s\n%s", err, job, out)
		}
	}
	expect := func(want string) {
		t.Helper()
		got, err := shell(`python -c "import duckdb; print(duckdb.connect('clicks.duckdb').sql('from domains order by 1').fetchall())"`)
		if err != nil || strings.TrimSpace(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
	expect("[('example.com', 2), ('example.org', 1)]")
	if summary := read(t, filepath.Join(dir, "target", "urlmill.json")); !strings.HasPrefix(summary, `{"ended":"end","rows":4,`) {
		t.Error(summary)
	}
	if out, err := shell(`echo '{"url":"https://example.org/more"}' >> clicks.ndjson; ` + job); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	expect("[('example.com', 2), ('example.org', 2)]")
	if out, err := shell(`mv clicks.ndjson gone; ` + job); err == nil || strings.Contains(out, "Running with dbt") {
		t.Errorf("without its rows dbt has run: %v\n%s", err, out)
	}
}

// TestAirflow runs the DAG of docs/deploy in Airflow: its task reads the topic up to the end of the interval, however late it is, and is
// worth its summary. One whose end is yet to come fails.
func TestAirflow(t *testing.T) {
	bin, dir := scheduler(t, "airflow"), t.TempDir()
	k := kafkatest.Fake(t, kfake.SeedTopics(2, "clicks"))
	end := time.Date(2026, 7, 1, 5, 0, 0, 0, time.UTC)
	var records []*kgo.Record
	for i := range 40 {
		records = append(records, &kgo.Record{
			Topic: "clicks", Partition: int32(i % 2), Timestamp: end.Add(time.Duration(i-30) * time.Minute), Value: fmt.Appendf(nil, "https://example.com/%d", i),
		})
	}
	kafkatest.Produce(t, kafkatest.Client(t, k.ListenAddrs()), records)
	dags := filepath.Join(dir, "dags")
	if err := os.Mkdir(dags, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dags, "clicks.py"), strings.ReplaceAll(read(t, filepath.Join(root, "docs", "deploy", "airflow.py")), "/srv/clicks", dir), 0o600)
	env := withUrlmill(t, bin, "AIRFLOW_HOME="+dir, "AIRFLOW__CORE__LOAD_EXAMPLES=False", "AIRFLOW__CORE__DAGS_FOLDER="+dags, "NO_COLOR=1")
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, name), args...)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	driver, err := filepath.Abs(filepath.Join("testdata", "rundag.py"))
	if err != nil {
		t.Fatal(err)
	}
	run("airflow", "db", "migrate")
	text := fmt.Sprintf("source: {kafka: {brokers: [%q], topics: [clicks], group: clicks}}\nsink: {parquet: {path: %q}}\n", k.ListenAddrs()[0], filepath.Join(dir, "out"))
	write(t, filepath.Join(dir, "clicks.yaml"), text, 0o600)
	args := []string{driver, dags}
	for _, when := range []time.Time{end, end.Add(time.Hour), time.Now().Add(24 * time.Hour)} {
		args = append(args, when.Format(time.RFC3339))
	}
	out := run("python", args...)
	for _, want := range []string{`ran: success {"ended":"end","rows":30,`, `ran: success {"ended":"end","rows":10,`, "ran: failed\n", "which is yet to come"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}
