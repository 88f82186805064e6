package schemaregistry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestReferencesWithoutEnd: every schema refers to another one, or to another long one; the registry is not asked for ever, nor for
// more bytes than a schema may have, and the schema is one that there is none of.
func TestReferencesWithoutEnd(t *testing.T) {
	const parts = 8
	for _, c := range []struct {
		name, text string
		most       int64 // requests
	}{
		{"many", "x", maxReferences + 1},
		{"long", strings.Repeat("x", maxAnswer/parts), parts + 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				n := asked.Add(1)
				fmt.Fprintf(w, `{"id":1,"version":1,"subject":"s","schema":"%s","references":[{"name":"n%d","subject":"s%d","version":1}]}`, c.text, n, n)
			}))
			t.Cleanup(server.Close)
			var unknown *NotFoundError
			_, err := mustNew(t, Options{URLs: []string{server.URL}}).Schema(t.Context(), 1)
			if !errors.As(err, &unknown) || asked.Load() != c.most {
				t.Errorf("asked %d times, %v", asked.Load(), err)
			}
		})
	}
}

// TestCancelled: a request, and a walk through references, ends when the context does.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := asked.Add(1)
		if n == 20 {
			cancel()
			<-r.Context().Done()
			return
		}
		fmt.Fprintf(w, `{"id":1,"version":1,"schema":"x","references":[{"name":"n%d","subject":"s","version":1}]}`, n)
	}))
	t.Cleanup(server.Close)
	if _, err := mustNew(t, Options{URLs: []string{server.URL}}).Schema(ctx, 1); !errors.Is(err, context.Canceled) || asked.Load() != 20 {
		t.Errorf("asked %d times, %v", asked.Load(), err)
	}
}

// TestLongAnswer: an answer without end is given up at a length, and not asked for again and again.
func TestLongAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for piece, n := []byte(strings.Repeat("x", 1<<20)), 0; n < 4*maxAnswer; n += len(piece) {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	var unknown *NotFoundError
	if _, err := mustNew(t, Options{URLs: []string{server.URL}}).Schema(t.Context(), 1); !errors.As(err, &unknown) || !errors.Is(err, errTooLong) {
		t.Error(err)
	}
}
