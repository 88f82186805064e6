// Package admin is the listener beside a running pipeline: metrics, probes, the status page and the URL inspector.
//
// A [Monitor] watches the pipeline, a [Server] shows what it has seen.
package admin

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/urlmill/urlmill/config"
)

// Options says where and for whom a server listens.
type Options struct {
	Listen string // address and port
	// Token is asked for, as a bearer token or as the password of a login, on everything but the probes; "" for
	// none, which only a loopback address may have.
	Token             config.Secret
	CertFile, KeyFile string // "": no TLS
	PProf             bool   // serve /debug/pprof/
	// StuckAfter and MaxLag are those of the [Monitor].
	StuckAfter time.Duration
	MaxLag     int64
	// Linger is how long the listener stays after a failure, for others to see it.
	Linger time.Duration
}

const (
	maxBody      = 1 << 20 // of a request
	maxHeader    = 16 << 10
	readTimeout  = 10 * time.Second
	writeTimeout = 30 * time.Second
	idleTimeout  = 2 * time.Minute
	maxStreams   = 16 // of an HTTP/2 connection
)

//go:embed assets
var embedded embed.FS

// Server is a listener that serves.
type Server struct {
	monitor  *Monitor
	opts     Options
	listener net.Listener
	http     http.Server
	done     chan struct{}
}

// Start listens and serves until Close. Its errors say what cannot be had: the address, or the certificate.
func Start(opts Options, m *Monitor, log *slog.Logger) (*Server, error) {
	host, _, err := net.SplitHostPort(opts.Listen)
	if err != nil {
		return nil, fmt.Errorf("admin: %w", err)
	}
	if !config.Loopback(host) && (opts.Token == "" || opts.CertFile == "") {
		return nil, fmt.Errorf("admin: %s can be reached from other machines; that needs a token and TLS", opts.Listen)
	}
	s := &Server{monitor: m, opts: opts, done: make(chan struct{})}
	s.http = http.Server{
		Handler: counted(s.handler()), ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader, ConnContext: withConnection, HTTP2: &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	if opts.CertFile != "" {
		pair, err := newKeyPair(opts.CertFile, opts.KeyFile, log)
		if err != nil {
			return nil, fmt.Errorf("admin: certificate: %w", err)
		}
		s.http.TLSConfig = &tls.Config{GetCertificate: pair.get, MinVersion: tls.VersionTLS12}
	}
	if s.listener, err = net.Listen("tcp", opts.Listen); err != nil {
		return nil, fmt.Errorf("admin: %w; is another urlmill running? admin.listen names the address", err)
	}
	s.listener = newConnections(s.listener, maxConnections)
	go func() {
		defer close(s.done)
		serve := s.http.Serve
		if opts.CertFile != "" {
			serve = func(l net.Listener) error { return s.http.ServeTLS(l, "", "") }
		}
		if err := serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the admin listener has ended", "error", err)
		}
	}()
	return s, nil
}

// URL returns where the server is.
func (s *Server) URL() string {
	scheme := "http"
	if s.opts.CertFile != "" {
		scheme = "https"
	}
	return scheme + "://" + s.listener.Addr().String() + "/"
}

// Close stops serving. Requests under way have until ctx ends.
func (s *Server) Close(ctx context.Context) {
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close() // nobody is left to be told
	}
	<-s.done
}

// handler returns all pages.
func (s *Server) handler() http.Handler {
	open, closed := http.NewServeMux(), http.NewServeMux()
	open.HandleFunc("GET /livez", s.livez)
	open.HandleFunc("GET /readyz", s.readyz)
	open.Handle("/", s.authorized(closed))
	closed.Handle("GET /metrics", promhttp.HandlerFor(s.monitor.registry, promhttp.HandlerOpts{}))
	closed.HandleFunc("GET /api/status", s.status)
	closed.HandleFunc("POST /api/inspect", inspect)
	assets, err := fs.Sub(embedded, "assets")
	if err != nil {
		panic(err) // the path is constant
	}
	closed.Handle("GET /", http.FileServerFS(assets))
	if s.opts.PProf {
		closed.HandleFunc("GET /debug/pprof/", unhurried(pprof.Index))
		closed.HandleFunc("GET /debug/pprof/profile", unhurried(pprof.Profile))
		closed.HandleFunc("GET /debug/pprof/trace", unhurried(pprof.Trace))
		closed.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		closed.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	}
	return s.guarded(http.NewCrossOriginProtection().Handler(open))
}

// unhurried takes the time limit of answers away, for profiles that take as long as they are asked to.
func unhurried(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // then it is cut off, and that shows
		h(w, r)
	}
}

// guarded sets the headers of every answer, bounds requests, and refuses names that are not ours: a page of somebody
// else whose name resolves to 127.0.0.1 is not to read what is here.
func (s *Server) guarded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "+
			"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		if s.opts.Token == "" && !config.Loopback(hostOf(r.Host)) {
			http.Error(w, "this listener answers to localhost only", http.StatusMisdirectedRequest)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		h.ServeHTTP(w, r)
	})
}

func hostOf(hostPort string) string {
	if host, _, err := net.SplitHostPort(hostPort); err == nil {
		return host
	}
	return hostPort
}

// authorized lets requests with the token pass.
func (s *Server) authorized(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.knows(r) {
			w.Header().Set("WWW-Authenticate", `Basic realm="urlmill: any name, and the token as password", charset="UTF-8"`)
			http.Error(w, "give the token: as a bearer token, or as the password of a login", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// knows reports whether a request has the token, in a time that does not depend on how much of it is right.
func (s *Server) knows(r *http.Request) bool {
	if s.opts.Token == "" {
		return true
	}
	given, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !isBearer {
		_, given, _ = r.BasicAuth()
	}
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.opts.Token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
