package urlcore_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore"
)

// TestNode compares the parser with the URL class of Node.js on generated inputs. Where Node follows an older
// standard the difference has to be one of those that are listed here with the change that made it.
func TestNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node.js is not installed: install it to have the parser compared with its URL class")
	}
	const count = 100_000
	rng := rand.New(rand.NewPCG(2026, 7))
	inputs := make([][2]*string, count)
	var lines bytes.Buffer
	for i := range inputs {
		input := generateURL(rng)
		inputs[i][0] = &input
		if rng.IntN(3) > 0 {
			base := bases[rng.IntN(len(bases))]
			inputs[i][1] = &base
		}
		line, err := json.Marshal(inputs[i])
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	cmd := exec.Command(node, "testdata/parse.mjs")
	cmd.Stdin = &lines
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	explained, unexplained := map[string]int{}, 0
	for i, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		var theirs []string
		if err := json.Unmarshal([]byte(line), &theirs); err != nil {
			t.Fatal(err)
		}
		input, base := *inputs[i][0], inputs[i][1]
		ours, u := parseAttributes(input, base)
		if fmt.Sprint(ours) == fmt.Sprint(theirs) {
			continue
		}
		if why := explain(input, base, u, ours, theirs); why != "" {
			explained[why]++
		} else if unexplained++; unexplained <= 20 {
			t.Errorf("%q against %s:\n  ours   %q\n  Node's %q", input, show(base), ours, theirs)
		}
	}
	t.Logf("%d inputs: %d unexplained differences; explained: %v", count, unexplained, explained)
}

// orEmpty returns what s points to, or "".
func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func show(s *string) string {
	if s == nil {
		return "no base"
	}
	return fmt.Sprintf("%q", *s)
}

// parseAttributes returns the attributes of a URL in the order of the script, or nil for a failure.
func parseAttributes(input string, base *string) ([]string, *urlcore.URL) {
	u, err := parseMaybeBase(input, orEmpty(base), base != nil)
	if err != nil {
		return nil, nil
	}
	return []string{
		u.Href(), u.Origin(), u.Protocol(), u.Username(), u.Password(), u.Host(), u.Hostname(), u.Port(), u.Pathname(),
		u.Search(), u.Hash(),
	}, u
}

// explain names the change of the standard since Node's version that makes a difference, or returns "".
func explain(input string, base *string, u *urlcore.URL, ours, theirs []string) string {
	const path, space = "^ in paths (9bc33c3, 2025-03-05)", "space before ? or # of an opaque path (6c78200, 2025-03-13)"
	all := input + orEmpty(base)
	if ours != nil && theirs != nil {
		unescape := func(s []string) string { return strings.ReplaceAll(fmt.Sprint(s), "%5E", "^") }
		switch {
		case strings.Contains(all, "^") && unescape(ours) == unescape(theirs):
			return path
		case u.OpaquePath() && strings.Contains(u.Pathname(), "%20"):
			return space
		case u.Pathname() == "/" && theirs[8] == "":
			return "not a change: Ada 2 leaves no segment where .. ends a path that is empty"
		}
		return ""
	}
	if theirs != nil && strings.Contains(theirs[6]+".", "-.") && strings.Contains(theirs[6], "xn--") {
		return "an A-label that decodes to ASCII fails (UTS 46 revision 33, 2024)"
	}
	if b, err := urlcore.Parse(orEmpty(base)); ours == nil && err == nil && b.OpaquePath() && strings.Contains(input, "#") {
		return "not a change: Ada 2 takes what stands before # for a path when the base's path is opaque"
	}
	if u != nil && theirs == nil && strings.Contains(u.Hostname(), "xn--") {
		return "ASCII domains never fail (a8d5ca3, 2026-06-25)"
	}
	return ""
}

// bases are base URLs of all kinds.
var bases = []string{
	"https://example.org/a/b/c?d#e", "http://user:pass@h:81/", "file:///C:/x/y", "file://host/p/q", "file:///x", "foo:/a/b",
	"foo://h/a/b?c", "foo:opaque?q", "foo:/.//a/b", "ws://h", "about:blank", "not a base", "foo://", "http://[::1]/x",
}

// pieces are what generated inputs are put together from.
var pieces = []string{
	"http:", "https:", "HTTP:", "ftp:", "file:", "ws:", "foo:", "blob:", "data:", "//", "/", "\\", "///", "?", "#", "@", ":",
	":80", ":443", ":8080", ":99999", ":a", "..", ".", "%2e", "%2E%2e", "C:", "C|", "c|/", "localhost", "LOCALhost", "example.com",
	"EXAMPLE.", "a.b", "1.2.3.4", "0x7f.1", "256", "1..2", "09", "[::1]", "[1:2::8:1.2.3.4]", "[", "]", "user", "pa ss", "%41", "%zz",
	"%", "%00", "%ef%bc%a1", "\u00e9", "\u00df", "\u2603", "\ufffd", "\uff0e", "\u00ad", "xn--n3h", "<", ">", "\"", "'", "`", "{", "}", "|", "^",
	" ", "  ", "\t", "\n", "\x00", "\x1f", "\x7f", "a", "Z", "0", "-", "_", "~", "!", "$", "&", "=", "+", ",", ";", "(", ")", "*", "\U0001f4a9",
}

// generateURL returns a random input. Half of them begin like an absolute URL.
func generateURL(rng *rand.Rand) string {
	var b strings.Builder
	if rng.IntN(2) == 0 {
		b.WriteString([]string{"http://", "https://", "file://", "foo://", "foo:", "ws://u:p@"}[rng.IntN(6)])
	}
	for range rng.IntN(9) {
		b.WriteString(pieces[rng.IntN(len(pieces))])
	}
	return b.String()
}
