package monitoring

import (
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// cases is a file of promtool's format for tests of rules.
type cases struct {
	Tests []struct {
		Name        string
		InputSeries []struct{ Series, Values string } `yaml:"input_series"`
		Alerts      []alertCase                       `yaml:"alert_rule_test"`
	}
}

type alertCase struct {
	At    string `yaml:"eval_time"`
	Alert string `yaml:"alertname"`
	Want  []struct {
		Labels      map[string]string `yaml:"exp_labels"`
		Annotations map[string]string `yaml:"exp_annotations"`
	} `yaml:"exp_alerts"`
}

// firing is an alert that fires.
type firing struct{ labels, annotations map[string]string }

// TestAlerts runs alerts.test.yaml as promtool does: a minute at a time.
func TestAlerts(t *testing.T) {
	text, err := os.ReadFile(strings.TrimSuffix(alerts, ".yaml") + ".test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var c cases
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	fired, quiet := map[string]bool{}, map[string]bool{}
	for _, test := range c.Tests {
		t.Run(test.Name, func(t *testing.T) {
			load := "load 1m\n"
			for _, s := range test.InputSeries {
				load += "  " + s.Series + " " + s.Values + "\n"
			}
			storage := promqltest.LoadedStorage(t, load)
			ask := rules.EngineQueryFunc(promqltest.NewTestEngine(t, false, 5*time.Minute, promqltest.DefaultMaxSamplesPerQuery), storage)
			for _, a := range test.Alerts {
				want := []firing{}
				for _, w := range a.Want {
					w.Labels["alertname"] = a.Alert
					want = append(want, firing{w.Labels, w.Annotations})
				}
				fired[a.Alert] = fired[a.Alert] || len(want) > 0
				quiet[a.Alert] = quiet[a.Alert] || len(want) == 0
				got := evaluate(t, ruleOf(t, a.Alert), a.At, ask)
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(firing{})); diff != "" {
					t.Errorf("%s at %s (-want +got):\n%s", a.Alert, a.At, diff)
				}
			}
		})
	}
	for _, q := range alertQueries(t) {
		if name := strings.TrimPrefix(q.where, "alert "); !fired[name] || !quiet[name] {
			t.Errorf("%s: no test in which it fires, or none in which it does not", name)
		}
	}
}

// ruleOf returns a rule as the server would make it.
func ruleOf(t *testing.T, alert string) *rules.AlertingRule {
	t.Helper()
	for _, r := range alertRules(t) {
		if r.Alert != alert {
			continue
		}
		expr, err := promQL.ParseExpr(r.Expr)
		if err != nil {
			t.Fatal(err)
		}
		return rules.NewAlertingRule(r.Alert, expr, time.Duration(r.For), time.Duration(r.KeepFiringFor),
			labels.FromMap(r.Labels), labels.FromMap(r.Annotations), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler))
	}
	t.Fatalf("there is no alert %s", alert)
	return nil
}

// evaluate has a rule look every minute up to a time, and returns what fires then.
func evaluate(t *testing.T, rule *rules.AlertingRule, at string, ask rules.QueryFunc) []firing {
	t.Helper()
	until, err := time.ParseDuration(at)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Unix(0, 0).UTC()
	for since := time.Duration(0); since <= until; since += time.Minute {
		if _, err := rule.Eval(t.Context(), 0, start.Add(since), ask, &url.URL{}, 0); err != nil {
			t.Fatalf("%s: %v", rule.Name(), err)
		}
	}
	got := []firing{}
	for _, a := range rule.ActiveAlerts() {
		if a.State == rules.StateFiring {
			got = append(got, firing{a.Labels.Map(), a.Annotations.Map()})
		}
	}
	return got
}

// TestPromtool has Prometheus' own tool judge the same files, where it is installed.
func TestPromtool(t *testing.T) {
	tool, err := exec.LookPath("promtool")
	if err != nil {
		testproc.Missing(t, "URLMILL_REQUIRE_PROMTOOL", "promtool is not installed: apt-get install prometheus")
	}
	for _, args := range [][]string{{"check", "rules", "alerts.yaml"}, {"test", "rules", "alerts.test.yaml"}} {
		cmd := exec.CommandContext(t.Context(), tool, args...)
		cmd.Dir = filepath.Dir(alerts)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Error(fmt.Errorf("promtool %s: %w\n%s", strings.Join(args, " "), err, out))
		}
	}
}
