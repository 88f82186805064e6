package kubernetes

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/yaml"
)

// autoscaler is what decides on the number of processes, as it is rendered, and what it decides on.
type autoscaler struct {
	min, max  int
	threshold float64 // records for each process
	committed bool    // KEDA: records count until they are committed, and no more of them than there are partitions for
	even      bool    // KEDA: as many processes as the partitions can be divided among
	window    int     // stabilizationWindowSeconds
	policy    autoscalingv2.HPAScalingPolicy
}

// scalerOf returns the autoscaler of a rendering.
func scalerOf(t *testing.T, s *set) autoscaler {
	t.Helper()
	var a autoscaler
	var behavior autoscalingv2.HorizontalPodAutoscalerBehavior
	if h := s.autoscaler; h != nil {
		behavior = *h.Spec.Behavior
		a = autoscaler{min: int(*h.Spec.MinReplicas), max: int(h.Spec.MaxReplicas), threshold: h.Spec.Metrics[0].Pods.Target.AverageValue.AsApproximateFloat64()}
	} else {
		o := s.scaled.Spec
		text, err := yaml.Marshal(o.Advanced.HorizontalPodAutoscalerConfig.Behavior)
		if err == nil {
			err = yaml.Unmarshal(text, &behavior)
		}
		threshold, wrong := strconv.ParseFloat(o.Triggers[0].Metadata["lagThreshold"], 64)
		if err != nil || wrong != nil {
			t.Fatal(err, wrong)
		}
		a = autoscaler{min: int(o.MinReplicaCount), max: int(o.MaxReplicaCount), threshold: threshold, committed: true, even: o.Triggers[0].Metadata["ensureEvenDistributionOfPartitions"] == "true"}
	}
	a.window, a.policy = int(*behavior.ScaleDown.StabilizationWindowSeconds), behavior.ScaleDown.Policies[0]
	return a
}

// group is a consumer group that the autoscaler scales, in steps of a second.
type group struct {
	autoscaler
	speed   float64 // records that a process reads in a second
	roll    int     // seconds between the commits of a process
	session int     // seconds for which the partitions of a process that is gone wait: 0 without instance_id
	metric  int     // seconds between two looks of the autoscaler at the lag

	end, read, committedTo []float64 // by partition
	members                int       // with partitions
	gone                   int       // members whose partitions wait
	changes                []change  // to come
	stopped                int       // no partition is read before this second
	wanted                 int       // spec.replicas
	recommended, scaledTo  []int     // each 15 s; each second

	made       []float64 // records, by second
	behind     []int     // how many seconds ago the oldest record came that is not read, by second
	rebalances int
}

// change is one of the members, at a second: processes that have started or whose partitions have waited for long enough.
type change struct{ at, members, gone int }

const (
	decision  = 15 // seconds between two decisions of an autoscaler (--horizontal-pod-autoscaler-sync-period)
	tolerance = 0.1
	starting  = 30 // seconds until a new process asks for partitions: node, image, brokers
	pause     = 15 // seconds for which a rebalance stops all processes: the slowest has to commit
)

// step lets second t go by, in which rate records come.
func (g *group) step(t int, rate float64) {
	partitions := len(g.end)
	for p := range g.end {
		g.end[p] += rate / float64(partitions)
	}
	for len(g.changes) > 0 && g.changes[0].at <= t {
		c := g.changes[0]
		g.changes = g.changes[1:]
		g.members, g.gone = g.members+c.members, g.gone-c.gone
		g.rebalance(t)
	}
	if t >= g.stopped {
		g.work(t)
	}
	if t%decision == 0 {
		g.decide(t)
	}
	g.scaledTo = append(g.scaledTo, g.wanted)
	g.made = append(g.made, sum(g.end))
	oldest, _ := slices.BinarySearch(g.made, slices.Min(g.read)*float64(partitions))
	g.behind = append(g.behind, max(0, t-oldest))
}

// rebalance stops all members, who commit first.
func (g *group) rebalance(t int) {
	copy(g.committedTo, g.read)
	g.stopped, g.rebalances = t+pause, g.rebalances+1
}

// work lets every member read its partitions, which it divides its second among, and commit when it is time.
func (g *group) work(t int) {
	n := g.members + g.gone
	for m := range g.members {
		own := ownedBy(m, n, len(g.end))
		left := g.speed
		// Those with the least to read first, so that what they leave is for the others.
		slices.SortFunc(own, func(a, b int) int { return int(g.end[a] - g.read[a] - g.end[b] + g.read[b]) })
		for i, p := range own {
			n := min(g.end[p]-g.read[p], left/float64(len(own)-i))
			g.read[p], left = g.read[p]+n, left-n
			if (t+7*m)%g.roll == 0 {
				g.committedTo[p] = g.read[p]
			}
		}
	}
}

// ownedBy returns the partitions of a member by Kafka's range assignor: the first members have one more.
func ownedBy(member, members, partitions int) []int {
	var own []int
	for p := range partitions {
		if each, more := partitions/members, partitions%members; p < more*(each+1) && p/(each+1) == member ||
			p >= more*(each+1) && each > 0 && more+(p-more*(each+1))/each == member {
			own = append(own, p)
		}
	}
	return own
}

// decide is what a HorizontalPodAutoscaler does each 15 s with an average value as the target: ceil(lag / threshold), unless that is
// within the tolerance; up at once by 4 or twice as many, down to the most of the window by the policy.
//
// Source: https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/#algorithm-details and
// #configurable-scaling-behavior; KEDA's pkg/scalers/kafka_scaler.go, getTotalLag
func (g *group) decide(t int) {
	lag := sum(g.end) - sum(g.read)
	if g.committed {
		lag = sum(g.end) - sum(g.committedTo)
		if g.even {
			n := 1.0
			for n < float64(len(g.end)) && (n*g.threshold < lag || len(g.end)%int(n) != 0) {
				n++
			}
			lag = n * g.threshold
		}
		lag = min(lag, float64(len(g.end))*g.threshold)
	}
	want := g.wanted
	if math.Abs(lag/(g.threshold*float64(g.wanted))-1) > tolerance {
		want = int(math.Ceil(lag / g.threshold))
	}
	if t%g.metric != 0 && len(g.recommended) > 0 {
		want = g.recommended[len(g.recommended)-1] // it sees what it saw before
	}
	want = max(g.min, min(g.max, want))
	g.recommended = append(g.recommended, want)
	switch {
	case want > g.wanted:
		before := g.scaledTo[max(0, len(g.scaledTo)-decision)]
		want = min(want, max(before+4, 2*before))
		g.changes = append(g.changes, change{at: t + starting, members: want - g.wanted})
		g.wanted = want
	case want < g.wanted:
		window := g.recommended[max(0, len(g.recommended)-g.window/decision):]
		before := g.scaledTo[max(0, len(g.scaledTo)-int(g.policy.PeriodSeconds))]
		least := before - int(g.policy.Value)
		if g.policy.Type == autoscalingv2.PercentScalingPolicy {
			least = before * (100 - int(g.policy.Value)) / 100
		}
		want = max(slices.Max(window), least)
		if want < g.wanted {
			g.leave(t, g.wanted-want)
			g.wanted = want
		}
	}
}

// leave ends processes. Without instance_id they leave the group; with it, their partitions wait.
func (g *group) leave(t, n int) {
	g.members -= n
	if g.session == 0 {
		g.rebalance(t)
		return
	}
	g.gone += n
	g.changes = append(g.changes, change{at: t + g.session, gone: n})
	slices.SortStableFunc(g.changes, func(a, b change) int { return a.at - b.at })
}

func sum(of []float64) (s float64) {
	for _, x := range of {
		s += x
	}
	return s
}

// flapped reports whether processes ended within the window after others were started.
func flapped(g *group) bool {
	rose := -g.window
	for t := 1; t < len(g.scaledTo); t++ {
		switch d := g.scaledTo[t] - g.scaledTo[t-1]; {
		case d > 0:
			rose = t
		case d < 0 && t-rose < g.window:
			return true
		}
	}
	return false
}

// turns is how often the number of processes turned from more to fewer or back.
func (g *group) turns() (n int) {
	up := 0
	for i := 1; i < len(g.scaledTo); i++ {
		if d := g.scaledTo[i] - g.scaledTo[i-1]; d*up < 0 {
			n, up = n+1, d
		} else if d != 0 {
			up = d
		}
	}
	return n
}

// load is how many records come in a second, in what one process reads in a second.
type load struct {
	name  string
	hours int
	at    func(t int) float64
}

var loads = []load{
	{"20 minutes of 6 instead of 1.5", 4, func(t int) float64 {
		if 3600 <= t && t < 3600+1200 {
			return 6
		}
		return 1.5
	}},
	{"a day between 1 and 8", 24, func(t int) float64 { return 4.5 - 3.5*math.Cos(2*math.Pi*float64(t)/86400) }},
	{"12 hours of 3.5", 12, func(int) float64 { return 3.5 }},
}

// run lets a load go over a group with that many partitions.
func (l load) run(a autoscaler, partitions, roll, session, metric int, speed float64) *group {
	g := &group{
		autoscaler: a, speed: speed, roll: roll, session: session, metric: metric, members: a.min, wanted: a.min,
		end: make([]float64, partitions), read: make([]float64, partitions), committedTo: make([]float64, partitions),
	}
	for t := range l.hours * 3600 {
		g.step(t, l.at(t)*speed)
	}
	return g
}

// TestBurst lets loads go over what the chart renders. Its figures are in the page.
func TestBurst(t *testing.T) {
	const partitions, speed = 12, 50000
	table := "<!-- figures: internal/dev/itest/kubernetes.TestBurst -->\n\n| load | autoscaler | processes: most | on average | most seconds behind | rebalances | turns |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |\n"
	for _, l := range loads {
		for _, c := range []struct{ name, values string }{
			{"`keda`", "{}"},
			{"`hpa`", "{autoscaling: {by: hpa}, networkPolicy: {from: [{podSelector: {}}]}}"},
			{"`keda`, `kind: StatefulSet`", "kind: StatefulSet"},
		} {
			s, err := gather(mustRender(t, over(clicksWith(t, c.values), valuesOf(t, fmt.Appendf(nil, "autoscaling: {maxReplicas: %d, recordsPerSecond: %d}", partitions, speed)))))
			if err != nil {
				t.Fatal(err)
			}
			roll, err := time.ParseDuration(s.pipeline.Sink.Roll.Every)
			if err != nil {
				t.Fatal(err)
			}
			session, metric := 0, 15 // KEDA asks the brokers for each decision; metrics are scraped every 30 s
			if text := s.pipeline.Source.Kafka.Session; text != "" {
				wait, err := time.ParseDuration(text)
				if err != nil {
					t.Fatal(err)
				}
				session = int(wait.Seconds())
			}
			if s.autoscaler != nil {
				metric = 30
			}
			g := l.run(scalerOf(t, s), partitions, int(roll.Seconds()), session, metric, speed)
			mean, needed := 0.0, sum(g.end)/speed/float64(len(g.scaledTo))
			for _, n := range g.scaledTo {
				mean += float64(n) / float64(len(g.scaledTo))
			}
			// Once a partition more than others is behind, hpa takes its time to notice.
			most := map[bool]int{true: 240, false: 900}[g.even]
			if flapped(g) || slices.Max(g.scaledTo) > partitions || slices.Max(g.behind) > most || g.behind[len(g.behind)-1] > 120 || mean > 2*needed {
				t.Errorf("%s by %s: at most %d processes, on average %.1f for a need of %.1f; at most %d s behind, %d at the end; flapped: %t",
					l.name, c.name, slices.Max(g.scaledTo), mean, needed, slices.Max(g.behind), g.behind[len(g.behind)-1], flapped(g))
			}
			table += fmt.Sprintf("| %s | %s | %d | %.1f | %d | %d | %d |\n", l.name, c.name, slices.Max(g.scaledTo), mean, slices.Max(g.behind), g.rebalances, g.turns())
		}
	}
	table += "\n<!-- /figures -->"
	text := string(read(t, page))
	begin, end := strings.Index(text, "<!-- figures:"), strings.Index(text, "<!-- /figures -->")
	if begin < 0 || end < 0 {
		t.Fatalf("%s has no place for the figures", page)
	}
	if end += len("<!-- /figures -->"); os.Getenv("UPDATE_KUBERNETES") == "1" {
		if err := os.WriteFile(page, []byte(text[:begin]+table+text[end:]), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if text[begin:end] != table {
		t.Errorf("%s has other figures (make kubernetes-docs writes these):\n%s", page, table)
	}
}
