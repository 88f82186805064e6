package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// parts are what the time of urlmill is divided into: a sample belongs to the part that the innermost of its functions belongs to which
// belongs to any. What is left, the garbage collector, the scheduler and what hands bytes and batches over, is the rest.
var parts = []struct {
	name      string
	functions []string // what their names begin with
}{
	{"gunzip", []string{"github.com/klauspost/compress/gzip", "github.com/klauspost/compress/flate"}},
	{"codec", []string{"github.com/urlmill/urlmill/sources/codec"}},
	{"parse", []string{"github.com/urlmill/urlmill/urlcore", "github.com/urlmill/urlmill/pipeline/urlcols"}},
	{"zstd", []string{"github.com/klauspost/compress/"}},
	{"encode", []string{"github.com/urlmill/urlmill/sinks/parquet"}},
	{"network", []string{
		"net.", "net/", "internal/poll.", "syscall.", "crypto/", "github.com/aws/", "github.com/urlmill/urlmill/sinks/store",
	}},
}

const rest = "rest"

// shares runs urlmill once more with its listener, and takes a profile from it for two thirds of the usual time.
func (b *bench) shares(tasks []*task) error {
	for _, t := range tasks {
		if t.columns == nil {
			continue
		}
		text, err := b.profile(t)
		if err != nil {
			return fmt.Errorf("%s under the profiler: %w", t.in.Format, err)
		}
		p, err := profile.ParseData(text)
		if err != nil {
			return err
		}
		t.shares = divide(p)
	}
	return nil
}

func (b *bench) profile(t *task) (text []byte, err error) {
	ports, release, err := testproc.ReservePorts(1)
	if err != nil {
		return nil, err
	}
	defer release()
	listen := fmt.Sprintf("127.0.0.1:%d", ports[0])
	b.runs++
	out := fmt.Sprint("out-", b.runs)
	defer func() { _ = os.RemoveAll(b.local(out)) }()
	ended := make(chan error, 1)
	go func() {
		_, err := b.urlmill(t, out, listen, t.in.Rows)
		ended <- err
	}()
	seconds := max(1, int(t.median(func(o outcome) float64 { return o.Seconds })*2/3))
	for {
		select {
		case err := <-ended:
			return nil, fmt.Errorf("it ended before there was a profile of %d s: give it more to do (-mb): %w", seconds, err)
		case <-time.After(5 * time.Millisecond):
		}
		if text, err = get(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", listen, seconds)); err == nil {
			break
		}
	}
	if err := <-ended; err != nil {
		return nil, err
	}
	if b.profiles != "" {
		if err := os.MkdirAll(b.profiles, 0o755); err != nil {
			return nil, err
		}
		return text, os.WriteFile(filepath.Join(b.profiles, t.in.Format+".pprof"), text, 0o644)
	}
	return text, nil
}

func get(url string) ([]byte, error) {
	answer, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, answer.Status)
	}
	return io.ReadAll(answer.Body)
}

// divide returns the share of each part.
func divide(p *profile.Profile) map[string]float64 {
	shares, total := map[string]float64{}, 0.0
	for _, s := range p.Sample {
		ns := float64(s.Value[len(s.Value)-1])
		shares[partOf(s)] += ns
		total += ns
	}
	for name := range shares {
		shares[name] = round(shares[name]/total, 3)
	}
	return shares
}

func partOf(s *profile.Sample) string {
	for _, l := range s.Location { // the innermost first
		for _, line := range l.Line {
			for _, part := range parts {
				for _, f := range part.functions {
					if strings.HasPrefix(line.Function.Name, f) {
						return part.name
					}
				}
			}
		}
	}
	return rest
}
