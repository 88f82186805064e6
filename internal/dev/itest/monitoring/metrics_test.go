package monitoring

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

var (
	root     = filepath.Join("..", "..", "..", "..")
	alerts   = filepath.Join(root, "docs", "deploy", "prometheus", "alerts.yaml")
	promQL   = parser.NewParser(parser.Options{})
	dashName = filepath.Join(root, "docs", "deploy", "grafana", "urlmill.json")
)

// metric is what a mill says of a metric.
type metric struct {
	labels map[string]bool
	// values are those of each label.
	values map[string]map[string]bool
}

// series returns the metrics of a text in Prometheus' format, by the names that queries use.
func series(t *testing.T, text []byte) map[string]metric {
	t.Helper()
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]metric{}
	add := func(name string, labels map[string]string) {
		m, ok := all[name]
		if !ok {
			m = metric{map[string]bool{"job": true, "instance": true}, map[string]map[string]bool{}}
			all[name] = m
		}
		for k, v := range labels {
			m.labels[k] = true
			if m.values[k] == nil {
				m.values[k] = map[string]bool{}
			}
			m.values[k][v] = true
		}
	}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			own := map[string]string{}
			for _, l := range m.GetLabel() {
				own[l.GetName()] = l.GetValue()
			}
			if m.GetHistogram() != nil {
				add(name+"_count", own)
				add(name+"_sum", own)
				own["le"] = "1"
				name := name + "_bucket"
				add(name, own)
				continue
			}
			for _, q := range m.GetSummary().GetQuantile() {
				own["quantile"] = fmt.Sprint(q.GetQuantile())
				add(name, own)
			}
			add(name, own)
		}
	}
	return all
}

// scrape runs a mill over Kafka until it has committed, and returns its metrics.
func scrape(t *testing.T) map[string]metric {
	t.Helper()
	dir := t.TempDir()
	bin := testproc.Urlmill(t)
	broker := kafkatest.Fake(t, kfake.SeedTopics(2, "clicks")).ListenAddrs()[0]
	produce := exec.CommandContext(t.Context(), bin, "produce", "--brokers", broker, "--topic", "clicks", "--records", "20000")
	if out, err := produce.CombinedOutput(); err != nil {
		t.Fatalf("produce: %v\n%s", err, out)
	}
	config := fmt.Sprintf(`source:
  kafka: {brokers: [%q], topics: [clicks], group: g}
  codec: {ndjson: {url: /url}}
sink:
  parquet: {path: %q, partition_by: [date(timestamp)], late: {path: %q, after: 1h}}
  roll: {rows: 1000, every: 1s}
admin: {listen: "127.0.0.1:0"}
`, broker, filepath.Join(dir, "out"), filepath.Join(dir, "late"))
	file := filepath.Join(dir, "c.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var log testproc.Log
	mill := exec.Command(bin, "run", file)
	mill.Stdout, mill.Stderr = &log, &log
	p, err := testproc.Start(mill)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill) // it has nothing to lose
	at, committed := regexp.MustCompile(`url=(http://[0-9.:]+/)`), regexp.MustCompile(`(?m)^urlmill_commits_total [1-9]`)
	var found map[string]metric
	err = p.Await(5*time.Minute, func() error {
		at := at.FindStringSubmatch(log.String())
		if at == nil {
			return errors.New("it does not listen")
		}
		text := get(t, at[1]+"metrics")
		if !committed.Match(text) || !bytes.Contains(text, []byte("urlmill_lag_records{")) {
			return errors.New("nothing was committed")
		}
		found = series(t, text)
		return nil
	})
	if err != nil {
		t.Fatalf("%v; the mill says:\n%s", err, &log)
	}
	return found
}

func get(t *testing.T, url string) []byte {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, answer.Status, err)
	}
	return text
}

// query is an expression that is asked of Prometheus, and where.
type query struct{ where, expr, legend string }

// dashboardQueries returns the queries of the dashboard, with values for its variables.
func dashboardQueries(t *testing.T) (all []query) {
	t.Helper()
	text, err := os.ReadFile(dashName)
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			Title   string
			Type    string
			Targets []struct{ Expr, LegendFormat string }
		}
		Annotations struct {
			List []struct{ Name, Expr, TitleFormat string }
		}
		Templating struct {
			List []struct{ Name, Definition string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	variables := strings.NewReplacer("$__rate_interval", "5m", "$job", ".*", "$instance", ".*")
	add := func(where, expr, legend string) {
		if expr = variables.Replace(expr); strings.Contains(expr, "$") {
			t.Errorf("%s: a variable that there is not: %s", where, expr)
		}
		all = append(all, query{where, expr, legend})
	}
	for _, p := range d.Panels {
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %q shows nothing", p.Title)
		}
		for _, q := range p.Targets {
			add("panel "+p.Title, q.Expr, q.LegendFormat)
		}
	}
	for _, a := range d.Annotations.List {
		add("annotation "+a.Name, a.Expr, a.TitleFormat)
	}
	for _, v := range d.Templating.List {
		if inner, ok := strings.CutPrefix(v.Definition, "label_values("); ok {
			expr, label, _ := strings.Cut(strings.TrimSuffix(inner, ")"), ", ")
			add("variable "+v.Name, expr, "{{"+label+"}}")
		}
	}
	return all
}

// alertRules returns the rules of the alerts.
func alertRules(t *testing.T) (all []rulefmt.Rule) {
	t.Helper()
	groups, errs := rulefmt.ParseFile(alerts, false, model.UTF8Validation, promQL, slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for _, g := range groups.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

func alertQueries(t *testing.T) (all []query) {
	t.Helper()
	for _, r := range alertRules(t) {
		if r.Labels["severity"] != "critical" && r.Labels["severity"] != "warning" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
			t.Errorf("alert %s needs a severity, a summary and a description", r.Alert)
		}
		all = append(all, query{"alert " + r.Alert, r.Expr, r.Annotations["summary"]})
	}
	return all
}

// addOthers adds the metrics of sinks that this mill does not have, as they are in the source, to those that are known.
func addOthers(t *testing.T, known map[string]metric) {
	t.Helper()
	var text []byte
	for _, name := range []string{"metrics.go", "visits.go"} {
		part, err := os.ReadFile(filepath.Join(root, "internal", "admin", name))
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, part...)
	}
	series := regexp.MustCompile(`out\.(?:count|gauge|send)\((?:prometheus\.\w+, )?"(\w+)"(?:[^\n]*prometheus\.Labels\{([^}]*)\})?`)
	label := regexp.MustCompile(`"(\w+)":`)
	oneLine := regexp.MustCompile(`,\n\t+`).ReplaceAllString(string(text), ", ")
	for _, found := range series.FindAllStringSubmatch(oneLine, -1) {
		name := "urlmill_" + found[1]
		if _, ok := known[name]; ok {
			continue
		}
		m := metric{labels: map[string]bool{"job": true, "instance": true}}
		for _, l := range label.FindAllStringSubmatch(found[2], -1) {
			m.labels[l[1]] = true
		}
		known[name] = m
	}
}

// TestNames checks every metric, label and value that dashboard and alerts name, and that none is left out.
func TestNames(t *testing.T) {
	known := scrape(t)
	if _, ok := known["urlmill_late_rows_total"]; !ok {
		t.Error("a mill with a place for late rows does not count them")
	}
	known["up"] = metric{labels: map[string]bool{"job": true, "instance": true}} // Prometheus' own
	addOthers(t, known)
	if runtime.GOOS != "linux" {
		t.Log("without the metrics of the process, which are Linux's")
	}
	used := map[string]bool{}
	queries := append(dashboardQueries(t), alertQueries(t)...)
	if len(queries) < 40 {
		t.Errorf("%d queries", len(queries))
	}
	for _, q := range queries {
		check(t, q, known, used)
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		base := strings.TrimSuffix(strings.TrimSuffix(name, "_sum"), "_count")
		if strings.HasPrefix(name, "urlmill_") && !used[name] && !used[base+"_bucket"] {
			t.Errorf("%s is on no panel and in no alert", name)
		}
	}
}

// legendLabel matches the labels of a legend, in the forms of Grafana and of alerts.
var legendLabel = regexp.MustCompile(`\{\{\s*(?:\$labels\.)?([a-z_]+)\s*\}\}`)

func check(t *testing.T, q query, known map[string]metric, used map[string]bool) {
	t.Helper()
	expr, err := promQL.ParseExpr(q.expr)
	if err != nil {
		t.Errorf("%s: %s: %v", q.where, q.expr, err)
		return
	}
	here := map[string]bool{}
	var wanted []string
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			m, ok := known[n.Name]
			if !ok {
				t.Errorf("%s: no metric is called %s", q.where, n.Name)
				return nil
			}
			used[n.Name] = true
			maps.Copy(here, m.labels)
			for _, matcher := range n.LabelMatchers {
				if matcher.Name == model.MetricNameLabel {
					continue
				}
				wanted = append(wanted, matcher.Name)
				if values := m.values[matcher.Name]; matcher.Type == labels.MatchEqual && values != nil && !values[matcher.Value] {
					t.Errorf("%s: %s never has %s", q.where, n.Name, matcher)
				}
			}
		case *parser.AggregateExpr:
			wanted = append(wanted, n.Grouping...)
		case *parser.BinaryExpr:
			if n.VectorMatching != nil {
				wanted = append(wanted, n.VectorMatching.MatchingLabels...)
			}
		}
		return nil
	})
	for _, found := range legendLabel.FindAllStringSubmatch(q.legend, -1) {
		wanted = append(wanted, found[1])
	}
	for _, label := range wanted {
		if !here[label] {
			t.Errorf("%s: no metric in %s has the label %s", q.where, q.expr, label)
		}
	}
}
