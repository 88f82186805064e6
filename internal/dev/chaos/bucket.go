package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/urlmill/urlmill/internal/dev/azuretest"
	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
	"github.com/urlmill/urlmill/internal/dev/gcstest"
	"github.com/urlmill/urlmill/internal/dev/s3test"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/azure"
	"github.com/urlmill/urlmill/sinks/store/gcs"
	"github.com/urlmill/urlmill/sinks/store/s3"
)

// storeTimeout is the limit of a request that urlmill is told.
const storeTimeout = 2 * time.Second

// storeFault is a way for a request to fail.
type storeFault struct {
	name string
	do   func(p *storeProxy, w http.ResponseWriter, req *http.Request)
	// says is what the process says when it gives up for it; "" if that may be anything.
	says string
	// lists is whether only listings can fail so.
	lists bool
}

var storeFaults = []storeFault{
	{"500 InternalError", answerError(500, "InternalError"), "StatusCode: 500", false},
	{"503 SlowDown", answerError(503, "SlowDown"), "StatusCode: 503", false},
	{"403 AccessDenied", answerError(403, "AccessDenied"), "StatusCode: 403", false},
	{"no answer in time", func(_ *storeProxy, _ http.ResponseWriter, req *http.Request) {
		select {
		case <-req.Context().Done():
		case <-time.After(storeTimeout + time.Second):
		}
		panic(http.ErrAbortHandler)
	}, "", false},
	{"connection dropped in the middle of a request", func(_ *storeProxy, _ http.ResponseWriter, req *http.Request) {
		_, _ = io.CopyN(io.Discard, req.Body, req.ContentLength/2) // the client sees the end of the connection
		panic(http.ErrAbortHandler)
	}, "", false},
	{"answer lost after the server has done it", func(p *storeProxy, _ http.ResponseWriter, req *http.Request) {
		p.forward.ServeHTTP(discarded{http.Header{}}, req)
		panic(http.ErrAbortHandler)
	}, "", false},
}

// throttled has one more: Google's service asks so for fewer requests, and other stores may.
var throttled = append(slices.Clone(storeFaults), storeFault{"429 TooManyRequests", answerError(429, "TooManyRequests"), "StatusCode: 429", false})

func answerError(status int, code string) func(*storeProxy, http.ResponseWriter, *http.Request) {
	return func(_ *storeProxy, w http.ResponseWriter, req *http.Request) {
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

// storeProxy is a proxy in front of the server of a store, which lets requests fail.
type storeProxy struct {
	forward  *httputil.ReverseProxy
	endpoint string
	before   func(req *http.Request) error // called before a request that is forwarded, and breaks it off with an error; nil for nothing

	mu     sync.Mutex
	fault  *storeFault // nil for none
	share  float64     // of the requests that fail
	counts map[string]int
	rand   *rand.Rand
}

func (r *run) newStoreProxy(target string) *storeProxy {
	r.Helper()
	to, err := url.Parse(target)
	r.must(err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	r.must(err)
	quiet := log.New(io.Discard, "", 0) // it would tell of every request that was broken off
	// The host that the client has signed stays as it is.
	p := &storeProxy{counts: map[string]int{}, rand: r.env.random("requests"), endpoint: "http://" + l.Addr().String(), forward: &httputil.ReverseProxy{
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
func (p *storeProxy) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	p.mu.Lock()
	fault := p.fault
	if fault != nil && (fault.lists && req.URL.Query().Get("list-type") == "" || p.rand.Float64() >= p.share) {
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
	if p.before != nil && p.before(req) != nil {
		panic(http.ErrAbortHandler)
	}
	p.forward.ServeHTTP(w, req)
}

// fail lets a share of the requests fail; nil is none.
func (p *storeProxy) fail(fault *storeFault, share float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.share = fault, share
}

// bucketServer is a server of an object store that a scenario delivers to.
type bucketServer struct {
	place    string // of the bucket
	endpoint string
	section  string // of the sink: its name and what it needs beside the endpoint
	faults   []storeFault
	environ  string // names the endpoint to commands
	open     store.Opener
	dir      string // has the files below place, "" if they are to be fetched
	// stops is what stop does, for the report. One that is killed may have forgotten what it has acknowledged.
	stops       string
	stop, start func()
}

// objectStore delivers to S3, googleStorage to Google Cloud Storage, azureStorage to Azure Blob Storage.
func objectStore(r *run) {
	g := s3test.Start(r)
	g.Setenv(r) // the credentials, for this process and its children
	// One that is killed while it completes an upload forgets it, which is no fault of the client's: see s3test.
	r.bucketFails(bucketServer{
		place: "s3://" + g.Bucket, endpoint: g.Endpoint, section: "s3: {region: " + g.Region + ", ", faults: storeFaults, environ: "AWS_ENDPOINT_URL_S3=" + g.Endpoint,
		open: s3.Opener(s3.Options{Endpoint: g.Endpoint, Region: g.Region}), dir: g.Dir(),
		stops: "S3 server stopped", stop: func() { g.Stop(r) }, start: func() { g.Start(r) },
	})
}

func googleStorage(r *run) {
	g := gcstest.Start(r)
	o := gcs.Default()
	o.Endpoint = g.Endpoint
	r.bucketFails(bucketServer{
		place: "gs://" + g.Bucket, endpoint: g.Endpoint, section: "gcs: {", faults: throttled, environ: "STORAGE_EMULATOR_HOST=" + g.Endpoint, open: gcs.Opener(o),
		stops: "fake-gcs-server stopped", stop: func() { g.Stop(r) }, start: func() { g.Start(r) },
	})
}

func azureStorage(r *run) {
	a := azuretest.Start(r)
	o := azure.Default()
	o.Endpoint = a.Endpoint
	r.bucketFails(bucketServer{
		place: a.Place, endpoint: a.Endpoint, section: "azure: {", faults: throttled, environ: "AZURE_STORAGE_ENDPOINT=" + a.Endpoint, open: azure.Opener(o),
		stops: "Azurite stopped", stop: func() { a.Stop(r) }, start: func() { a.Start(r) },
	})
}

// bucketFails writes to a bucket while requests to it fail, its server is restarted, and the process is killed.
func (r *run) bucketFails(b bucketServer) {
	rounds, perRound, attempts := pick(r, 18, 6), pick(r, 50_000, 3_000), pick(r, 5, 3)
	proxy := r.newStoreProxy(b.endpoint)
	f := r.newFeed(&facts.Topic{Name: r.name, Partitions: 2})
	w := want{feed: f, out: b.place + "/clicks", open: b.open, environ: []string{b.environ}}
	if b.dir != "" {
		w.dir = filepath.Join(b.dir, "clicks")
	}
	config := r.config(job{
		feed: f, group: r.name, out: w.out, rollRows: 20_000,
		sink: fmt.Sprintf("  %sendpoint: %q, attempts: %d, timeout: %v}", b.section, proxy.endpoint, attempts, storeTimeout),
	})
	m := r.start(config)
	var before []string // what a process may say that gives up only now for the round before
	for i := range rounds {
		fault := &b.faults[i%len(b.faults)]
		says := append(before, fault.says, "does not answer in "+storeTimeout.String()) // which a busy server may take
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
			b.stop()
			r.fault(b.stops)
			time.Sleep(r.randomly(time.Second))
			b.start()
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
	r.settle(m, f)
	if w.dir == "" {
		w.dir = r.fetch(w)
	}
	r.check(w)
}

// fetch copies the files of an output to a directory, which it returns.
func (r *run) fetch(w want) string {
	r.Helper()
	s, err := w.open(w.out, slog.New(slog.DiscardHandler))
	r.must(err)
	ctx, dir := context.Background(), r.TempDir()
	entries, err := s.List(ctx, ".", "")
	r.must(err)
	for _, e := range entries {
		if e.Dir {
			continue // what is not for readers
		}
		from, err := s.Open(ctx, e.Name)
		r.must(err)
		content := make([]byte, from.Size())
		n, err := from.ReadAt(content, 0)
		if n < len(content) {
			r.Fatalf("%s: %v", e.Name, err)
		}
		r.must(from.Close())
		r.must(os.WriteFile(filepath.Join(dir, e.Name), content, 0o600))
	}
	return dir
}
