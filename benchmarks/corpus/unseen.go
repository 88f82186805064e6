package corpus

import (
	"math"
	"strconv"
	"strings"
)

// unseenURL makes the URL of a call of an API, of a file on a content delivery network, or of a tracker's beacon. Lengths
// and numbers are geometric or log-normal where those of the other kinds are uniform, hosts are fewer, longer and
// deeper, and no part comes from the other kinds' generators but words.
func (g *generator) unseenURL() string {
	switch n := g.IntN(100); {
	case n < 40:
		return g.apiURL()
	case n < 72:
		return g.cdnURL()
	default:
		return g.beaconURL()
	}
}

// geometric returns a number from 0 on with a mean of p/(1-p).
func (g *generator) geometric(p float64) int {
	n := 0
	for g.chance(p) {
		n++
	}
	return n
}

// logNormal returns a number of at least 1 with a median.
func (g *generator) logNormal(median, sigma float64) int {
	return max(1, int(median*math.Exp(g.NormFloat64()*sigma)))
}

func (g *generator) uuid() string {
	h := g.chars(32, hex)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
}

func (g *generator) apiURL() string {
	var b strings.Builder
	b.WriteString("https://" + pick(g, []string{"api.", "graph.", "rest.", "gateway." + g.word() + ".", "v2.api.", ""}))
	b.WriteString(g.word() + pick(g, []string{"", g.word(), "-" + g.word()}))
	b.WriteString(g.weighted([]weighted{{".com", 50}, {".io", 20}, {".dev", 6}, {".co.jp", 5}, {".com.au", 4}, {".herokuapp.com", 5}, {".app", 5}, {".gov.uk", 2}}))
	b.WriteString(pick(g, []string{"/v1", "/v2", "/api/v3", "/rest", "/2.0"}))
	for range 1 + g.geometric(0.6) {
		b.WriteString("/" + g.weighted([]weighted{{g.word() + "s", 60}, {g.chars(g.logNormal(5, 0.6), digits), 20}, {g.uuid(), 14}, {g.word() + ":" + g.word(), 4}, {"@me", 2}}))
	}
	if g.chance(0.55) {
		b.WriteByte('?')
		for i := range 1 + g.geometric(0.65) {
			if i > 0 {
				b.WriteByte('&')
			}
			b.WriteString(g.weighted([]weighted{
				{"limit=" + g.chars(1+g.IntN(3), digits), 25},
				{"fields=" + g.word() + "," + g.word() + "," + g.word(), 15},
				{"filter[" + g.word() + "]=" + g.word(), 8},
				{"cursor=" + g.chars(g.logNormal(28, 0.5), alphanumeric) + "%3D%3D", 12},
				{"since=2026-11-21T0" + g.chars(1, digits) + "%3A" + g.chars(2, "012345") + "%3A00Z", 10},
				{"q=" + g.word() + "+" + g.word(), 10},
				{g.word() + "=" + strconv.FormatBool(g.chance(0.5)), 20},
			}))
		}
	}
	return b.String()
}

func (g *generator) cdnURL() string {
	var b strings.Builder
	b.WriteString("https://" + g.weighted([]weighted{
		{"d" + g.chars(13, "abcdefghijklmnopqrstuvwxyz"+digits) + ".cloudfront.net", 30},
		{"cdn." + g.word() + ".net", 25},
		{"static-" + g.chars(2, digits) + ".assets." + g.word() + g.word() + ".com", 20},
		{g.word() + "-" + g.word() + ".s3.eu-central-1.amazonaws.com", 15},
		{"i" + g.chars(1, digits) + ".wp.com", 10},
	}))
	for range 1 + g.geometric(0.7) {
		b.WriteString("/" + g.weighted([]weighted{{g.word(), 45}, {g.chars(2, hex), 25}, {"w_" + g.chars(3, digits) + ",h_" + g.chars(3, digits), 8}, {"@" + g.word(), 4}, {"2026", 10}}))
	}
	b.WriteString("/" + g.chars(g.logNormal(18, 0.5), hex) + pick(g, []string{".min.js", ".webp", ".jpg", ".ts", ".m4s", "~" + g.word() + ".css", "_%C3%A9t%C3%A9.png"}))
	if g.chance(0.22) {
		b.WriteString("?" + pick(g, []string{"v=" + g.chars(8, hex), g.chars(10, digits), "Expires=" + g.chars(10, digits) + "&Signature=" + g.chars(86, alphanumeric+"-_~") + "&Key-Pair-Id=" + g.chars(14, alphanumeric)}))
	}
	return b.String()
}

func (g *generator) beaconURL() string {
	var b strings.Builder
	b.WriteString("https://" + pick(g, []string{"pixel.", "collect.", "t.", "events.eu1.", "px-" + g.chars(1, digits) + ".ads."}) + g.word() + pick(g, []string{".com", ".net", ".io", ".co.uk", ".de"}))
	b.WriteString(pick(g, []string{"/collect", "/p.gif", "/b/ss/" + g.word() + "/1", "/track", "/"}) + "?v=1")
	for range 2 + g.geometric(0.82) {
		b.WriteString("&" + g.chars(1+g.geometric(0.5), "abcdefghijklmnopqrstuvwxyz") + "=" + g.weighted([]weighted{
			{g.chars(1+g.geometric(0.7), digits), 40},
			{g.word(), 20},
			{"", 8},
			{"https%3A%2F%2Fwww." + g.word() + ".com%2F" + g.word() + "%2F%3Fid%3D" + g.chars(4, digits), 10},
			{"%7B%22" + g.word() + "%22%3A" + g.chars(3, digits) + "%7D", 6},
			{g.word() + "%20" + g.word(), 8},
			{g.uuid(), 8},
		}))
	}
	return b.String()
}
