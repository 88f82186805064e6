package agents

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ua-parser/uap-go/uaparser"
	"go.yaml.in/yaml/v3"

	"github.com/urlmill/urlmill/internal/dev/agentlist"
)

// moduleDir returns the folder of uap-go, which has a list of user agents.
func moduleDir(t testing.TB) string {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/ua-parser/uap-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// sample returns the user agents of uap-go's list, in their order.
func sample(t testing.TB) (texts []string) {
	f, err := os.Open(filepath.Join(moduleDir(t), "uas"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for s := bufio.NewScanner(f); s.Scan(); {
		texts = append(texts, s.Text())
	}
	return texts
}

func distinct(texts []string) []string {
	texts = slices.Clone(texts)
	slices.Sort(texts)
	return slices.Compact(texts)
}

// peer is uap-go, whose cache is not asked.
func peer(t testing.TB) *uaparser.Parser {
	p, err := uaparser.New()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// said is what rules say of a user agent, as uap-go has it.
type said struct{ browser, browserVersion, os, osVersion, device string }

func ours(r *Rules, s *Scanner, text string) said {
	a := r.New(s, text)
	return said{a.Browser, a.BrowserVersion, a.OS, a.OSVersion, a.Device}
}

func theirs(p *uaparser.Parser, text string) said {
	b, o, d := p.ParseUserAgent(text), p.ParseOs(text), p.ParseDevice(text)
	return said{known(b.Family), version3(b.Major, b.Minor, b.Patch), known(o.Family), version3(o.Major, o.Minor, o.Patch, o.PatchMinor), known(d.Family)}
}

func version3(parts ...string) string {
	v := ""
	for i, p := range parts {
		if p != "" && i > 0 {
			v += "."
		}
		v += p
	}
	return v
}

// TestSameAsPeer compares what is said of every user agent with uap-go, which tries one expression after the other: of its list, of
// examples of bots, and of texts that are none.
func TestSameAsPeer(t *testing.T) {
	r, p, s := Default(), peer(t), new(Scanner)
	texts := distinct(sample(t))
	for _, text := range slices.Clone(texts[:200]) {
		texts = append(texts, strings.ToUpper(text), strings.ToLower(text), text[len(text)/2:], text+" ſafari Kindle", text+"\xff")
	}
	for _, text := range append(texts, "", "-", " ", "\n", "K", strings.Repeat("Mozilla/5.0 ", 100)) {
		if got, want := ours(r, s, text), theirs(p, text); got != want {
			t.Errorf("%q: %q, uap-go has %q", text, got, want)
		}
	}
}

// core returns a folder with uap-core's tests: that of URLMILL_UAP_CORE, or of the crate uaparser, which has them, if cargo has fetched it.
func core(t *testing.T) string {
	if dir := os.Getenv("URLMILL_UAP_CORE"); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(home, ".cargo/registry/src/*/uaparser-*/src/core"))
	if err != nil || len(found) == 0 {
		const missing = "uap-core's tests are not here: get them by cargo fetch --manifest-path pipeline/enrich/agents/testdata/core/Cargo.toml, or name a clone of uap-core by URLMILL_UAP_CORE"
		if os.Getenv("URLMILL_REQUIRE_UAP_CORE") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	return found[len(found)-1]
}

// TestCore counts the cases of uap-core's own tests that we and uap-go pass, by the same rules: with LONG all, else of the two large
// files one in 20.
func TestCore(t *testing.T) {
	dir, r, p, s := core(t), Default(), peer(t), new(Scanner)
	for _, file := range []string{
		"tests/test_ua.yaml", "tests/test_os.yaml", "tests/test_device.yaml", "test_resources/additional_os_tests.yaml", "test_resources/firefox_user_agent_strings.yaml",
		"test_resources/opera_mini_user_agent_strings.yaml", "test_resources/pgts_browser_list.yaml", "test_resources/podcasting_user_agent_strings.yaml",
	} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		var list struct {
			Cases []struct {
				Text       string `yaml:"user_agent_string"`
				Family     string
				Major      string
				Minor      string
				Patch      string
				PatchMinor string `yaml:"patch_minor"`
			} `yaml:"test_cases"`
		}
		if err := yaml.Unmarshal(text, &list); err != nil {
			t.Fatal(err)
		}
		if len(list.Cases) > 5000 && os.Getenv("LONG") == "" { // uap-go needs minutes for all
			for i := range len(list.Cases) / 20 {
				list.Cases[i] = list.Cases[20*i]
			}
			list.Cases = list.Cases[:len(list.Cases)/20]
		}
		var we, they int
		for _, c := range list.Cases {
			want, v := known(c.Family), version3(c.Major, c.Minor, c.Patch, c.PatchMinor)
			a := r.New(s, c.Text)
			var mine, its bool
			switch {
			case strings.Contains(file, "device"):
				mine, its = a.Device == want, known(p.ParseDevice(c.Text).Family) == want
			case strings.Contains(file, "_os"):
				o := p.ParseOs(c.Text)
				mine = a.OS == want && a.OSVersion == v
				its = known(o.Family) == want && version3(o.Major, o.Minor, o.Patch, o.PatchMinor) == v
			default:
				b := p.ParseUserAgent(c.Text)
				mine = a.Browser == want && a.BrowserVersion == v
				its = known(b.Family) == want && version3(b.Major, b.Minor, b.Patch) == v
			}
			if mine {
				we++
			}
			if its {
				they++
			}
		}
		t.Logf("%s: %d of %d, uap-go %d", file, we, len(list.Cases), they)
		if we < they || len(list.Cases) == 0 {
			t.Errorf("%s: %d of %d cases pass, %d with uap-go", file, we, len(list.Cases), they)
		}
	}
}

// TestMemory compares what all rules hold, every expression compiled, with RulesMemory.
func TestMemory(t *testing.T) {
	live := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := live()
	r, err := parse(userAgentList, botList, crawlerList)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.rules {
		r.rules[i].re()
		r.rules[i].compiled()
	}
	used := live() - before
	runtime.KeepAlive(r)
	t.Logf("%d bytes", used)
	if used > RulesMemory {
		t.Errorf("rules hold %d bytes, RulesMemory says %d", used, RulesMemory)
	}
}

// TestBots looks at the class and the name of bots, and that browsers are none.
func TestBots(t *testing.T) {
	r, s := Default(), new(Scanner)
	for _, c := range []struct{ text, class, name string }{
		{"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "search", "Googlebot"},
		{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)", "ai_training", "GPTBot"},
		{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot", "ai_assistant", "ChatGPT-User"},
		{"Mozilla/5.0 (compatible; OAI-SearchBot/1.0; +https://openai.com/searchbot)", "ai_search", "OAI-SearchBot"},
		{"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)", "preview", "facebookexternalhit"},
		{"Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)", "seo", "AhrefsBot"},
		{"Mozilla/5.0 (compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)", "monitor", "UptimeRobot"},
		{"curl/8.5.0", "tool", "curl"},
		{"Mozilla/5.0 (compatible; NoListHasThisbot/1.0)", "unknown", "NoListHasThisbot"},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36", "", ""},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1", "", ""},
		{"Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "", ""},
		{"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Mobile Safari/537.36 EdgA/143.0.0.0", "", ""},
	} {
		if a := r.New(s, c.text); a.Bot != c.class || a.BotName != c.name {
			t.Errorf("%q is %q %q, want %q %q", c.text, a.Bot, a.BotName, c.class, c.name)
		}
	}
}

// groupsBy returns the positions of the groups of a match by regexp, nil if there is none.
func groupsBy(re *regexp.Regexp, text string) (groups []int32) {
	for _, at := range re.FindStringSubmatchIndex(text) {
		groups = append(groups, int32(at))
	}
	return groups
}

// holdProgram compares a program with regexp. What takes too long is not said.
func holdProgram(t *testing.T, m *machine, re *regexp.Regexp, p *program, text string) {
	t.Helper()
	if p == nil || !isASCII(text) {
		return
	}
	found, done := p.match(m, text)
	want := groupsBy(re, text)
	if done && (found != (want != nil) || found && p.saves > 0 && !slices.Equal(m.saved[2:p.saves], want[2:])) {
		t.Fatalf("%s in %q: %t %v, regexp has %v", re, text, found, m.saved[:p.saves], want)
	}
}

// TestProgram compares programs with regexp: of every rule on texts that may match it, and on parts of them. Few rules have none.
func TestProgram(t *testing.T) {
	r, s, m := Default(), new(Scanner), new(machine)
	none := 0
	programs := make([]*program, len(r.rules))
	for i := range programs {
		if programs[i] = compile(r.rules[i].expr, true); programs[i] == nil {
			none++
			t.Logf("no program: %s", r.rules[i].expr)
		}
	}
	if none > len(r.rules)/100 {
		t.Errorf("%d of %d rules have no program", none, len(r.rules))
	}
	texts := append(distinct(sample(t)), agentlist.Distinct(1000, 7)...)
	for k, text := range texts {
		r.filter.find(&s.matches, text)
		for i := range r.rules {
			if s.matches.bits[i/64]>>(i%64)&1 == 0 && (i+k)%500 != 0 {
				continue
			}
			for _, part := range []string{text, text[len(text)/3:], text[:len(text)/2], strings.ToUpper(text)} {
				holdProgram(t, m, r.rules[i].re(), programs[i], part)
			}
		}
	}
}

// FuzzProgram compares programs of any expression with regexp, on any text.
func FuzzProgram(f *testing.F) {
	for _, c := range [][2]string{
		{`^.{0,3}?((?:[a-z][a-z -]{0,5}|)[^c][Bb]ot)\b`, "x bbot abcbot"},
		{`(a|ab)(c|bcd)(d*)`, "abcd"},
		{`(?:(a)|b)*$`, "abab"},
		{`(?i)(ab){1,2}?c|\Bx`, "aBABc"},
		{`(a*)*|b`, "aab"},
		{`(a|b|)+c`, "abc"},
		{`(?:(x+)y?){2,3}`, "xxyxxx"},
		{`[^a]+?(b+)$`, "cbbb"},
		{`$+`, "0x"},
	} {
		f.Add(c[0], c[1])
	}
	m := new(machine)
	f.Fuzz(func(t *testing.T, expr, text string) {
		re, err := regexp.Compile(expr)
		if err != nil || len(expr) > 200 || len(text) > 200 || re.NumSubexp() > 9 {
			return
		}
		holdProgram(t, m, re, compile(expr, true), text)
		if p, found := compile(expr, false), re.MatchString(text); p != nil && isASCII(text) {
			if got, done := p.match(m, text); done && got != found {
				t.Fatalf("%s in %q: %t", expr, text, got)
			}
		}
	})
}

// TestDeviceClass has the classes of devices.
func TestDeviceClass(t *testing.T) {
	r, s := Default(), new(Scanner)
	for text, want := range map[string]string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36":                         "desktop",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1": "mobile",
		"Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1":          "tablet",
		"Mozilla/5.0 (Linux; Android 13; SM-X700) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36":                          "tablet",
		"Mozilla/5.0 (PlayStation; PlayStation 5/6.00) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.0 Safari/605.1.15":                     "console",
		"Mozilla/5.0 (SMART-TV; LINUX; Tizen 6.0) AppleWebKit/537.36 (KHTML, like Gecko) 76.0.3809.146/6.0 TV Safari/537.36":                      "tv",
		"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)":                                                                 "bot",
		"nothing that is known": "",
	} {
		if a := r.New(s, text); a.DeviceClass != want {
			t.Errorf("%q is %q, want %q", text, a.DeviceClass, want)
		}
	}
}

// TestCache checks that a cache says what rules say, that it allocates nothing for what it remembers, and forgets what is long.
func TestCache(t *testing.T) {
	s, texts := new(Scanner), distinct(sample(t))[:500]
	c := NewCache(Default(), 1<<20)
	for range 2 {
		for _, text := range texts {
			if got, want := *c.Find(s, []byte(text)), *Default().New(s, text); got.Browser != want.Browser || got.OS != want.OS || got.BotName != want.BotName {
				t.Errorf("%q: %v, want %v", text, got, want)
			}
		}
	}
	text := []byte(texts[0])
	first := c.Find(s, text)
	if n := testing.AllocsPerRun(100, func() { c.Find(s, text) }); n != 0 || c.Find(s, text) != first {
		t.Errorf("%v allocations for a user agent that is remembered", n)
	}
	if a := c.Find(s, []byte("Mozilla/5.0\n")); a != nil {
		t.Errorf("a line end is in %v", a)
	}
	long := []byte("App/" + strings.Repeat("1", 2000) + " CFNetwork/1.0")
	if a := c.Find(s, long); len(a.BrowserVersion) != 2000 || c.Find(s, long) == a {
		t.Errorf("a version of %d bytes is remembered", len(a.BrowserVersion))
	}
}

// BenchmarkUserAgentNew looks up every user agent of the list once, in random order, and BenchmarkUserAgentRepeated all of the list in its order.
func BenchmarkUserAgentNew(b *testing.B) {
	texts := distinct(sample(b))
	b.Run("urlmill", func(b *testing.B) {
		r, s := Default(), new(Scanner)
		for _, text := range texts {
			r.New(s, text)
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			r.New(s, texts[i%len(texts)])
		}
	})
	b.Run("uap-go", func(b *testing.B) {
		p := peer(b)
		for i := 0; b.Loop(); i++ {
			theirs(p, texts[i%len(texts)])
		}
	})
}

func BenchmarkUserAgentRepeated(b *testing.B) {
	texts := sample(b)
	var bytes [][]byte
	for _, text := range texts {
		bytes = append(bytes, []byte(text))
	}
	b.Run("urlmill", func(b *testing.B) {
		c, s := NewCache(Default(), 8<<20), new(Scanner)
		for _, text := range bytes {
			c.Find(s, text)
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			c.Find(s, bytes[i%len(bytes)])
		}
	})
	b.Run("uap-go", func(b *testing.B) {
		p, err := uaparser.New(uaparser.WithCacheSize(8192))
		if err != nil {
			b.Fatal(err)
		}
		for i := 0; b.Loop(); i++ {
			theirs(p, texts[i%len(texts)])
		}
	})
}
