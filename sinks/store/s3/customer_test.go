package s3

import (
	"bytes"
	"encoding/base64"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/dev/s3test"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

const customerKeyHeader = "X-Amz-Server-Side-Encryption-Customer-Key"

// vault lets a request for an object through only with the key that the object was written with, as S3 does with SSE-C: no server that can
// be had for tests does. Other requests must not have a key.
type vault struct {
	next http.RoundTripper
	mu   sync.Mutex
	sums map[string]string // of the key of each object, or upload
	seen int
}

func (v *vault) RoundTrip(r *http.Request) (*http.Response, error) {
	v.mu.Lock()
	sum, q := r.Header.Get(customerKeyHeader+"-Md5"), r.URL.Query()
	key, brought := r.URL.Path, r.Header.Get(customerKeyHeader) != ""
	isObject := strings.Contains(strings.Trim(key, "/"), "/") && r.Method != http.MethodDelete
	known, there := v.sums[key]
	ok := brought == isObject && (!brought || r.Header.Get("X-Amz-Server-Side-Encryption-Customer-Algorithm") == "AES256")
	if writes := r.Method == http.MethodPut || r.Method == http.MethodPost; ok && writes && isObject && !q.Has("uploadId") {
		v.sums[key] = sum
	} else if ok && isObject && there {
		ok = known == sum
	}
	if brought {
		v.seen++
	}
	v.mu.Unlock()
	if !ok {
		return &http.Response{StatusCode: http.StatusBadRequest, Request: r, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(
			"<Error><Code>InvalidRequest</Code><Message>The object was stored using a form of Server Side Encryption.</Message></Error>"))}, nil
	}
	return v.next.RoundTrip(r)
}

func customerKey(b byte) config.Secret {
	return config.Secret(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, customerKeyBytes)))
}

// Every request for an object brings the key, those of uploads in parts among them, and no other one does; without it objects cannot be
// read. The key is in no log.
func TestCustomerKey(t *testing.T) {
	server, direct := s3test.Direct(t)
	server.Setenv(t)
	v := &vault{next: direct, sums: map[string]string{}}
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	o := options(t, server)
	o.Transport = v
	o.Endpoint, o.CustomerKey, o.Log = "https://s3.invalid", customerKey(1), logger
	storetest.Conformance(t, func(t *testing.T) func() store.Store {
		return func() store.Store { return openLogged(t, o, Scheme+server.Bucket+"/"+t.Name()+"/out", logger) }
	})
	s := openLogged(t, o, Scheme+server.Bucket+"/out", logger)
	read := func(key config.Secret) error {
		r := NewReader()
		o.section, o.CustomerKey = r.section, key
		r.Options = o
		b, _, err := r.Open(server.Bucket, logger)
		must(t, err)
		must(t, s.Create(t.Context(), "object"+string(key[:2]), []byte("content")))
		page, _, err := b.List(t.Context(), "out/object"+string(key[:2]), "", 1)
		must(t, err)
		body, err := b.Open(t.Context(), page[0], 0, -1)
		if err == nil {
			_, err = b.Stat(t.Context(), page[0].Key)
			_ = body.Close()
		}
		return err
	}
	must(t, read(customerKey(1)))
	if err := read(customerKey(2)); err == nil || !strings.Contains(err.Error(), "set source.file.s3.customer_key") {
		t.Error(err)
	}
	if v.seen == 0 || strings.Contains(log.String(), string(customerKey(1))) {
		t.Errorf("%d requests with the key; the log: %s", v.seen, log.String())
	}
}

func TestCustomerKeyRefused(t *testing.T) {
	for key, want := range map[config.Secret]string{"c2hvcnQ=": "openssl rand -base64 32", "no base64!": "openssl rand -base64 32", customerKey(1): "begins with https://"} {
		o := Default()
		o.CustomerKey, o.Endpoint = key, "http://127.0.0.1:1"
		err := o.Validate()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), string(key)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	o := Default()
	o.CustomerKey, o.Encryption = customerKey(1), EncryptionKMS
	if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "together with encryption") {
		t.Error(err)
	}
	t.Setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
	t.Setenv("AWS_REGION", "us-east-1")
	o = Default()
	o.CustomerKey = customerKey(1)
	if _, err := Opener(o)("s3://bucket/x", quiet); err == nil || !strings.Contains(err.Error(), "begins with https://") {
		t.Error(err)
	}
}
