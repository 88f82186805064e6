//go:build unix

package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// planter makes secrets, no two alike, by a seed.
type planter struct{ *rand.Rand }

func (p planter) text(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[p.IntN(len(alphabet))]
	}
	return string(b)
}

const (
	plantedDigits = "0123456789"
	plantedLower  = "abcdefghijklmnopqrstuvwxyz"
	plantedAny    = plantedLower + "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + plantedDigits
)

// card returns the number of a card.
func (p planter) card() string {
	digits := "4" + p.text(plantedDigits, 14)
	sum := 0
	for i, c := range digits {
		d := int(c - '0')
		if i%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return digits + fmt.Sprint((10-sum%10)%10)
}

// secret returns a secret that is recognised by its form.
func (p planter) secret() string {
	switch p.IntN(16) {
	case 0, 1, 2:
		return p.text(plantedLower+plantedDigits, 9) + "@" + p.text(plantedLower, 7) + ".example.co.uk"
	case 3:
		return p.text(plantedLower, 5) + "+" + p.text(plantedDigits, 4) + "@x-" + p.text(plantedLower, 4) + ".org"
	case 4:
		return "+49" + "1" + p.text(plantedDigits, 9)
	case 5:
		return "212-555-" + p.text(plantedDigits, 4)
	case 6:
		return p.card()
	case 7:
		c := p.card()
		return c[:4] + "-" + c[4:8] + "-" + c[8:12] + "-" + c[12:]
	case 8:
		part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
		return part(`{"alg":"HS256"}`) + "." + part(`{"sub":"`+p.text(plantedAny, 8)+`"}`) + "." + p.text(plantedAny, 20)
	case 9:
		return "AKIA" + p.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)
	case 10:
		return "ghp_" + p.text(plantedAny, 36)
	case 11:
		return "sk_live_" + p.text(plantedAny, 24)
	case 12:
		return "AIza" + p.text(plantedAny, 35)
	case 13:
		return "xoxb-" + p.text(plantedDigits, 12) + "-" + p.text(plantedDigits, 12) + "-" + p.text(plantedAny, 24)
	case 14:
		return fmt.Sprintf("%d.%s,%d.%s", 10+p.IntN(79), p.text(plantedDigits, 6), 10+p.IntN(99), p.text(plantedDigits, 6))
	}
	return "Bearer " + p.text(plantedAny, 30)
}

// encoded returns a secret as it may stand in a query.
func (p planter) encoded(secret string) string {
	once := url.QueryEscape(secret)
	switch p.IntN(5) {
	case 0:
		return once
	case 1:
		return url.QueryEscape(once)
	case 2: // every byte
		var b strings.Builder
		for i := range len(secret) {
			fmt.Fprintf(&b, "%%%02x", secret[i])
		}
		return b.String()
	case 3:
		return url.PathEscape(secret)
	}
	return strings.ReplaceAll(secret, " ", "%20")
}

// inURL returns a URL with a secret.
func (p planter) inURL(secret string) string {
	named := func() string { return []string{"token", "access_token", "Session_ID", "user[email]", "pwd"}[p.IntN(5)] }
	switch p.IntN(8) {
	case 0:
		return "https://shop.example.com/a/" + url.PathEscape(secret) + "/b?x=1"
	case 1:
		return "https://shop.example.com/#" + p.encoded(secret)
	case 2:
		return "https://" + url.QueryEscape(secret) + ":pw@shop.example.com/"
	case 3:
		return "https://shop.example.com/?" + named() + "=" + url.QueryEscape(secret) + "&x=1"
	case 4:
		return "https://shop.example.com/?next=" + url.QueryEscape("https://x.example/?a=1&"+named()+"="+url.QueryEscape(secret)+"&b=2")
	case 5:
		return "/relative?q=" + p.encoded(secret) // an error: there is no base
	case 6:
		return "https://shop.example.com:99999/?q=" + p.encoded(secret)
	}
	return "https://shop.example.com/p?page=2&q=" + p.encoded(secret) + "&z=%C3%A4"
}

// record returns a line of NDJSON with a secret.
func (p planter) record(secret string) string {
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return string(b)
	}
	page := "https://shop.example.com/" + p.text(plantedLower, 6)
	switch p.IntN(8) {
	case 0:
		return text(map[string]any{"url": page, "referer": p.inURL(secret)})
	case 1:
		return text(map[string]any{"url": page, "note": "mail to (" + secret + ") please"})
	case 2:
		return text(map[string]any{"url": page, "email": secret, "n": 1})
	case 3: // not of its type, so that the row has the record
		return text(map[string]any{"url": page, "n": "no number", "more": map[string]any{"api_token": secret}})
	case 4: // no URL
		return text(map[string]any{"note": secret, "link": p.inURL(secret)})
	case 5: // no JSON, with escapes of JSON
		return `{"url": "` + strings.ReplaceAll(strings.ReplaceAll(p.inURL(secret), "@", `\u0040`), "/", `\/`) + `", "x": }`
	}
	return text(map[string]any{"url": p.inURL(secret), "referer": page, "n": 2})
}

// found returns the secrets that stand in a text, as they are or however the text is encoded.
func found(secrets map[string][]string, text string) (all []string) {
	const begin = 8
	see := func(text string) {
		for i := range len(text) - begin {
			for _, s := range secrets[text[i:i+begin]] {
				if strings.HasPrefix(text[i:], s) {
					all = append(all, s)
				}
			}
		}
	}
	see(text)
	text = strings.NewReplacer(`\u0040`, "@", `\/`, "/", `\u0026`, "&").Replace(text)
	escape := regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	for range 3 {
		text = escape.ReplaceAllStringFunc(text, func(e string) string {
			s, err := url.PathUnescape(e)
			if err != nil {
				panic(err)
			}
			return s
		})
		see(text)
		see(strings.ReplaceAll(text, "+", " "))
	}
	return all
}

// TestPrivacy plants 10,000 secrets in URLs, referrers, fields, rows with an error and dead letters, lets a process write them, and looks
// for them in every file that it leaves, in its log, its metrics and its status page.
func TestPrivacy(t *testing.T) {
	const planting = 10_000
	for _, onError := range []string{"keep", "dead_letter"} {
		t.Run(onError, func(t *testing.T) {
			t.Parallel()
			p, secrets := planter{rand.New(rand.NewPCG(19, 19))}, map[string][]string{}
			var in strings.Builder
			for range planting {
				s := p.secret()
				secrets[s[:8]] = append(secrets[s[:8]], s)
				fmt.Fprintf(&in, "%s\n", p.record(s))
			}
			address := "198.51.100.77"
			secrets[address[:8]] = append(secrets[address[:8]], address)
			fmt.Fprintf(&in, "{\"url\":\"https://h/\",\"remote_addr\":%q}\n{\"remote_addr\":%q}\n", address, address)
			dir := t.TempDir()
			letters := ""
			if onError == "dead_letter" {
				letters = ", dead_letters: " + filepath.Join(dir, "dead")
			}
			writeFile(t, dir, "c.yaml", fmt.Sprintf(`source:
  file: {paths: ["-"]}
  codec: {ndjson: {url: /url, carry: [{name: referer, pointer: /referer}, {name: note, pointer: /note}, {name: email, pointer: /email}, {name: n, pointer: /n, type: int64}, {name: remote_addr, pointer: /remote_addr}]}}
columns: {canonical: {form: dedupe}, also: [{field: referer}]}
privacy: {address: {}}
on_error: %s
dedupe: {path: %q, mode: mark}
sink: {ndjson: {path: %q%s}, roll: {every: 1s}}
admin: {listen: "127.0.0.1:0"}
log: {level: debug}
`, onError, filepath.Join(dir, "state"), filepath.Join(dir, "out"), letters))
			cmd := process(t, "run", filepath.Join(dir, "c.yaml"))
			var log testproc.Log
			cmd.Stdout, cmd.Stderr = &log, &log
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := stdin.Write([]byte(in.String())); err != nil {
				t.Fatal(err, log.String())
			}
			listener := regexp.MustCompile(`url=(http://[0-9.:]+/)`)
			eventually(t, &log, func() bool { return listener.MatchString(log.String()) && hasRows(t, dir) })
			base := listener.FindStringSubmatch(log.String())[1]
			told := ""
			for _, page := range []string{"", "api/status", "metrics"} {
				told += answer(t, base+page, "")
			}
			if !strings.Contains(told, `urlmill_removed_total{rule="email"}`) {
				t.Errorf("the metrics do not say what was removed")
			}
			if err := stdin.Close(); err != nil {
				t.Fatal(err)
			}
			if code := wait(t, cmd); code != exitOK {
				t.Fatalf("exit code %d:\n%s", code, log.String())
			}
			for _, s := range found(secrets, told+log.String()) {
				t.Errorf("a page or the log has %s", s)
			}
			lookInFiles(t, dir, secrets)
		})
	}
}

// lookInFiles looks for secrets in all files below dir.
func lookInFiles(t *testing.T, dir string, secrets map[string][]string) {
	rows := 0
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		rows += strings.Count(string(text), "\n")
		all := found(secrets, string(text))
		for _, s := range all[:min(5, len(all))] {
			at := max(strings.Index(string(text), s), 0)
			t.Errorf("%s has %s and %d others: %s", path, s, len(all)-1, text[max(0, at-200):min(len(text), at+100)])
		}
		return err
	})
	if err != nil || rows < 10_000 {
		t.Errorf("%d lines, %v", rows, err)
	}
}
