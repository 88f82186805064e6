package file

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestConditions(t *testing.T) {
	for text, tc := range map[string]struct {
		yes, no []string
	}{
		"dt>=2026-11-20":       {[]string{"dt=2026-11-20", "dt=2027-01-01"}, []string{"dt=2026-11-19", "dt="}},
		"hour < 10":            {[]string{"hour=9", "hour=09", "hour=0"}, []string{"hour=10", "hour=23"}},
		"region=eu":            {[]string{"region=eu"}, []string{"region=us", "region=eu1"}},
		"region==eu":           {[]string{"region=eu"}, []string{"region=us"}},
		"region!=eu":           {[]string{"region=us"}, []string{"region=eu"}},
		"a<=b c":               {[]string{"a=b%20c", "a=b"}, []string{"a=c"}},
		"p>1.5":                {[]string{"p=2", "p=10"}, []string{"p=1", "p=1.5"}},
		"time = 00:00:00+0100": {[]string{"time=00%3A00%3A00+0100"}, []string{"time=00%3A00%3A01+0100"}},
	} {
		c, err := parseCondition(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		for dirs, want := range map[*[]string]bool{&tc.yes: true, &tc.no: false} {
			for _, dir := range *dirs {
				if got := satisfies("logs/"+dir+"/x", []condition{c}); got != want {
					t.Errorf("%s for %s: %t", text, dir, got)
				}
			}
		}
		if satisfies("logs/x", []condition{c}) {
			t.Errorf("%s holds without a directory", text)
		}
	}
	for _, text := range []string{"", "dt", "=1", "a/b=1", "a=1/2", "!1"} {
		if _, err := openCloud(new(cloud), func(o *Options) { o.Partitions = []string{text} }, "s3://b/p"); err == nil || !strings.Contains(err.Error(), "such as dt>=2026-11-20") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Whatever the pattern and the conditions are, the objects are those of a look at all keys.
func TestObjectsDivided(t *testing.T) {
	c := new(cloud)
	for _, region := range []string{"region=eu", "region=us", "other", "_tmp"} {
		for day := range 12 {
			for hour := range 4 {
				c.put(fmt.Sprintf("logs/%s/dt=2026-11-%02d/hour=%d/%d.log", region, day+10, hour, day), "x\n")
			}
			c.put(fmt.Sprintf("logs/%s/dt=2026-11-%02d.log", region, day+10), "x\n")
		}
		c.put("logs/"+region+"/x", "x\n")
	}
	r := rand.New(rand.NewPCG(1, 3))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	for range 400 {
		path := "s3://b/" + pick("", "logs", "logs/", "logs/re*", "logs/*", "logs/**") + pick("", "/**", "/dt=2026-11-1*", "/*/hour=1*", "/dt=*/hour=[12]/*") + pick("", "/*", "/**/*.log", "/**")
		var conditions []string
		for range r.IntN(3) {
			conditions = append(conditions, pick("dt>=2026-11-15", "dt<2026-11-19", "region=eu", "region!=eu", "hour>1", "nothing=1"))
		}
		s, err := openCloud(c, func(o *Options) { o.Partitions, o.Poll = conditions, time.Hour }, path)
		if err != nil {
			continue // two slashes
		}
		var want []string
		for _, key := range c.keys {
			if s.wants(key) {
				want = append(want, key)
			}
		}
		var got []string
		for _, p := range s.places {
			spans, err := s.divide(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			for _, span := range spans {
				for _, key := range c.keys {
					if strings.HasPrefix(key, span.prefix) && (!span.exact || key == span.prefix) && span.matches(key) {
						got = append(got, key)
					}
				}
			}
		}
		slices.Sort(got) // a key twice is one too many
		if !slices.Equal(got, want) {
			t.Fatalf("%s with %q: %d keys, want %d: %q", path, conditions, len(got), len(want), got)
		}
	}
}

// Of three years of hours, which are 14 requests, only those are listed that can match: the requests are those for prefixes and for
// directories.
func TestObjectsPartitions(t *testing.T) {
	c := new(cloud)
	day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, region := range []string{"eu", "us", "ap"} {
		for d := range 3 * 365 {
			date := day.AddDate(0, 0, d).Format(time.DateOnly)
			for hour := range 4 {
				c.keys = append(c.keys, fmt.Sprintf("logs/region=%s/dt=%s/hour=%02d/a.log", region, date, hour*6))
			}
		}
	}
	slices.Sort(c.keys)
	c.content, c.etags = map[string][]byte{}, map[string]string{}
	for _, key := range c.keys {
		c.content[key], c.etags[key] = []byte("https://example.com/\n"), `"1"`
	}
	for _, tc := range []struct {
		path       string
		conditions []string
		rows, most int
	}{
		{"s3://b/logs/*/dt=2026-11-2*/**", nil, 3 * 10 * 4, 4},
		{"s3://b/logs/", []string{"dt>=2026-11-20", "dt<2026-11-22"}, 3 * 2 * 4, 1 + 3*2 + 6},
		{"s3://b/logs/", []string{"region=eu", "dt=2026-11-20", "hour>=12"}, 2, 1 + 2 + 1 + 2},
		{"s3://b/logs/region=eu/", []string{"dt>2026-12-29"}, 4, 2 + 1},
	} {
		k := newChains()
		s, err := openCloud(c, func(o *Options) { o.Partitions = tc.conditions }, tc.path)
		before := s.requests.Load()
		if err := k.read(t, s, err); err != nil {
			t.Fatal(err)
		}
		requests := int(s.requests.Load() - before)
		t.Logf("%s %q: %d rows, %d requests", tc.path, tc.conditions, len(k.rows), requests)
		if len(k.rows) != tc.rows || requests > tc.most {
			t.Errorf("%s %q: %d rows, want %d; %d requests, at most %d", tc.path, tc.conditions, len(k.rows), tc.rows, requests, tc.most)
		}
	}
	// Where there are too many directories, all is listed as a whole.
	s, err := openCloud(c, func(o *Options) { o.Partitions = []string{"hour>=0"} }, "s3://b/logs/")
	if err != nil {
		t.Fatal(err)
	}
	if spans, err := s.divide(t.Context(), s.places[len(s.places)-1]); err != nil || len(spans) != 1 {
		t.Errorf("%d spans: %v", len(spans), err)
	}
}
