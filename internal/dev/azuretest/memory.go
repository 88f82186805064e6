package azuretest

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/urlmill/urlmill/internal/dev/s3test"
)

// blob is a blob, or the blocks of one that is yet to be.
type blob struct {
	content   []byte
	committed bool
	header    http.Header
	etag      string
	modified  time.Time
	blocks    map[string][]byte // uncommitted
}

// memory answers the requests that urlmill makes, as the service is documented to.
type memory struct {
	mu    sync.Mutex
	blobs map[string]*blob
	etag  int
}

const (
	account   = "fake"
	container = "container"
	// pageSize is small, so that listings have several pages.
	pageSize = 20
)

// RoundTrip implements [http.RoundTripper].
func (m *memory) RoundTrip(r *http.Request) (*http.Response, error) { return s3test.RoundTrip(m, r) }

// Names returns the names of all blobs of [Direct]'s server, in ascending order.
func Names(of http.RoundTripper) (names []string) {
	m := of.(*memory)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.names()
}

// names returns those that are committed.
func (m *memory) names() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(m.blobs)) {
		if m.blobs[name].committed {
			names = append(names, name)
		}
	}
	return names
}

func fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("x-ms-error-code", code)
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `<?xml version="1.0" encoding="utf-8"?><Error><Code>%s</Code><Message>for the test</Message></Error>`, code)
}

// ServeHTTP implements [http.Handler].
func (m *memory) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err) // a body is in memory
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	name, ok := strings.CutPrefix(r.URL.Path, "/"+account+"/"+container)
	if name = strings.TrimPrefix(name, "/"); !ok {
		fail(w, http.StatusNotFound, "ContainerNotFound")
		return
	}
	q := r.URL.Query()
	there := m.blobs[name] != nil && m.blobs[name].committed
	if sum := md5.Sum(body); r.Header.Get("Content-MD5") != "" && r.Header.Get("Content-MD5") != base64.StdEncoding.EncodeToString(sum[:]) {
		fail(w, http.StatusBadRequest, "Md5Mismatch")
		return
	}
	switch comp := q.Get("comp"); {
	case name == "":
		m.list(w, q)
	case r.Method == http.MethodPut && comp == "block":
		if len(body) == 0 {
			fail(w, http.StatusBadRequest, "InvalidHeaderValue")
			return
		}
		b := m.blobs[name]
		if b == nil {
			b = &blob{}
			m.blobs[name] = b
		}
		if b.blocks == nil {
			b.blocks = map[string][]byte{}
		}
		b.blocks[q.Get("blockid")] = body
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodPut && there && r.Header.Get("If-None-Match") == "*":
		fail(w, http.StatusConflict, "BlobAlreadyExists")
	case r.Method == http.MethodPut && comp == "blocklist":
		m.commit(w, r, name, body)
	case r.Method == http.MethodPut:
		m.put(w, r, name, body)
	case comp == "blocklist":
		m.blocks(w, name)
	case !there:
		fail(w, http.StatusNotFound, "BlobNotFound")
	case r.Method == http.MethodDelete:
		delete(m.blobs, name)
		w.WriteHeader(http.StatusAccepted)
	default:
		m.get(w, r, m.blobs[name])
	}
}

func (m *memory) put(w http.ResponseWriter, r *http.Request, name string, content []byte) {
	m.etag++
	m.blobs[name] = &blob{content: content, committed: true, header: r.Header.Clone(), etag: fmt.Sprint("0x", m.etag), modified: time.Now()}
	w.WriteHeader(http.StatusCreated)
}

func (m *memory) commit(w http.ResponseWriter, r *http.Request, name string, body []byte) {
	var list struct{ Uncommitted []string }
	if xml.Unmarshal(body, &list) != nil {
		fail(w, http.StatusBadRequest, "InvalidXmlDocument")
		return
	}
	var content []byte
	for _, id := range list.Uncommitted {
		b := m.blobs[name]
		if b == nil || b.blocks[id] == nil {
			fail(w, http.StatusBadRequest, "InvalidBlockList")
			return
		}
		content = append(content, b.blocks[id]...)
	}
	m.put(w, r, name, content)
}

func (m *memory) blocks(w http.ResponseWriter, name string) {
	b := m.blobs[name]
	if b == nil {
		fail(w, http.StatusNotFound, "BlobNotFound")
		return
	}
	type block struct {
		Name string
		Size int
	}
	list := struct {
		XMLName           xml.Name `xml:"BlockList"`
		UncommittedBlocks struct{ Block []block }
	}{}
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(b.blocks))) { // in no order that is promised
		list.UncommittedBlocks.Block = append(list.UncommittedBlocks.Block, block{id, len(b.blocks[id])})
	}
	_ = xml.NewEncoder(w).Encode(list)
}

func (m *memory) get(w http.ResponseWriter, r *http.Request, b *blob) {
	if match := r.Header.Get("If-Match"); match != "" && strings.Trim(match, `"`) != b.etag {
		fail(w, http.StatusPreconditionFailed, "ConditionNotMet")
		return
	}
	for name, values := range b.header {
		if strings.HasPrefix(name, "X-Ms-Meta-") {
			w.Header()[name] = values
		}
	}
	w.Header().Set("ETag", `"`+b.etag+`"`) // listings have it without quotes
	w.Header().Set("Last-Modified", b.modified.UTC().Format(http.TimeFormat))
	content := b.content
	from, to := 0, len(content)-1
	if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); n > 0 && from < len(content) {
		content = content[from:min(to+1, len(content))]
		w.WriteHeader(http.StatusPartialContent)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(content)
	}
}

func (m *memory) list(w http.ResponseWriter, q url.Values) {
	type found struct {
		Name       string
		Properties *struct {
			Size     int    `xml:"Content-Length"`
			ETag     string `xml:"Etag"`
			Modified string `xml:"Last-Modified"`
		} `xml:",omitempty"`
	}
	page := struct {
		XMLName xml.Name `xml:"EnumerationResults"`
		Blobs   struct{ Blob, BlobPrefix []found }
		Next    string `xml:"NextMarker"`
	}{}
	most := pageSize
	if n, err := strconv.Atoi(q.Get("maxresults")); err == nil {
		most = min(most, n)
	}
	prefix, marker := q.Get("prefix"), q.Get("marker")
	last := ""
	for _, name := range m.names() {
		rest, ok := strings.CutPrefix(name, prefix)
		dir, _, deep := strings.Cut(rest, "/")
		folded := q.Get("delimiter") == "/" && deep
		shown := name
		if folded {
			shown = prefix + dir + "/"
		}
		switch {
		case !ok || shown < marker || shown == last:
			continue
		case len(page.Blobs.Blob)+len(page.Blobs.BlobPrefix) == most:
			page.Next = shown
			_ = xml.NewEncoder(w).Encode(page)
			return
		case folded:
			page.Blobs.BlobPrefix = append(page.Blobs.BlobPrefix, found{Name: shown})
		default:
			f := found{Name: name}
			b := m.blobs[name]
			f.Properties = &struct {
				Size     int    `xml:"Content-Length"`
				ETag     string `xml:"Etag"`
				Modified string `xml:"Last-Modified"`
			}{len(b.content), b.etag, b.modified.UTC().Format(http.TimeFormat)}
			page.Blobs.Blob = append(page.Blobs.Blob, f)
		}
		last = shown
	}
	_ = xml.NewEncoder(w).Encode(page)
}
