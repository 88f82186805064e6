// The package mmdbwriter does not build where an int has 32 bits.

//go:build !386 && !arm

package enrich

import (
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/enrich/agents"
)

// placeFile writes a file that has the whole network in a country, at a point.
func placeFile(t testing.TB, path, country string) {
	t.Helper()
	tree, err := mmdbwriter.New(mmdbwriter.Options{IncludeReservedNetworks: true})
	if err != nil {
		t.Fatal(err)
	}
	_, network, _ := net.ParseCIDR("192.0.2.0/24")
	if err := tree.Insert(network, mmdbtype.Map{
		"country":                  mmdbtype.Map{"iso_code": mmdbtype.String(country)},
		"location":                 mmdbtype.Map{"latitude": mmdbtype.Float64(52.5), "longitude": mmdbtype.Float64(13.25)},
		"autonomous_system_number": mmdbtype.Uint32(64496),
	}); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.WriteTo(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// clientOptions are options with a file of places and one of Googlebot's ranges, in dir.
func clientOptions(t testing.TB, dir string) *Options {
	placeFile(t, filepath.Join(dir, "place.mmdb"), "DE")
	if err := os.WriteFile(filepath.Join(dir, "ranges"), []byte("192.0.2.0/28\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	u := DefaultUserAgent()
	u.BotRanges = []BotRanges{{Bots: []string{"Googlebot"}, Files: []string{filepath.Join(dir, "ranges")}}}
	return &Options{UserAgent: &u, Address: &Address{Files: []string{filepath.Join(dir, "place.mmdb")}}}
}

func values(name string, texts ...string) *pipeline.Values {
	v := &pipeline.Values{Field: pipeline.Field{Name: name}}
	for _, text := range texts {
		v.Text.Append([]byte(text))
		v.Valid = append(v.Valid, text != "")
	}
	return v
}

func allClientColumns() (all []ClientColumn) {
	for c := range NumClientColumns {
		all = append(all, c)
	}
	return all
}

// line returns row i of all columns.
func (d *Describer) line(i int) string {
	var all []string
	for c := range NumClientColumns {
		t, n := d.Text(c), d.Number(c)
		switch {
		case c.IsNumber() && n.Valid[i/8]>>(i%8)&1 == 0, !c.IsNumber() && !t.IsValid(i):
			all = append(all, "")
		case c == BotVerified:
			all = append(all, fmt.Sprint(n.Bits[i/8]>>(i%8)&1 != 0))
		case c == ASN:
			all = append(all, fmt.Sprint(n.Ints[i]))
		case c.IsNumber():
			all = append(all, fmt.Sprint(n.Floats[i]))
		default:
			all = append(all, string(t.At(i)))
		}
	}
	return strings.Join(all, "|")
}

const (
	chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.7499.40 Safari/537.36"
	google = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
)

// TestClient has all columns of rows with and without what they are made of.
func TestClient(t *testing.T) {
	clients, err := clientOptions(t, t.TempDir()).ReadClients()
	if err != nil {
		t.Fatal(err)
	}
	const nothing = "||||||||"
	d := NewDescriber(allClientColumns())
	rows := [][3]string{
		{chrome, "192.0.2.99", "Chrome|143.0.7499|Windows|10|desktop||||" + "|DE|||52.5|13.25|64496||"},
		{google, "192.0.2.3", "Googlebot|2.1|||bot|Spider|search|Googlebot|true|DE|||52.5|13.25|64496||"},
		{google, "198.51.100.1", "Googlebot|2.1|||bot|Spider|search|Googlebot|false||||||||"},
		{google, "", "Googlebot|2.1|||bot|Spider|search|Googlebot|||||||||address-missing"},
		{google, "host.example", "Googlebot|2.1|||bot|Spider|search|Googlebot|||||||||address-malformed"},
		{"curl/8.5.0", "192.0.2.3", "curl|8.5.0|||bot||tool|curl||DE|||52.5|13.25|64496||"},
		{"", "192.0.2.3", nothing + "|DE|||52.5|13.25|64496||user-agent-missing"},
		{"-", "-", nothing + "||||||||user-agent-missing"},
		{"a\x01b", "", nothing + "||||||||user-agent-malformed"},
		{strings.Repeat("a", 2049), "", nothing + "||||||||user-agent-malformed"},
	}
	agent, addr := values("user_agent"), values("remote_addr")
	for _, row := range rows {
		for v, text := range map[*pipeline.Values]string{agent: row[0], addr: row[1]} {
			v.Text.Append([]byte(text))
			v.Valid = append(v.Valid, text != "")
		}
	}
	fields := Fields{UserAgent: agent, BotAddress: addr, Address: addr}
	for range 2 {
		if err := d.Fill(clients, len(rows), fields); err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			if got := d.line(i); got != row[2] {
				t.Errorf("%q from %q:\n%s, want\n%s", row[0], row[1], got, row[2])
			}
		}
	}
	if n := testing.AllocsPerRun(100, func() { _ = d.Fill(clients, len(rows), fields) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestClientHints has rows with and without hints, of which those with the same texts are remembered.
func TestClientHints(t *testing.T) {
	o := clientOptions(t, t.TempDir())
	o.Address = nil
	clients, err := o.ReadClients()
	if err != nil {
		t.Fatal(err)
	}
	d := NewDescriber(allClientColumns())
	rows := [][4]string{ // the text, Sec-CH-UA, Sec-CH-UA-Platform-Version
		{chrome, "", "", "Chrome|143.0.7499|Windows|10|desktop" + strings.Repeat("|", 12)},
		{chrome, "", `"15.0.0"`, "Chrome|143.0.7499|Windows|11|desktop" + strings.Repeat("|", 12)},
		{chrome, `"Brave";v="143"`, `"10.0.0"`, "Brave|143|Windows|10|desktop" + strings.Repeat("|", 12)},
		{chrome, `"Brave`, `"15.0.0"`, "Chrome|143.0.7499|Windows|11|desktop" + strings.Repeat("|", 12) + "client-hints-malformed"},
		{chrome, strings.Repeat("a", 3000), `"15.0.0"`, "Chrome|143.0.7499|Windows|10|desktop" + strings.Repeat("|", 12) + "client-hints-malformed"},
		{chrome, "a\nb", `"15.0.0"`, "Chrome|143.0.7499|Windows|11|desktop" + strings.Repeat("|", 12) + "client-hints-malformed"},
		{"", `"Brave";v="143"`, "", "Brave|143|Windows||desktop" + strings.Repeat("|", 12) + "user-agent-missing"},
		{"-", "-", "-", strings.Repeat("|", 16) + "user-agent-missing"},
		{"a\x01b", `"Brave";v="143"`, "", strings.Repeat("|", 16) + "user-agent-malformed"},
		{google, `"Brave";v="143"`, "", "Googlebot|2.1|||bot|Spider|search|Googlebot" + strings.Repeat("|", 9)},
	}
	var columns [3][]string
	var platforms []string
	for _, row := range rows {
		for k := range columns {
			columns[k] = append(columns[k], row[k])
		}
		platforms = append(platforms, "Windows")
	}
	platforms[0], platforms[7] = "", ""
	hints := [agents.NumHints]*pipeline.Values{
		agents.Brands: values("sec_ch_ua", columns[1]...), agents.Platform: values("sec_ch_ua_platform", platforms...),
		agents.PlatformVersion: values("sec_ch_ua_platform_version", columns[2]...),
	}
	fields := Fields{UserAgent: values("user_agent", columns[0]...), Hints: &hints}
	for range 2 {
		if err := d.Fill(clients, len(rows), fields); err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			if got := d.line(i); got != row[3] {
				t.Errorf("%.200q:\n%s, want\n%s", row[:3], got, row[3])
			}
		}
	}
	// By one seed in some forty, two of the rows take the place of each other in what is remembered.
	least := math.Inf(1)
	for range 4 {
		d := NewDescriber(allClientColumns())
		least = min(least, testing.AllocsPerRun(100, func() { _ = d.Fill(clients, len(rows), fields) }))
	}
	if least != 0 {
		t.Errorf("%v allocations", least)
	}
}

// TestClientChanged replaces a file, and finds it.
func TestClientChanged(t *testing.T) {
	dir := t.TempDir()
	o := clientOptions(t, dir)
	before, err := o.ReadClients()
	if err != nil || before.Changed() {
		t.Fatalf("changed at once, or %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ranges"), []byte("192.0.2.0/28\n198.51.100.0/24\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	after, err := o.ReadClients()
	if err != nil || !before.Changed() || after.Changed() || after.Version() == before.Version() {
		t.Errorf("a file that was replaced was not found, %v", err)
	}
	if after.Keep(before); after.agents != before.agents {
		t.Error("the cache was not kept")
	}
}

// TestClientErrors has options that are wrong.
func TestClientErrors(t *testing.T) {
	ranges := filepath.Join(t.TempDir(), "ranges")
	if err := os.WriteFile(ranges, []byte("192.0.2.0/28\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	one := func(b ...BotRanges) *Options {
		u := DefaultUserAgent()
		u.BotRanges = b
		return &Options{UserAgent: &u}
	}
	for want, o := range map[string]*Options{
		"address.files: want a file":   {Address: &Address{}},
		"address.files: open /nowhere": {Address: &Address{Files: []string{"/nowhere"}}},
		`user_agent.bot_ranges[0].bots[0]: no bot has the name "GoogleBot" (did you mean`: one(BotRanges{[]string{"GoogleBot"}, []string{ranges}}),
		"user_agent.bot_ranges[0].files: want a file":                                     one(BotRanges{[]string{"Googlebot"}, nil}),
		"user_agent.bot_ranges[0].bots: want the name":                                    one(BotRanges{nil, []string{ranges}}),
		"user_agent.bot_ranges[1].bots[0]: Googlebot has ranges already":                  one(BotRanges{[]string{"Googlebot"}, []string{ranges}}, BotRanges{[]string{"Googlebot"}, []string{ranges}}),
	} {
		if _, err := o.ReadClients(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// BenchmarkClient makes all columns of rows whose user agents and addresses were there before.
func BenchmarkClient(b *testing.B) {
	clients, err := clientOptions(b, b.TempDir()).ReadClients()
	if err != nil {
		b.Fatal(err)
	}
	agent, addr := values("user_agent"), values("remote_addr")
	const rows = 8192
	for i := range rows {
		agent.Text.Append(fmt.Appendf(nil, "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36", i%200))
		addr.Text.Append(fmt.Appendf(nil, "192.0.2.%d", i%256))
		agent.Valid, addr.Valid = append(agent.Valid, true), append(addr.Valid, true)
	}
	for name, f := range map[string]Fields{"user_agent": {UserAgent: agent}, "address": {Address: addr}} {
		b.Run(name, func(b *testing.B) {
			d := NewDescriber(allClientColumns())
			b.ReportAllocs()
			for b.Loop() {
				if err := d.Fill(clients, rows, f); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
