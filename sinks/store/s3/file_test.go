package s3

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/urlmill/urlmill/internal/dev/s3test"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// random returns bytes without a pattern.
func random(n int) []byte {
	content := make([]byte, n)
	r := rand.NewChaCha8([32]byte{})
	_, _ = r.Read(content)
	return content
}

// A file of several parts arrives whole, whatever the sizes of its pieces were, and another process can publish it.
func TestParts(t *testing.T) {
	content := random(17<<20 + 12345)
	onEach(t, func(t *testing.T, server *s3test.Server) {
		o := options(t, server)
		o.PartSize = minPartSize
		one, two := open(t, o, Scheme+server.Bucket+"/out"), open(t, o, Scheme+server.Bucket+"/out")
		must(t, one.Prepare(t.Context()), two.Prepare(t.Context()))
		f, err := one.Begin(t.Context(), "a-"+one.Run()+"0001.bin")
		must(t, err)
		sum := store.NewChecksum()
		_, _ = sum.Write(content)
		for rest := content; len(rest) > 0; {
			n := min(len(rest), 1+rand.IntN(3<<20))
			if m, err := f.Write(rest[:n]); m != n || err != nil {
				t.Fatal(m, err)
			}
			rest = rest[n:]
		}
		p, err := f.Finish()
		must(t, err)
		if p.Bytes != int64(len(content)) || p.Checksum != sum.String() {
			t.Errorf("%+v", p)
		}
		all := []store.Pending{p}
		must(t, one.Settle(t.Context(), all), two.Settle(t.Context(), all), two.Publish(t.Context(), all), one.Publish(t.Context(), all))
		got, err := one.Read(t.Context(), p.Name)
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		must(t, one.Close(), two.Close())
	})
}

func TestEmptyFile(t *testing.T) {
	gateway := s3test.Start(t)
	s := open(t, options(t, &gateway.Server), Scheme+gateway.Bucket)
	must(t, s.Prepare(t.Context()))
	f, err := s.Begin(t.Context(), "empty-"+s.Run()+"0001.txt")
	must(t, err)
	p, err := f.Finish()
	must(t, err, s.Settle(t.Context(), []store.Pending{p}), s.Publish(t.Context(), []store.Pending{p}), s.Close())
	if info, err := os.Stat(filepath.Join(gateway.Dir(), p.Name)); err != nil || info.Size() != 0 {
		t.Error(info, err)
	}
}

// However much is written, what a file holds stays below the parts on their way and the one that is filled; small files
// hold little, and finished ones nothing.
func TestMemory(t *testing.T) {
	server, direct := s3test.Direct(t)
	o := options(t, server)
	o.PartSize, o.Parallel = minPartSize, 2
	var onWay, most atomic.Int64
	two := make(chan struct{}) // closed when as many are on their way
	prepared := false
	o.Transport = storetest.Transport(func(r *http.Request) (*http.Response, error) {
		if prepared && operation(r) == "UploadPart" {
			n := onWay.Add(1)
			for m := most.Load(); n > m; m = most.Load() {
				if most.CompareAndSwap(m, n) && n == 2 {
					close(two)
				}
			}
			defer onWay.Add(-1)
			select {
			case <-two:
			case <-time.After(2 * time.Minute):
			}
			time.Sleep(5 * time.Millisecond) // so that they pile up
		}
		return direct.RoundTrip(r)
	})
	s := open(t, o, Scheme+server.Bucket+"/out")
	must(t, s.Prepare(t.Context()))
	prepared = true
	var files []store.File
	for range 3 {
		f, err := s.Begin(t.Context(), "a-"+s.Run()+"0001.bin")
		must(t, err)
		files = append(files, f)
	}
	_, err := files[0].Write([]byte("small"))
	must(t, err)
	if got := files[0].Memory(); got == 0 || got > 64<<10 {
		t.Errorf("a small file holds %d bytes", got)
	}
	limit := (int64(len(files)) + int64(o.Parallel)) * o.PartSize
	piece := random(1 << 20)
	for range 30 {
		held := int64(0)
		for _, f := range files {
			_, err := f.Write(piece)
			must(t, err)
			held += f.Memory()
		}
		if held > limit {
			t.Errorf("%d bytes are held, more than %d", held, limit)
		}
	}
	for _, f := range files {
		p, err := f.Finish()
		must(t, err)
		if f.Memory() != 0 {
			t.Errorf("a finished file holds %d bytes", f.Memory())
		}
		must(t, s.Discard(t.Context(), []store.Pending{p}))
	}
	if most.Load() != 2 {
		t.Errorf("%d parts were on their way at a time", most.Load())
	}
	must(t, s.Close())
}

// The context of a file ends its waits, for its turn to send a part and for the parts on their way, while the server answers
// nothing. What is discarded then leaves nothing there, and other files go on.
func TestWaitsEnd(t *testing.T) {
	server, direct := s3test.Direct(t)
	o := options(t, server)
	o.PartSize, o.Parallel = minPartSize, 1
	silent, asked := false, make(chan struct{}, 1)
	o.Transport = storetest.Transport(func(r *http.Request) (*http.Response, error) {
		if operation(r) != "UploadPart" || !silent {
			return direct.RoundTrip(r)
		}
		asked <- struct{}{}
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	s := open(t, o, Scheme+server.Bucket+"/out")
	must(t, s.Prepare(t.Context()))
	silent = true
	within := func(what string, f func() error) {
		t.Helper()
		done := make(chan error, 1)
		go func() { done <- f() }()
		select {
		case err := <-done:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s waits for the server", what)
		}
	}
	piece := make([]byte, minPartSize)
	begin := func() (store.File, context.CancelFunc) {
		ctx, cancel := context.WithCancel(t.Context())
		f, err := s.Begin(ctx, "a-"+s.Run()+"0001.bin")
		must(t, err)
		return f, cancel
	}
	one, endOne := begin()
	_, err := one.Write(piece)
	must(t, err)
	<-asked
	two, endTwo := begin()
	endTwo()
	within("a turn", func() error { _, err := two.Write(piece); return err })
	must(t, two.Discard())
	endOne()
	within("a part on its way", func() error { _, err := one.Finish(); return err })
	must(t, one.Discard())
	silent = false
	three, endThree := begin()
	defer endThree()
	_, err = three.Write(piece)
	must(t, err)
	p, err := three.Finish()
	must(t, err, s.Discard(t.Context(), []store.Pending{p}))
	for i, f := range []store.File{one, two, three} {
		if f.Memory() != 0 {
			t.Errorf("file %d holds %d bytes", i+1, f.Memory())
		}
	}
	must(t, s.Close())
}

var failedPart = regexp.MustCompile(`^UploadPart [1-9][0-9]* s3://`)

// The first error of a part stays: of any part, as they are on their way side by side.
func TestErrorsStick(t *testing.T) {
	f := newFaulty(t, "UploadPart", storetest.Says(403, refusal("AccessDenied")))
	storeOf(f).opts.PartSize = minPartSize
	must(t, f.Close())
	f.Store = open(t, storeOf(f).opts, f.Location())
	must(t, f.Prepare(t.Context()))
	f.Left.Store(1000)
	w, err := f.Begin(t.Context(), "a-"+f.Run()+"0001.bin")
	must(t, err)
	piece := make([]byte, minPartSize)
	_, err = w.Write(piece)
	must(t, err)
	for err == nil {
		_, err = w.Write(piece)
	}
	if !errors.Is(err, fs.ErrPermission) || !failedPart.MatchString(err.Error()) || !strings.Contains(err.Error(), "Nothing of this file was committed") {
		t.Errorf("got %v", err)
	}
	f.Left.Store(0)
	if _, again := w.Finish(); !errors.Is(again, err) || !errors.Is(w.Err(), err) {
		t.Errorf("then %v", again)
	}
	must(t, w.Discard(), f.Close())
}

// An upload that was aborted while it was written cannot be committed, and neither can one with other bytes.
func TestSettleFindsDamage(t *testing.T) {
	f := newFaulty(t, "", nil)
	w, err := f.Begin(t.Context(), "a-"+f.Run()+"0001.bin")
	must(t, err)
	_, err = w.Write([]byte("content"))
	must(t, err)
	p, err := w.Finish()
	must(t, err)
	other := p
	other.Bytes++
	if err := f.Settle(t.Context(), []store.Pending{other}); err == nil || !strings.Contains(err.Error(), "has 7 bytes after 8 were written") {
		t.Errorf("got %v", err)
	}
	part, err := storeOf(f).client.UploadPart(t.Context(), &s3.UploadPartInput{
		Bucket: aws.String("fake"), Key: aws.String("out/" + p.Name), UploadId: &p.Token, PartNumber: aws.Int32(1), Body: strings.NewReader("CONTENT"),
	})
	must(t, err)
	if err := f.Settle(t.Context(), []store.Pending{p}); err == nil || !strings.Contains(err.Error(), "does not have the parts that were sent") {
		t.Errorf("after part %v got %v", part, err)
	}
	must(t, f.Discard(t.Context(), []store.Pending{p}))
	var gone *store.GoneError
	if err := f.Settle(t.Context(), []store.Pending{p}); !errors.As(err, &gone) || !strings.Contains(err.Error(), "lifecycle rule") {
		t.Errorf("got %v", err)
	}
	must(t, f.Close())
}
