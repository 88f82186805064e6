package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"golang.org/x/sync/errgroup"

	"github.com/urlmill/urlmill/internal/dev/agentlist"
	"github.com/urlmill/urlmill/sources/generate"
)

const (
	seed        = 20261124
	inputPrefix = "in"
	// minObject and maxObject are the sizes of objects before compression. The services write one every few minutes for each of their
	// machines, and CloudFront begins another one where it would become larger.
	minObject, maxObject = 3 << 20, 13 << 20
)

// input are the objects of a format.
type input struct {
	Format  string  `json:"format"`
	Objects int     `json:"objects"`
	Rows    int64   `json:"rows"`
	Raw     int64   `json:"raw_bytes"`
	Stored  int64   `json:"gzip_bytes"`
	Bytes   float64 `json:"bytes_per_row"`
}

// client returns a client of the SDK for the server.
func (b *bench) client(change ...func(*s3.Options)) *s3.Client {
	s := b.gateway.Server
	return s3.New(s3.Options{
		BaseEndpoint: &s.Endpoint, Region: s.Region, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(s.AccessKey, s.SecretKey, ""),
	}, change...)
}

// upload makes the objects and puts them into the bucket.
func (b *bench) upload(ctx context.Context) (inputs []input, err error) {
	client := b.client()
	for _, format := range []string{alb, cloudFront} {
		l, err := newLog(format)
		if err != nil {
			return nil, err
		}
		in := input{Format: format}
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(2)
		for in.Raw < int64(b.rawMB)*1e6 {
			content, rows := l.object()
			key := fmt.Sprintf("%s/%s/%s", inputPrefix, format, l.name(in.Objects))
			in.Objects++
			in.Rows += int64(rows)
			in.Raw += int64(len(content))
			group.Go(func() error {
				_, err := client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.gateway.Bucket, Key: &key, Body: bytes.NewReader(zip(content))})
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
		in.Stored = size(b.local(inputPrefix, format), ".gz")
		in.Bytes = round(float64(in.Raw)/float64(in.Rows), 1)
		fmt.Printf("%s: %d objects, %d rows, %.0f MB, %.0f MB as gzip\n", format, in.Objects, in.Rows, float64(in.Raw)/1e6, float64(in.Stored)/1e6)
		inputs = append(inputs, in)
	}
	return inputs, nil
}

func zip(content []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(content) // into memory
	_ = w.Close()
	return out.Bytes()
}

const (
	alb        = "alb"
	cloudFront = "cloudfront"
)

// log makes lines of a format. Pages are those of the generated clickstream, under the names of a few sites; user agents and addresses
// are seen as often as in logs: few of them in most of the lines.
type log struct {
	format string
	pages  *generate.Generator
	r      *rand.Rand
	agents []string
	ips    []string
	at     time.Time
	page   []byte
}

var (
	sites    = []string{"www.example.com", "shop.example.com", "api.example.com", "m.example.com", "www.example.co.uk", "shop.example.co.uk", "blog.example.org", "static.example.net"}
	statuses = []int{200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 304, 304, 301, 302, 404, 404, 403, 500}
	edges    = []string{"FRA56-P4", "FRA60-P2", "LHR50-P1", "LHR61-P8", "IAD89-P3", "IAD12-P1", "SFO53-P2", "SIN2-C1", "NRT57-P3", "AMS1-P2"}
	ciphers  = []string{"TLS_AES_128_GCM_SHA256 TLSv1.3", "TLS_AES_128_GCM_SHA256 TLSv1.3", "TLS_AES_256_GCM_SHA384 TLSv1.3", "ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2"}
	types    = []string{"text/html;%20charset=utf-8", "text/html", "application/json", "image/jpeg", "text/css", "application/javascript", "image/webp"}
)

const distinctAgents = 4000

func newLog(format string) (*log, error) {
	pages, err := generate.NewGenerator(generate.Options{Seed: seed, Format: generate.Lines})
	if err != nil {
		return nil, err
	}
	l := &log{format: format, pages: pages, r: rand.New(rand.NewPCG(seed, 1)), at: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)}
	l.agents = agentlist.Stream(agentlist.Distinct(distinctAgents, seed), 1<<16, seed)
	for i := range 5 * distinctAgents {
		ip := fmt.Sprintf("%d.%d.%d.%d", 1+l.r.IntN(223), l.r.IntN(256), l.r.IntN(256), l.r.IntN(256))
		if i%8 == 0 {
			ip = fmt.Sprintf("2001:db8:%x:%x::%x", l.r.IntN(1<<16), l.r.IntN(1<<16), l.r.IntN(1<<16))
		}
		l.ips = append(l.ips, ip)
	}
	return l, nil
}

// name returns the name of object number i, as the service has it.
func (l *log) name(i int) string {
	at := l.at.Format("20060102T1504Z")
	if l.format == alb {
		return fmt.Sprintf("AWSLogs/123456789012/elasticloadbalancing/eu-central-1/2026/11/23/"+
			"123456789012_elasticloadbalancing_eu-central-1_app.shop.50dc6c495c0c9188_%s_192.0.2.%d_%08x.log.gz", at, i%8, i)
	}
	return fmt.Sprintf("E2EXAMPLE12345.2026-11-23-12.%08x.gz", i)
}

// object returns the lines of an object.
func (l *log) object() (content []byte, rows int) {
	most := minObject + l.r.IntN(maxObject-minObject)
	if l.format == cloudFront {
		content = append(content, "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) "+
			"cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken x-forwarded-for ssl-protocol "+
			"ssl-cipher x-edge-response-result-type cs-protocol-version fle-status fle-encrypted-fields c-port time-to-first-byte "+
			"x-edge-detailed-result-type sc-content-type sc-content-len sc-range-start sc-range-end\n"...)
	}
	for ; len(content) < most; rows++ {
		content = l.line(content)
	}
	return content, rows
}

// target returns path and query of the next page that a browser may have asked for: without what logs have in an escaped form.
func (l *log) target() (path, query string) {
	for {
		l.page = l.pages.Append(l.page[:0])
		text, _, _ := strings.Cut(strings.TrimSpace(string(l.page)), "#")
		_, rest, ok := strings.Cut(text, "://")
		at := strings.IndexByte(rest, '/')
		if !ok || at < 0 || strings.ContainsFunc(rest, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune("\"\\<>^`{|}", c) }) {
			continue
		}
		path, query, _ = strings.Cut(rest[at:], "?")
		return path, query
	}
}

func pick[T any](l *log, list []T) T { return list[l.r.IntN(len(list))] }

// ip returns the address of a client: of rank k about 1/k times as often as the first.
func (l *log) ip() string {
	return l.ips[min(int(math.Pow(float64(len(l.ips)), l.r.Float64()))-1, len(l.ips)-1)]
}

func (l *log) line(to []byte) []byte {
	l.at = l.at.Add(time.Duration(l.r.IntN(4000)) * time.Microsecond)
	path, query := l.target()
	if l.format == alb {
		return l.albLine(to, path, query)
	}
	return l.cloudFrontLine(to, path, query)
}

const albTime = "2006-01-02T15:04:05.000000Z"

func (l *log) albLine(to []byte, path, query string) []byte {
	if query != "" {
		path += "?" + query
	}
	site, status, target := pick(l, sites), pick(l, statuses), fmt.Sprintf("10.0.%d.%d:8080", l.r.IntN(3), 10+l.r.IntN(6))
	took := l.r.ExpFloat64() / 20
	protocol, kind := "HTTP/2.0", "h2"
	if l.r.IntN(3) == 0 {
		protocol, kind = "HTTP/1.1", "https"
	}
	return fmt.Appendf(to, `%s %s app/shop/50dc6c495c0c9188 %s:%d %s 0.00%d %.3f 0.000 %d %d %d %d "%s https://%s:443%s %s" "%s" %s `+
		`arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/shop/73e2d6bc24d8a067 "Root=1-%08x-%08x%016x" "%s" `+
		`"arn:aws:acm:eu-central-1:123456789012:certificate/12345678-1234-1234-1234-123456789012" %d %s "forward" "-" "-" "%s" "%d" "-" "-" TID_%016x%016x`+"\n",
		kind, l.at.Format(albTime), l.ip(), 1024+l.r.IntN(64000), target, l.r.IntN(3), took, status, status, 200+l.r.IntN(2000), l.r.IntN(90_000),
		l.method(), site, path, protocol, pick(l, l.agents), pick(l, ciphers), l.at.Unix(), l.r.Uint32(), l.r.Uint64(), site,
		l.r.IntN(4), l.at.Add(-time.Duration(took*float64(time.Second))).Format(albTime), target, status, l.r.Uint64(), l.r.Uint64())
}

func (l *log) method() string {
	if l.r.IntN(12) == 0 {
		return "POST"
	}
	return "GET"
}

const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

func (l *log) cloudFrontLine(to []byte, path, query string) []byte {
	if query == "" {
		query = "-"
	}
	var id [54]byte
	for i := range id {
		id[i] = base64[l.r.IntN(len(base64))]
	}
	site, status := pick(l, sites), pick(l, statuses)
	referrer := "-"
	if l.r.IntN(2) == 0 {
		other, _ := l.target()
		referrer = "https://" + site + other
	}
	result := "Hit"
	if l.r.IntN(4) == 0 {
		result = "Miss"
	}
	cipher, protocol, _ := strings.Cut(pick(l, ciphers), " ")
	took := l.r.ExpFloat64() / 50
	// Values are escaped, and user agents twice: url.PathEscape leaves what such logs leave.
	agent := strings.ReplaceAll(url.PathEscape(pick(l, l.agents)), "%", "%25")
	return fmt.Appendf(to, "%s\t%s\t%s\t%d\t%s\t%s\td111111abcdef8.cloudfront.net\t%s\t%d\t%s\t%s\t%s\t-\t%s\t%s==\t%s\thttps\t%d\t%.3f\t-\t%s\t%s\t%s\tHTTP/2.0\t-\t-\t%d\t%.3f\t%s\t%s\t%d\t-\t-\n",
		l.at.Format("2006-01-02"), l.at.Format("15:04:05"), pick(l, edges), l.r.IntN(90_000), l.ip(), l.method(), path, status, referrer, agent, query,
		result, id[:], site, 40+l.r.IntN(900), took, protocol, cipher, result, 1024+l.r.IntN(64000), took, result, pick(l, types), l.r.IntN(90_000))
}
