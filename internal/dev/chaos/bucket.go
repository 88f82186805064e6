package main

import (
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
	"github.com/urlmill/urlmill/internal/dev/s3test"
	"github.com/urlmill/urlmill/sinks/store/s3"
)

// s3Timeout is the limit of a request that urlmill is told.
const s3Timeout = 2 * time.Second

// s3Fault is a way for a request to fail.
type s3Fault struct {
	name string
	do   func(p *s3Proxy, w http.ResponseWriter, req *http.Request)
	// says is what the process says when it gives up for it; "" if that may be anything.
	says string
}

var s3Faults = []s3Fault{
	{"500 InternalError", answerError(500, "InternalError"), "StatusCode: 500"},
	{"503 SlowDown", answerError(503, "SlowDown"), "StatusCode: 503"},
	{"403 AccessDenied", answerError(403, "AccessDenied"), "StatusCode: 403"},
	{"no answer in time", func(_ *s3Proxy, _ http.ResponseWriter, req *http.Request) {
		select {
		case <-req.Context().Done():
		case <-time.After(s3Timeout + time.Second):
		}
		panic(http.ErrAbortHandler)
	}, ""},
	{"connection dropped in the middle of a request", func(_ *s3Proxy, _ http.ResponseWriter, req *http.Request) {
		_, _ = io.CopyN(io.Discard, req.Body, req.ContentLength/2) // the client sees the end of the connection
		panic(http.ErrAbortHandler)
	}, ""},
	{"answer lost after the server has done it", func(p *s3Proxy, _ http.ResponseWriter, req *http.Request) {
		p.forward.ServeHTTP(discarded{http.Header{}}, req)
		panic(http.ErrAbortHandler)
	}, ""},
}

func answerError(status int, code string) func(*s3Proxy, http.ResponseWriter, *http.Request) {
	return func(_ *s3Proxy, w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		fmt.Fprintf(w, "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>on purpose</Message></Error>", code)
	}
}

// discarded is an answer that nobody gets.
type discarded struct{ header http.Header }

func (d discarded) Header() http.Header         { return d.header }
func (d discarded) Write(b []byte) (int, error) { return len(b), nil }
func (d discarded) WriteHeader(int)             {}

// s3Proxy is a proxy in front of an S3 server, which lets requests fail.
type s3Proxy struct {
	forward  *httputil.ReverseProxy
	endpoint string

	mu     sync.Mutex
	fault  *s3Fault // nil for none
	share  float64  // of the requests that fail
	counts map[string]int
	rand   *rand.Rand
}

func (r *run) newS3Proxy(target string) *s3Proxy {
	r.Helper()
	to, err := url.Parse(target)
	r.must(err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	r.must(err)
	quiet := log.New(io.Discard, "", 0) // it would tell of every request that was broken off
	// The host that the client has signed stays as it is.
	p := &s3Proxy{counts: map[string]int{}, rand: r.env.random("requests"), endpoint: "http://" + l.Addr().String(), forward: &httputil.ReverseProxy{
		ErrorLog: quiet,
		Rewrite:  func(pr *httputil.ProxyRequest) { pr.SetURL(to); pr.Out.Host = pr.In.Host },
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) {
			panic(http.ErrAbortHandler) // the server is down: so is the connection
		},
	}}
	server := &http.Server{Handler: p, ErrorLog: quiet, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }() // until it is closed
	r.Cleanup(func() { _ = server.Close() })
	return p
}

// ServeHTTP implements [http.Handler].
func (p *s3Proxy) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	p.mu.Lock()
	fault := p.fault
	if fault != nil && p.rand.Float64() >= p.share {
		fault = nil
	}
	if fault != nil {
		p.counts[fault.name]++
	}
	p.mu.Unlock()
	if fault != nil {
		fault.do(p, w, req)
		return
	}
	p.forward.ServeHTTP(w, req)
}

// fail lets a share of the requests fail; nil is none.
func (p *s3Proxy) fail(fault *s3Fault, share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.share = fault, share
}

// objectStore writes to a bucket while requests to it fail, its server is restarted, and the process is killed.
func objectStore(r *run) {
	rounds, perRound, attempts := pick(r, 18, 6), pick(r, 50_000, 3_000), pick(r, 5, 3)
	g := s3test.Start(r)
	g.Setenv(r) // the credentials, for this process and its children
	proxy := r.newS3Proxy(g.Endpoint)
	f := r.newFeed(&facts.Topic{Name: "bucket", Partitions: 2})
	w := want{
		feed: f, out: "s3://" + g.Bucket + "/clicks", dir: filepath.Join(g.Dir(), "clicks"),
		open: s3.Opener(s3.Options{Endpoint: g.Endpoint, Region: g.Region}), environ: []string{"AWS_ENDPOINT_URL_S3=" + g.Endpoint},
	}
	config := r.config(job{
		feed: f, group: "bucket", out: w.out, rollRows: 20_000,
		sink: fmt.Sprintf("  s3: {endpoint: %q, region: %s, attempts: %d, timeout: %v}", proxy.endpoint, g.Region, attempts, s3Timeout),
	})
	m := r.start(config)
	var before []string // what a process may say that gives up only now for the round before
	for i := range rounds {
		fault := &s3Faults[i%len(s3Faults)]
		says := append(before, fault.says, "does not answer in "+s3Timeout.String()) // which a busy server may take
		before = []string{fault.says}
		if i%5 == 4 {
			// Nothing goes any more: it tries for a while and stops.
			proxy.fail(fault, 1)
			f.produce(perRound)
			r.refuses(m, says...)
		} else {
			proxy.fail(fault, 0.2)
			f.produce(perRound)
			r.await("commits, or a process that gives up", func() bool { return m.Ended() || r.reached(w, f.counts) })
			if m.Ended() {
				r.refuses(m, says...)
			}
		}
		proxy.fail(nil, 0)
		switch i % 4 {
		case 1:
			m.Kill()
			r.fault("kill -9")
			r.repair(w)
		case 3:
			// One that is killed while it completes an upload forgets it, which is no fault of the client's: see s3test.
			g.Stop(r)
			r.fault("S3 server stopped")
			time.Sleep(r.randomly(time.Second))
			g.Start(r)
			before = []string{""}
		}
		if m.Ended() {
			m, before = r.start(config), nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(proxy.counts)) {
		r.faults(name, proxy.counts[name])
	}
	r.await("the last process to commit, or to give up", func() bool { return m.Ended() || r.reached(w, f.counts) })
	if m.Ended() {
		m = r.start(config)
	}
	r.finish(m, f, w)
}
