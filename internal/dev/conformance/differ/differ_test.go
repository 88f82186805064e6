package differ

import (
	"errors"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore"
)

// TestGenerator checks that questions repeat, and that few enough of them fail for the others to say something.
func TestGenerator(t *testing.T) {
	const count = 20_000
	a, b := NewGenerator(7), NewGenerator(7)
	failures, kinds := 0, map[urlcore.HostKind]int{}
	codes := map[urlcore.Code]int{}
	for range count {
		q := a.Parse()
		if other := b.Parse(); q.String() != other.String() {
			t.Fatalf("%v and %v", q, other)
		}
		u, err := parse(q)
		if err != nil {
			failures++
			var e *urlcore.Error
			if !errors.As(err, &e) {
				t.Fatal(err)
			}
			codes[e.Code]++
			continue
		}
		kinds[u.HostKind()]++
	}
	if failures < count/5 || failures > count*2/5 {
		t.Errorf("%d of %d inputs fail", failures, count)
	}
	for kind := urlcore.HostNone; kind <= urlcore.HostOpaque; kind++ {
		if kinds[kind] < count/200 {
			t.Errorf("%d URLs have a host of kind %v", kinds[kind], kind)
		}
	}
	if len(codes) < 18 {
		t.Errorf("inputs fail with %d codes: %v", len(codes), codes)
	}
	for range 1000 {
		q := a.Set()
		if _, err := urlcore.Parse(q.Input); err != nil || q.Set == nil {
			t.Fatalf("%v: %v", q, err)
		}
	}
}

// parse answers the question, without its assignment.
func parse(q Question) (*urlcore.URL, error) {
	if q.Base != nil {
		return urlcore.ParseWithBase(q.Input, *q.Base)
	}
	return urlcore.Parse(q.Input)
}

// TestDefects puts a defect into our answers: no rule may explain the differences that it makes.
func TestDefects(t *testing.T) {
	n := Start(t)
	rules, err := n.Rules()
	if err != nil {
		t.Fatal(err)
	}
	for i, attribute := range Attributes {
		n.spoil = func(r Result) Result {
			if r[i] != "" {
				r[i] = r[i][:len(r[i])-1] + "+"
			}
			return r
		}
		g := NewGenerator(uint64(i))
		var all []*Difference
		ask := func(i int) Question {
			if i%2 == 0 {
				return g.Set()
			}
			return g.Parse()
		}
		err := n.Ask(1000, ask, func(q Question, r Result) error {
			// What Node refuses or loses cannot be compared.
			if d := n.Compare(q, r); d != nil && d.Ours != nil && d.Ours[i] != "" && (r == nil || r[i] != "") {
				all = append(all, d)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			if names, err := n.Explain(d, rules); err != nil || names != nil {
				t.Errorf("wrong %s: %v: ours %q, theirs %q: explained by %v, %v", attribute, d.Question, d.Ours, d.Theirs, names, err)
			}
		}
		if len(all) < 20 {
			t.Errorf("wrong %s: %d differences", attribute, len(all))
		}
	}
}

func TestProbes(t *testing.T) {
	n := Start(t)
	for _, rule := range Rules {
		functions := 0
		for _, has := range []bool{rule.renew != nil, rule.age != nil, rule.refuses != nil, rule.without != nil} {
			if has {
				functions++
			}
		}
		if functions != 1 || rule.Source == "" {
			t.Errorf("%s: %d functions, source %q", rule.Name, functions, rule.Source)
		}
		if answer, err := n.Evaluate(rule.Probe); err != nil || string(answer) != "true" && string(answer) != "false" {
			t.Errorf("%s: the probe gives %s, %v", rule.Name, answer, err)
		}
	}
}

func TestReplaceCharacters(t *testing.T) {
	isSnowman := func(r rune) bool { return r == '\u2603' }
	for s, want := range map[string]string{
		"": "", "a%": "a%", "%2": "%2", "\u2603": "\u00e9", "a\u2603b": "a\u00e9b", "%e2%98%83%": "\u00e9%", "%E2\x98%83": "\u00e9",
		"%e2%98": "%e2%98", "\xe2\x98": "\xe2\x98", "%e2%98\u2603": "%e2%98\u00e9", "%zz\u2603": "%zz\u00e9", "%25%e2%98%83": "%25\u00e9",
	} {
		if got := replaceCharacters(s, letter, isSnowman); got != want {
			t.Errorf("%q becomes %q and not %q", s, got, want)
		}
	}
	if s := strings.Repeat("%e2%98%83", 3); replaceCharacters(s, letter, isSnowman) != "\u00e9\u00e9\u00e9" {
		t.Error(s)
	}
}

func TestMissingNode(t *testing.T) {
	t.Setenv(EnvNode, "no-such-program-urlmill")
	t.Setenv(EnvRequire, "")
	skipped := t.Run("", func(t *testing.T) {
		defer func() {
			if !t.Skipped() {
				t.Error("not skipped")
			}
		}()
		Start(t)
	})
	if !skipped {
		t.Error("a missing Node.js fails the test")
	}
}
