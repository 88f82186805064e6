package codectest

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Hit is a request to a web server, from which the records of all formats are made.
type Hit struct {
	Time                                 time.Time
	IP, User, Method, Host, Path, Query  string
	Protocol, Referer, Agent, ID, Cipher string
	Status, Bytes, Micros                int
}

var (
	hosts    = []string{"www.example.com", "shop.example.co.uk", "blog.example.org"}
	sections = []string{"products", "garden", "articles/2026", "img/icons", "search", "checkout/cart", "account", "blog/archive/november"}
	pages    = []string{"chairs", "index.html", "logo.svg", "tables-and-benches", "summer-sale", "item.php", "", "a%20walk"}
	keys     = []string{"id", "utm_source", "utm_campaign", "q", "page", "ref", "lang", "sort"}
	values   = []string{"8841", "newsletter", "summer+sale", "wooden%20chairs", "2", "home", "de", "price_asc"}
	referers = []string{
		"", "", "https://www.google.com/", "https://www.example.com/products/garden/", "https://www.bing.com/search?q=garden+chairs&form=QBLH",
		"https://news.example.org/2026/11/21/garden-furniture-of-the-year", "https://t.co/Zx81kQ", "https://www.example.com/search?q=chairs&page=3",
	}
	agents = []string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "curl/8.14.1", "okhttp/4.12.0",
		"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X)",
	}
)

// NewHit makes up request number i, always the same.
func NewHit(i int) Hit {
	r := rand.New(rand.NewPCG(20261121, uint64(i)))
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	h := Hit{
		Time: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).Add(time.Duration(i) * 40 * time.Millisecond),
		IP:   fmt.Sprintf("203.0.%d.%d", r.IntN(256), r.IntN(256)), Method: "GET", Host: pick(hosts),
		Path: "/" + pick(sections) + "/" + pick(pages), Protocol: "HTTP/1.1", Referer: pick(referers), Agent: pick(agents),
		ID: fmt.Sprintf("%016x", r.Uint64()), Cipher: "TLSv1.3", Status: 200, Bytes: r.IntN(100_000), Micros: r.IntN(900_000) + 1000,
	}
	switch r.IntN(20) {
	case 0:
		h.Method, h.Status = "POST", 302
	case 1:
		h.Status = 404
	case 2:
		h.User, h.Protocol = "ann", "HTTP/2.0"
	}
	for n := range r.IntN(4) {
		separator := "&"
		if n == 0 {
			separator = ""
		}
		h.Query += separator + pick(keys) + "=" + pick(values)
	}
	return h
}

// Target returns path and query.
func (h *Hit) Target() string {
	if h.Query == "" {
		return h.Path
	}
	return h.Path + "?" + h.Query
}

// URL returns the whole URL.
func (h *Hit) URL() string { return "https://" + h.Host + h.Target() }

// request returns the request line.
func (h *Hit) request() string { return h.Method + " " + h.Target() + " " + h.Protocol }

// clf returns the time as the Common Log Format has it.
func (h *Hit) clf() string { return h.Time.Format("02/Jan/2006:15:04:05 -0700") }

// dash returns s, or what logs have in the place of nothing.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
