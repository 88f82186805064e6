package a

import (
	"fmt"

	"github.com/urlmill/urlmill/urlcore"
)

var lines [][]byte

type row struct {
	name string
	url  urlcore.URL
}

func collect() (urls []urlcore.URL, rows []row, byName map[string]urlcore.URL) {
	var p urlcore.Parser
	var u, last urlcore.URL
	for _, line := range lines {
		if p.Parse(&u, line, nil) {
			urls = append(urls, u)                       // want "copy of a URL that is parsed into again"
			byName["x"] = u                              // want "copy of a URL"
			rows = append(rows, row{url: u}, row{"", u}) // want "copy of a URL" "copy of a URL"
			last = (u)                                   // want "copy of a URL"
			urls = append(urls, *u.Clone())
			_ = u
			fmt.Println(u, last)
		}
	}
	return urls, rows, byName
}

func oneEach() (urls []urlcore.URL) {
	var p urlcore.Parser
	for _, line := range lines {
		var u urlcore.URL
		p.Parse(&u, line, nil)
		urls = append(urls, u)
		v := new(urlcore.URL)
		p.Parse(v, line, u.Clone())
		urls = append(urls, *v)
	}
	return urls
}

func once() urlcore.URL {
	var p urlcore.Parser
	var u urlcore.URL
	p.Parse(&u, lines[0], nil)
	kept := u
	if len(lines) > 1 {
		return u
	}
	return kept
}

func twice() (first, second urlcore.URL) {
	var p urlcore.Parser
	u := new(urlcore.URL)
	p.Parse(u, lines[0], nil)
	first = *u // want "copy of a URL"
	p.Parse(u, lines[1], nil)
	return first, *u
}

func firstThatParses() urlcore.URL {
	var p urlcore.Parser
	var u urlcore.URL
	for _, line := range lines {
		if p.Parse(&u, line, nil) {
			return u
		}
	}
	return urlcore.URL{}
}

type reader struct {
	p   urlcore.Parser
	row row
}

func (r *reader) next(line []byte) row {
	r.p.Parse(&r.row.url, line, nil)
	return r.row // want "copy of a URL"
}

func (r *reader) url() urlcore.URL { return r.row.url } // want "copy of a URL"

func (r *reader) name() string { return r.row.name }

func (r *reader) pointer() *urlcore.URL { return &r.row.url }

func single(line []byte) row {
	var p urlcore.Parser
	var r row
	p.Parse(&r.url, line, nil)
	return r
}

func into(p *urlcore.Parser, u *urlcore.URL, line []byte) urlcore.URL {
	p.Parse(u, line, nil)
	return *u // want "copy of a URL"
}

func copies(u *urlcore.URL) []urlcore.URL { return []urlcore.URL{*u, *u} }

var global urlcore.URL

func parseGlobal(p *urlcore.Parser) {
	p.Parse(&global, lines[0], nil)
}

func getGlobal(out chan<- urlcore.URL) {
	out <- global // want "copy of a URL"
}

func slices(p *urlcore.Parser) {
	urls := make([]urlcore.URL, 10)
	for _, line := range lines {
		for i := range urls {
			p.Parse(&urls[i], line, nil)
		}
		for _, u := range urls { // want "copy of a URL"
			fmt.Println(u)
		}
		var first = urls[0] // want "copy of a URL"
		fmt.Println(first)
	}
	for _, u := range urls {
		fmt.Println(u)
	}
	u, err := urlcore.Parse("https://h/")
	fmt.Println(u, err)
}
