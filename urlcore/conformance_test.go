package urlcore_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/conformance"
	"github.com/urlmill/urlmill/urlcore"
)

// tally counts the cases of a conformance file. A case that fails must be listed in
// testdata/expected_failures.txt, and a case that is listed must fail.
type tally struct {
	t             *testing.T
	file          string
	passed, total int
	expected      map[string]bool
}

func newTally(t *testing.T, file string) *tally {
	t.Helper()
	c := &tally{t: t, file: file, expected: map[string]bool{}}
	f, err := os.Open("testdata/expected_failures.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, key, ok := strings.Cut(lines.Text(), "\t")
		if ok && name == file {
			key, err := strconv.Unquote(key)
			if err != nil {
				t.Fatalf("testdata/expected_failures.txt: %v: %s", err, lines.Text())
			}
			c.expected[key] = true
		}
	}
	return c
}

// check records the outcome of the case that key names.
func (c *tally) check(key string, ok bool, format string, args ...any) {
	c.t.Helper()
	c.total++
	listed := c.expected[key] && urlcore.NeedsUnicodeDelta
	delete(c.expected, key)
	if ok {
		c.passed++
	}
	switch {
	case ok && listed:
		c.t.Errorf("%s: %q passes although testdata/expected_failures.txt lists it", c.file, key)
	case !ok && !listed:
		c.t.Errorf("%s: "+format, append([]any{c.file}, args...)...)
	}
}

// log reports the figures in the form that all conformance tests share.
func (c *tally) log() {
	c.t.Helper()
	for key := range c.expected {
		c.t.Errorf("%s: no case %q, which testdata/expected_failures.txt lists", c.file, key)
	}
	c.t.Logf("%s: %d/%d", c.file, c.passed, c.total)
}

// attributes reads the attributes of the URL class by name.
var attributes = map[string]func(*urlcore.URL) string{
	"href":     (*urlcore.URL).Href,
	"origin":   (*urlcore.URL).Origin,
	"protocol": (*urlcore.URL).Protocol,
	"username": (*urlcore.URL).Username,
	"password": (*urlcore.URL).Password,
	"host":     (*urlcore.URL).Host,
	"hostname": (*urlcore.URL).Hostname,
	"port":     (*urlcore.URL).Port,
	"pathname": (*urlcore.URL).Pathname,
	"search":   (*urlcore.URL).Search,
	"hash":     (*urlcore.URL).Hash,
	"searchParams": func(u *urlcore.URL) string {
		return u.SearchParams().String()
	},
}

// differences returns how the attributes of u differ from the expected ones, of those that are given.
func differences(u *urlcore.URL, want map[string]any) []string {
	var diffs []string
	for name, get := range attributes {
		if w, ok := want[name].(string); ok && get(u) != w {
			diffs = append(diffs, name+": "+get(u)+" instead of "+w)
		}
	}
	return diffs
}

func TestURLTestData(t *testing.T) {
	for _, file := range []string{"urltestdata.json", "urltestdata-javascript-only.json"} {
		c := newTally(t, file)
		for _, e := range conformance.Cases[map[string]any](t, file) {
			input, _ := e["input"].(string)
			base, hasBase := e["base"].(string)
			key := input + " " + base
			u, err := parseMaybeBase(input, base, hasBase)
			if e["failure"] != true {
				if err != nil {
					c.check(key, false, "%q against %q: %v", input, base, err)
					continue
				}
				diffs := differences(u, e)
				c.check(key, len(diffs) == 0, "%q against %q: %v", input, base, diffs)
				continue
			}
			ok := err != nil
			if !hasBase {
				ok = ok && !urlcore.CanParseWithBase("about:blank", input)
			}
			c.check(key, ok, "%q against %q: parsed as %v", input, base, u)
		}
		c.log()
	}
}

// parseMaybeBase parses input against base, if there is one.
func parseMaybeBase(input, base string, hasBase bool) (*urlcore.URL, error) {
	if hasBase {
		return urlcore.ParseWithBase(input, base)
	}
	return urlcore.Parse(input)
}

// setters writes the attributes of the URL class by name.
var setters = map[string]func(*urlcore.URL, string){
	"href":     func(u *urlcore.URL, v string) { _ = u.SetHref(v) },
	"protocol": (*urlcore.URL).SetProtocol,
	"username": (*urlcore.URL).SetUsername,
	"password": (*urlcore.URL).SetPassword,
	"host":     (*urlcore.URL).SetHost,
	"hostname": (*urlcore.URL).SetHostname,
	"port":     (*urlcore.URL).SetPort,
	"pathname": (*urlcore.URL).SetPathname,
	"search":   (*urlcore.URL).SetSearch,
	"hash":     (*urlcore.URL).SetHash,
}

func TestSetters(t *testing.T) {
	type wptCase struct {
		Href     string         `json:"href"`
		NewValue string         `json:"new_value"`
		Expected map[string]any `json:"expected"`
	}
	for _, file := range []string{"setters_tests.json", "setters_stripping.json"} {
		c := newTally(t, file)
		for attribute, cases := range readObject[[]wptCase](t, file) {
			set := setters[attribute]
			for _, e := range cases {
				u := urlcore.MustParse(e.Href)
				before := u.Href()
				set(u, e.NewValue)
				diffs := differences(u, e.Expected)
				c.check(attribute+" "+e.Href+" "+e.NewValue, len(diffs) == 0 && reparses(u),
					"%s of %q = %q: %v (before %s)", attribute, e.Href, e.NewValue, diffs, before)
			}
		}
		c.log()
	}
}

// readObject decodes a JSON object whose members are of one type. Members called "comment" are left out.
func readObject[T any](t *testing.T, file string) map[string]T {
	t.Helper()
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(conformance.Read(t, file), &raw); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	members := map[string]T{}
	for name, text := range raw {
		if name == "comment" {
			continue
		}
		var member T
		if err := json.Unmarshal(text, &member); err != nil {
			t.Fatalf("%s: %s: %v", file, name, err)
		}
		members[name] = member
	}
	return members
}

// reparses reports whether parsing the serialization of u gives u again.
func reparses(u *urlcore.URL) bool {
	v, err := urlcore.Parse(u.Href())
	return err == nil && urlcore.SameRecord(u, v)
}
