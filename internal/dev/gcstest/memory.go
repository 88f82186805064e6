package gcstest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/urlmill/urlmill/internal/dev/s3test"
)

// object is an object as the JSON API says it.
type object struct {
	Name       string            `json:"name"`
	Size       string            `json:"size"`
	Generation string            `json:"generation"`
	Updated    time.Time         `json:"updated"`
	CRC32C     string            `json:"crc32c"`
	Metadata   map[string]string `json:"metadata,omitempty"`
	content    []byte
}

// memory answers the requests of the JSON API that urlmill makes, as the service is documented to.
type memory struct {
	mu         sync.Mutex
	objects    map[string]*object
	generation int64
}

// pageSize is small, so that listings have several pages.
const pageSize = 20

// RoundTrip implements [http.RoundTripper].
func (m *memory) RoundTrip(r *http.Request) (*http.Response, error) { return s3test.RoundTrip(m, r) }

func fail(w http.ResponseWriter, status int, reason string) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"error":{"code":%d,"message":"for the test","errors":[{"reason":%q}]}}`, status, reason)
}

func answer(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }

// ServeHTTP implements [http.Handler].
func (m *memory) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err) // a body is in memory
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	at, upload := strings.CutPrefix(r.URL.EscapedPath(), "/upload")
	rest, ok := strings.CutPrefix(at, "/storage/v1/b/fake/o")
	if !ok {
		fail(w, http.StatusNotFound, "notFound")
		return
	}
	q := r.URL.Query()
	escaped, verb, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	name, err := url.PathUnescape(escaped)
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid")
		return
	}
	switch {
	case upload:
		m.insert(w, r, body)
	case verb == "compose":
		m.compose(w, q, name, body)
	case name == "":
		m.list(w, q)
	case m.objects[name] == nil:
		fail(w, http.StatusNotFound, "notFound")
	case r.Method == http.MethodDelete:
		delete(m.objects, name)
		w.WriteHeader(http.StatusNoContent)
	case q.Get("alt") == "media":
		m.media(w, r, q, m.objects[name])
	default:
		answer(w, m.objects[name])
	}
}

func (m *memory) put(w http.ResponseWriter, q url.Values, o *object) {
	if q.Get("ifGenerationMatch") == "0" && m.objects[o.Name] != nil {
		fail(w, http.StatusPreconditionFailed, "conditionNotMet")
		return
	}
	sum := binary.BigEndian.AppendUint32(nil, crc32.Checksum(o.content, crc32.MakeTable(crc32.Castagnoli)))
	text := base64.StdEncoding.EncodeToString(sum)
	if o.CRC32C != "" && o.CRC32C != text {
		fail(w, http.StatusBadRequest, "invalid")
		return
	}
	m.generation++
	o.CRC32C, o.Size, o.Generation, o.Updated = text, strconv.Itoa(len(o.content)), strconv.FormatInt(m.generation, 10), time.Now()
	m.objects[o.Name] = o
	answer(w, o)
}

func (m *memory) insert(w http.ResponseWriter, r *http.Request, body []byte) {
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	parts := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	var content [2][]byte
	for i := range content {
		if err == nil {
			var p *multipart.Part
			if p, err = parts.NextRawPart(); err == nil {
				content[i], err = io.ReadAll(p)
			}
		}
	}
	o := &object{}
	if err == nil {
		err = json.Unmarshal(content[0], o)
	}
	if err != nil || o.Name == "" {
		fail(w, http.StatusBadRequest, "invalid")
		return
	}
	o.content = content[1]
	m.put(w, r.URL.Query(), o)
}

func (m *memory) compose(w http.ResponseWriter, q url.Values, name string, body []byte) {
	var in struct {
		Sources []struct{ Name string } `json:"sourceObjects"`
	}
	if err := json.Unmarshal(body, &in); err != nil || len(in.Sources) == 0 || len(in.Sources) > 32 {
		fail(w, http.StatusBadRequest, "invalid")
		return
	}
	o := &object{Name: name}
	for _, s := range in.Sources {
		if m.objects[s.Name] == nil {
			fail(w, http.StatusNotFound, "notFound")
			return
		}
		o.content = append(o.content, m.objects[s.Name].content...)
	}
	m.put(w, q, o)
}

func (m *memory) media(w http.ResponseWriter, r *http.Request, q url.Values, o *object) {
	if g := q.Get("generation"); g != "" && g != o.Generation {
		fail(w, http.StatusNotFound, "notFound")
		return
	}
	if g := q.Get("ifGenerationMatch"); g != "" && g != o.Generation {
		fail(w, http.StatusPreconditionFailed, "conditionNotMet")
		return
	}
	w.Header().Set("X-Goog-Hash", "crc32c="+o.CRC32C)
	content := o.content
	from, to := 0, len(content)-1
	if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to); n > 0 && from < len(content) {
		content = content[from:min(to+1, len(content))]
		w.WriteHeader(http.StatusPartialContent)
	}
	_, _ = w.Write(content)
}

func (m *memory) list(w http.ResponseWriter, q url.Values) {
	most := pageSize
	if n, err := strconv.Atoi(q.Get("maxResults")); err == nil {
		most = min(most, n)
	}
	prefix, delimiter, start := q.Get("prefix"), q.Get("delimiter"), max(q.Get("startOffset"), q.Get("pageToken"))
	page := struct {
		Next     string    `json:"nextPageToken,omitempty"`
		Prefixes []string  `json:"prefixes,omitempty"`
		Items    []*object `json:"items,omitempty"`
	}{}
	for _, name := range slices.Sorted(maps.Keys(m.objects)) {
		rest, ok := strings.CutPrefix(name, prefix)
		dir, _, deep := strings.Cut(rest, "/")
		dir = prefix + dir + "/"
		switch folded := delimiter == "/" && deep; {
		case !ok || folded && dir < start || !folded && name < start || folded && slices.Contains(page.Prefixes, dir):
		case len(page.Items)+len(page.Prefixes) == most:
			if page.Next = name; folded {
				page.Next = dir
			}
			answer(w, page)
			return
		case folded:
			page.Prefixes = append(page.Prefixes, dir)
		default:
			page.Items = append(page.Items, m.objects[name])
		}
	}
	answer(w, page)
}

// Names returns the names of all objects of [Direct]'s server, in ascending order.
func (s *Server) Names(of http.RoundTripper) []string {
	m := of.(*memory)
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.objects))
}
