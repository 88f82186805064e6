package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// place is where a record is: what its row has to lead back to.
type place struct {
	file           string
	offset, length int64
}

// plan is what was written.
type plan struct {
	pages   map[place]int // the page of each response
	first   int           // pages that there are
	kinds   map[string]int
	links   int   // in the WAT files
	stored  int64 // bytes of the WARC files, and of what is in them
	content int64
	damaged []place // members, of which the rows have an error
}

// variants are the ways in which the URL of a page is written another time. All of them have one key in the form dedupe.
var variants = []struct {
	name string
	of   func(r *rand.Rand, host, path, query string) string
}{
	{"the same", func(_ *rand.Rand, host, path, query string) string { return "https://" + host + path + query }},
	{"case of the host", func(_ *rand.Rand, host, path, query string) string {
		return "HTTPS://" + strings.ToUpper(host) + path + query
	}},
	{"default port", func(_ *rand.Rand, host, path, query string) string { return "https://" + host + ":443" + path + query }},
	{"fragment", func(r *rand.Rand, host, path, query string) string {
		return fmt.Sprintf("https://%s%s%s#s%d", host, path, query, r.IntN(9))
	}},
	{"session id", func(r *rand.Rand, host, path, query string) string {
		return fmt.Sprintf("https://%s%s;jsessionid=%032X%s", host, path, r.Uint64(), query)
	}},
	{"session parameter", func(r *rand.Rand, host, path, query string) string {
		return fmt.Sprintf("https://%s%s%s&PHPSESSID=%016x%016x", host, path, query, r.Uint64(), r.Uint64())
	}},
	{"tracking parameters", func(r *rand.Rand, host, path, query string) string {
		return fmt.Sprintf("https://%s%s?utm_source=n%d&%s&gclid=%x", host, path, r.IntN(9), query[1:], r.Uint64())
	}},
	{"percent-encoding", func(_ *rand.Rand, host, path, query string) string {
		return "https://" + host + strings.Replace(path, "p", "%70", 1) + query
	}},
	{"order of parameters", func(_ *rand.Rand, host, path, query string) string {
		a, b, _ := strings.Cut(query[1:], "&")
		return "https://" + host + path + "?" + b + "&" + a
	}},
	{"dot segments", func(_ *rand.Rand, host, path, query string) string { return "https://" + host + "/x/.." + path + query }},
	{"slash at the end, www", func(_ *rand.Rand, host, path, query string) string {
		return "https://www." + host + path + "/" + query
	}},
}

// url returns a URL of page i, in the way with a number.
func url(r *rand.Rand, page, variant int) string {
	host := fmt.Sprintf("site%d.example.com", page%977)
	return variants[variant].of(r, host, fmt.Sprintf("/p%d/item", page/7), fmt.Sprintf("?a=%d&b=%d", page, page*31%1000))
}

// archive is a WARC file that is being written, and its WAT file.
type archive struct {
	name     string
	out, wat *bufio.Writer
	files    [2]*os.File
	at       int64
	gz       *gzip.Writer
	member   bytes.Buffer
}

func newArchive(dir, name string) (*archive, error) {
	a := &archive{name: name}
	var err error
	if a.gz, err = gzip.NewWriterLevel(nil, gzip.DefaultCompression); err != nil {
		return nil, err
	}
	for i, path := range []string{filepath.Join(dir, "warc", name+".warc.gz"), filepath.Join(dir, "wat", name+".warc.wat.gz")} {
		if a.files[i], err = os.Create(path); err != nil {
			return nil, err
		}
	}
	a.out, a.wat = bufio.NewWriter(a.files[0]), bufio.NewWriter(a.files[1])
	return a, nil
}

// write writes a record as a member, and returns its length.
func (a *archive) write(to io.Writer, head, block string) (int64, error) {
	a.member.Reset()
	a.gz.Reset(&a.member)
	fmt.Fprintf(a.gz, "WARC/1.0\r\n%sContent-Length: %d\r\n\r\n%s\r\n\r\n", head, len(block), block)
	if err := a.gz.Close(); err != nil {
		return 0, err
	}
	n, err := to.Write(a.member.Bytes())
	return int64(n), err
}

func (a *archive) close() error {
	for i, w := range []*bufio.Writer{a.out, a.wat} {
		if err := w.Flush(); err != nil {
			return err
		}
		if err := a.files[i].Close(); err != nil {
			return err
		}
	}
	return nil
}

// texts are what pages are made of: words, and paragraphs that many pages have.
type texts struct {
	words, shared []string
}

func newTexts(r *rand.Rand) *texts {
	t := &texts{words: make([]string, 4096), shared: make([]string, 400)}
	for i := range t.words {
		t.words[i] = fmt.Sprintf("%x", r.Uint64())[:3+r.IntN(8)]
	}
	for i := range t.shared {
		t.shared[i] = t.paragraph(r)
	}
	return t
}

func (t *texts) paragraph(r *rand.Rand) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<p class="c%d">`, r.IntN(40))
	for range 12 {
		b.WriteString(t.words[r.IntN(len(t.words))])
		b.WriteByte(' ')
	}
	b.WriteString("</p>\n")
	return b.String()
}

// body returns a page of some 20 kB, which compresses about as well as pages do: most of it stands in it several times.
func (t *texts) body(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("<!doctype html><html><head><title>page</title></head><body>\n")
	own := r.IntN(len(t.shared) - 40)
	for n := 60 + r.IntN(300); n > 0; n-- {
		if r.IntN(5) == 0 {
			b.WriteString(t.paragraph(r))
		} else {
			b.WriteString(t.shared[own+r.IntN(40)])
		}
	}
	return b.String()
}

const linksOfPage = 8

// generate writes archives of so many bytes.
func generate(dir string, bytes int64, files int) (*plan, error) {
	p := &plan{pages: map[place]int{}, kinds: map[string]int{}}
	for _, d := range []string{"warc", "wat"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return nil, err
		}
	}
	r := rand.New(rand.NewPCG(22, 22))
	t := newTexts(r)
	for i := range files {
		if err := p.writeFile(dir, fmt.Sprintf("crawl-%03d", i), bytes/int64(files), r, t); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *plan) writeFile(dir, name string, size int64, r *rand.Rand, t *texts) error {
	a, err := newArchive(dir, name)
	if err != nil {
		return err
	}
	n, err := a.write(a.out, "WARC-Type: warcinfo\r\nWARC-Date: 2026-11-24T13:55:00Z\r\nContent-Type: application/warc-fields\r\n", "software: urlmill/crawl\r\n")
	if err != nil {
		return err
	}
	a.at += n
	for a.at < size {
		page, variant := p.first, 0
		if p.first > 0 && r.IntN(10) < 4 {
			page, variant = r.IntN(p.first), r.IntN(len(variants))
			p.kinds[variants[variant].name]++
		} else {
			p.first++
		}
		if err := p.capture(a, r, page, variant, t); err != nil {
			return err
		}
	}
	p.stored += a.at
	return a.close()
}

// capture writes request and response of a page, and its links.
func (p *plan) capture(a *archive, r *rand.Rand, page, variant int, t *texts) error {
	target := url(r, page, variant)
	date := fmt.Sprintf("2026-11-24T%02d:%02d:%02dZ", len(p.pages)/3600%24, len(p.pages)/60%60, len(p.pages)%60)
	common := "WARC-Date: " + date + "\r\nWARC-Target-URI: " + target + "\r\nWARC-IP-Address: 192.0.2.1\r\n"
	n, err := a.write(a.out, "WARC-Type: request\r\n"+common+"Content-Type: application/http; msgtype=request\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if err != nil {
		return err
	}
	a.at += n
	block := "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=UTF-8\r\nServer: x\r\n\r\n" + t.body(r)
	p.content += int64(len(block))
	head := "WARC-Type: response\r\n" + common + "Content-Type: application/http; msgtype=response\r\nWARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\r\n"
	if n, err = a.write(a.out, head, block); err != nil {
		return err
	}
	at := place{a.name + ".warc.gz", a.at, n}
	p.pages[at] = page
	a.at += n
	var links []string
	for i := range linksOfPage {
		links = append(links, fmt.Sprintf(`{"path":"A@/href","url":"../item/%d?x=%d","text":"%s %s"}`, i, page, t.words[i], t.words[i+9]))
	}
	document := fmt.Sprintf(`{"Container":{"Filename":"%s","Compressed":true,"Offset":"%d","Gzip-Metadata":{"Deflate-Length":"%d"}},"Envelope":{"WARC-Header-Metadata":`+
		`{"WARC-Type":"response","WARC-Target-URI":"%s","WARC-Date":"%s"},"Payload-Metadata":{"HTTP-Response-Metadata":{"Response-Message":{"Status":"200"},`+
		`"Headers":{"Content-Type":"text/html"},"HTML-Metadata":{"Head":{"Title":"page"},"Links":[%s]}}}}}`, at.file, at.offset, at.length, target, date, strings.Join(links, ","))
	p.links += len(links)
	_, err = a.write(a.wat, "WARC-Type: metadata\r\n"+common+"Content-Type: application/json\r\n", document)
	return err
}

// damage changes a byte in the middle of some responses, which become dead letters.
func (p *plan) damage(dir string, n int) error {
	for at := range p.pages {
		if len(p.damaged) == n {
			break
		}
		f, err := os.OpenFile(filepath.Join(dir, "warc", at.file), os.O_RDWR, 0)
		if err != nil {
			return err
		}
		var b [4]byte
		if _, err = f.ReadAt(b[:], at.offset+at.length/2); err == nil {
			for i := range b {
				b[i] ^= 0xff
			}
			_, err = f.WriteAt(b[:], at.offset+at.length/2)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		p.damaged = append(p.damaged, at)
	}
	for _, at := range p.damaged {
		delete(p.pages, at)
	}
	return nil
}
