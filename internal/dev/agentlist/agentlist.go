// Package agentlist makes user agents for tests and benchmarks: of forms that browsers, apps and bots have, with versions, models and
// builds of their own, so that a list has as many as it is asked for. A seed always gives the same list.
package agentlist

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// form is a user agent with what varies in braces: {n:FROM:TO} is a number below TO. It is as frequent as its weight says.
type form struct {
	weight int
	text   string
}

const webkit = "AppleWebKit/537.36 (KHTML, like Gecko)"

var forms = []form{
	{8, "Mozilla/5.0 (Windows NT 10.0; Win64; x64) " + webkit + " Chrome/{chrome} Safari/537.36"},
	{4, "Mozilla/5.0 (Windows NT 10.0; Win64; x64) " + webkit + " Chrome/{chrome} Safari/537.36 Edg/{chrome}"},
	{1, "Mozilla/5.0 (Windows NT {nt}; Win64; x64) " + webkit + " Chrome/{chrome} Safari/537.36 OPR/{n:70:125}.0.0.0"},
	{4, "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_{n:0:8}) " + webkit + " Chrome/{chrome} Safari/537.36"},
	{3, "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/{n:13:27}.{n:0:7}.{n:0:4} Safari/605.1.15"},
	{2, "Mozilla/5.0 (Windows NT {nt}; Win64; x64; rv:{n:90:146}.0) Gecko/20100101 Firefox/{n:90:146}.0"},
	{1, "Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:{n:90:146}.0) Gecko/20100101 Firefox/{n:90:146}.0"},
	{1, "Mozilla/5.0 (X11; Linux x86_64) " + webkit + " Chrome/{chrome} Safari/537.36"},
	{1, "Mozilla/5.0 (X11; CrOS x86_64 {n:13000:16500}.{n:0:90}.0) " + webkit + " Chrome/{chrome} Safari/537.36"},
	{8, "Mozilla/5.0 (iPhone; CPU iPhone OS {ios} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/{n:14:27}.{n:0:7} Mobile/15E148 Safari/604.1"},
	{2, "Mozilla/5.0 (iPhone; CPU iPhone OS {ios} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/{chrome} Mobile/15E148 Safari/604.1"},
	{2, "Mozilla/5.0 (iPhone; CPU iPhone OS {ios} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) GSA/{n:200:380}.{n:0:3}.{n:100000000:800000000} Mobile/15E148 Safari/604.1"},
	{3, "Mozilla/5.0 (iPhone; CPU iPhone OS {ios} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/{n:300:520}.0.0.{n:10:60}.{n:50:130};FBBV/{n:300000000:700000000};FBDV/iPhone{n:10:18},{n:1:6};FBMD/iPhone;FBSN/iOS;FBSV/{n:14:19}.{n:0:7};FBSS/3;FBCR/;FBID/phone;FBLC/en_US;FBOP/80]"},
	{2, "Mozilla/5.0 (iPhone; CPU iPhone OS {ios} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram {n:200:400}.0.0.{n:10:40}.{n:50:130} (iPhone{n:10:18},{n:1:6}; iOS {ios}; en_US; en; scale=3.00; 1170x2532; {n:300000000:700000000})"},
	{2, "Mozilla/5.0 (iPad; CPU OS {ios} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/{n:14:27}.{n:0:7} Mobile/15E148 Safari/604.1"},
	{6, "Mozilla/5.0 (Linux; Android 10; K) " + webkit + " Chrome/{chrome} Mobile Safari/537.36"},
	{9, "Mozilla/5.0 (Linux; Android {n:8:17}; {model}) " + webkit + " Chrome/{chrome} Mobile Safari/537.36"},
	{6, "Mozilla/5.0 (Linux; Android {n:8:17}; {model} Build/{build}; wv) " + webkit + " Version/4.0 Chrome/{chrome} Mobile Safari/537.36"},
	{4, "Mozilla/5.0 (Linux; Android {n:8:17}; {model}) " + webkit + " SamsungBrowser/{n:12:30}.0 Chrome/{chrome} Mobile Safari/537.36"},
	{3, "Mozilla/5.0 (Linux; Android {n:8:17}; {model} Build/{build}; wv) " + webkit + " Version/4.0 Chrome/{chrome} Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/{n:300:520}.0.0.{n:10:60}.{n:50:130};]"},
	{1, "Mozilla/5.0 (Linux; U; Android {n:8:14}; en-us; {model} Build/{build}) " + webkit + " Version/4.0 Chrome/{chrome} Mobile Safari/537.36 XiaoMi/MiuiBrowser/{n:12:19}.{n:1:30}.{n:0:9}-gn"},
	{1, "Mozilla/5.0 (Android {n:8:17}; Mobile; rv:{n:90:146}.0) Gecko/{n:90:146}.0 Firefox/{n:90:146}.0"},
	{3, "Dalvik/2.1.0 (Linux; U; Android {n:8:17}; {model} Build/{build})"},
	{2, "okhttp/{n:3:6}.{n:0:13}.{n:0:9}"},
	{3, "{word}/{n:1:4000} CFNetwork/{n:1100:3900}.{n:0:700}.{n:0:4} Darwin/{n:19:26}.{n:0:7}.0"},
	{1, "Mozilla/5.0 (SMART-TV; LINUX; Tizen {n:4:10}.0) AppleWebKit/537.36 (KHTML, like Gecko) {n:60:140}.0.{n:3000:7000}.0/{n:4:10}.0 TV Safari/537.36"},
	{1, "Mozilla/5.0 (Web0S; Linux/SmartTV) " + webkit + " Chrome/{chrome} Safari/537.36 WebAppManager"},
	{1, "Mozilla/5.0 (PlayStation; PlayStation 5/{n:3:13}.{n:10:60}) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.4 Safari/605.1.15"},
	{3, "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"},
	{3, "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) " + webkit + " Chrome/{chrome} Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"},
	{2, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/{chrome} Safari/537.36"},
	{1, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.{n:0:5}; +https://openai.com/gptbot)"},
	{1, "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)"},
	{1, "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"},
	{2, "Mozilla/5.0 (compatible; {word}Bot/{n:1:9}.{n:0:9}; +https://www.{word}.example/bot.html)"},
	{1, "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"},
	{1, "python-requests/2.{n:20:33}.{n:0:6}"},
	{1, "curl/{n:7:9}.{n:0:90}.{n:0:4}"},
	{1, "Go-http-client/{n:1:3}.1"},
	{1, "Apache-HttpClient/4.5.{n:1:15} (Java/{n:8:22}.0.{n:1:20})"},
}

var models = []string{
	"SM-G9{n:60:99}B", "SM-A{n:10:80}5F", "SM-S9{n:10:39}U", "SM-T{n:500:980}", "Pixel {n:3:11}", "Pixel {n:4:11} Pro", "M2{n:100:200}K{n:10:30}G", "Redmi Note {n:7:15}",
	"2{n:200:500}RA{n:10:90}C", "CPH2{n:100:700}", "RMX{n:2000:4000}", "V2{n:100:500}", "moto g{n:5:90}", "ONEPLUS A{n:3000:7000}", "LE2{n:100:140}", "XQ-{word}{n:40:80}", "KFTRWI",
	"JNY-LX{n:1:4}", "VOG-L{n:10:30}", "Nokia {n:2:9}.{n:1:5}", "TECNO KG{n:1:9}", "Infinix X{n:600:700}", "LM-Q{n:600:740}", "itel {word}{n:1:90}",
}

// one returns a user agent of a form.
func one(r *rand.Rand, text string) string {
	out := new(strings.Builder)
	for {
		before, rest, found := strings.Cut(text, "{")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		var name string
		name, text, _ = strings.Cut(rest, "}")
		var from, to int
		if n, _ := fmt.Sscanf(name, "n:%d:%d", &from, &to); n == 2 {
			fmt.Fprint(out, from+r.IntN(to-from))
			continue
		}
		switch name {
		case "chrome":
			if r.IntN(2) == 0 {
				fmt.Fprintf(out, "%d.0.0.0", 80+r.IntN(64))
			} else {
				fmt.Fprintf(out, "%d.0.%d.%d", 80+r.IntN(64), 4000+r.IntN(3500), r.IntN(200))
			}
		case "ios":
			fmt.Fprintf(out, "%d_%d_%d", 13+r.IntN(7), r.IntN(8), r.IntN(4))
		case "nt":
			out.WriteString([]string{"6.1", "6.3", "10.0"}[r.IntN(3)])
		case "model":
			out.WriteString(one(r, models[r.IntN(len(models))]))
		case "build":
			fmt.Fprintf(out, "%cP1A.%02d%02d%02d.%03d", 'P'+r.IntN(8), 18+r.IntN(8), 1+r.IntN(12), 1+r.IntN(28), r.IntN(100))
		case "word":
			for i := range 5 + r.IntN(5) {
				out.WriteByte("bcdfghklmnprst"[r.IntN(14)] &^ byte(0x20*(1-min(i, 1)))) // the first letter is a capital
				out.WriteByte("aeiou"[r.IntN(5)])
			}
		default:
			panic("agentlist: no " + name)
		}
	}
}

// Distinct returns at most n different user agents, in random order.
func Distinct(n int, seed uint64) []string {
	r := rand.New(rand.NewPCG(seed, 19))
	total := 0
	for _, f := range forms {
		total += f.weight
	}
	seen, texts := make(map[string]bool, n), make([]string, 0, n)
	for tries := 0; len(texts) < n && tries < 20*n; tries++ {
		at := r.IntN(total)
		k := 0
		for ; at >= forms[k].weight; k++ {
			at -= forms[k].weight
		}
		if text := one(r, forms[k].text); !seen[text] {
			seen[text] = true
			texts = append(texts, text)
		}
	}
	return texts
}

// Stream returns n user agents of a list as logs have them: the k-th of the list is seen about 1/k times as often as the first.
func Stream(list []string, n int, seed uint64) []string {
	r := rand.New(rand.NewPCG(seed, 19))
	texts := make([]string, n)
	for i := range texts { // the logarithm of the rank is uniform
		texts[i] = list[min(int(math.Exp(r.Float64()*math.Log(float64(len(list)+1))))-1, len(list)-1)]
	}
	return texts
}
