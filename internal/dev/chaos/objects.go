package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/urlmill/urlmill/internal/dev/s3test"
)

const objectsConfig = `
source:
  file:
    paths: ["s3://%s/logs/"]
    poll: 300ms
    relist: 3s
    shard: %d/2
    on_changed: whole
    s3: {endpoint: %q, region: %s, attempts: 8, timeout: %v}
columns: {include: [href]}
pipeline: {batch_rows: 512}
sink:
  parquet: {path: %q}
  s3: {endpoint: %q, region: %s, attempts: 8, timeout: %v}
  roll: {rows: 2000, every: 200ms}
`

var listed = regexp.MustCompile(`(?s)<Contents>.*?</Contents>`)

// lagging is a listing that does not have every second key, such as one that is behind.
var lagging = storeFault{"listing without every second key", func(p *storeProxy, w http.ResponseWriter, req *http.Request) {
	answer := httptest.NewRecorder()
	p.forward.ServeHTTP(answer, req)
	n := 0
	body := listed.ReplaceAllFunc(answer.Body.Bytes(), func(object []byte) []byte {
		if n++; n%2 == 0 {
			return nil
		}
		return object
	})
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(answer.Code)
	_, _ = w.Write(body)
}, "", true}

// broken is an answer whose connection ends in the middle of the body, such as that of an object.
var broken = storeFault{"body broken in the middle", func(p *storeProxy, w http.ResponseWriter, req *http.Request) {
	answer := httptest.NewRecorder()
	p.forward.ServeHTTP(answer, req)
	maps.Copy(w.Header(), answer.Header())
	w.Header().Set("Content-Length", strconv.Itoa(answer.Body.Len()))
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
	_ = http.NewResponseController(w).Flush() // the client sees the half, and then the end
	panic(http.ErrAbortHandler)
}, "", false}

// large ends the keys of objects that take several commits, and late of those that are replaced when they were listed and are about
// to be read.
const large, late = ".large.gz", ".late.gz"

// fencedWithin is how long two processes may read the same objects before one of them finds its positions taken, on the slowest machine.
const fencedWithin = 2 * time.Minute

// objectSource reads a bucket with two processes while objects appear in it in no order, requests fail, the server is restarted, and
// the processes are killed. One of them sleeps in the middle of its work while a third one does that. A record names its object and its
// number.
// The output is in the same bucket, behind the same faults.
func objectSource(r *run) {
	rounds, objects, rows := pick(r, 32, 8), pick(r, 200, 20), pick(r, 400, 100)
	g := s3test.Start(r)
	g.Setenv(r)
	client := awss3.New(awss3.Options{
		BaseEndpoint: &g.Endpoint, Region: g.Region, UsePathStyle: true, Credentials: credentials.NewStaticCredentialsProvider(g.AccessKey, g.SecretKey, ""),
	})
	faults := append([]storeFault{lagging, broken}, storeFaults...)
	proxy, out, dir := r.newStoreProxy(g.Endpoint), "s3://"+g.Bucket+"/out", filepath.Join(g.Dir(), "out")
	var configs [2]string
	for i := range configs {
		configs[i] = r.path(fmt.Sprintf("objects-%d.yaml", i+1))
		text := fmt.Sprintf(objectsConfig, g.Bucket, i+1, proxy.endpoint, g.Region, storeTimeout,
			out, proxy.endpoint, g.Region, storeTimeout)
		r.must(os.WriteFile(configs[i], []byte(text), 0o600))
	}
	lines := map[string]bool{} // false: of contents that were replaced or removed, and may have been read before
	each := func(key string, version int, there bool) (content bytes.Buffer) {
		zip, rows := gzip.NewWriter(&content), rows
		if strings.HasSuffix(key, large) {
			rows = 20_000
		}
		for n := range rows {
			line := fmt.Sprintf("https://c.example/%s/%d/%d", key, version, n)
			lines[line] = there
			fmt.Fprintln(zip, line)
		}
		r.must(zip.Close())
		return content
	}
	upload := func(key string, content bytes.Buffer) error {
		_, err := client.PutObject(context.Background(), &awss3.PutObjectInput{Bucket: &g.Bucket, Key: &key, Body: bytes.NewReader(content.Bytes())})
		return err
	}
	send := func(key string, version int) { r.must(upload(key, each(key, version, true))) }
	var swaps sync.Map // by the path of a request, what is uploaded before the object is read
	proxy.before = func(req *http.Request) error {
		swap, there := swaps.Load(req.URL.Path)
		if !there || req.Method != http.MethodGet {
			return nil
		}
		err := swap.(func() error)()
		if err == nil {
			swaps.Delete(req.URL.Path)
		}
		return err
	}
	put := func(round int) {
		for i := range objects {
			key := fmt.Sprintf("logs/%08x-%d-%d.log.gz", r.rand.Uint32(), round, i)
			switch {
			case i == 5:
				key += large
			case i%10 == 1:
				key += late
				content := each(key, 2, true)
				swaps.Store("/"+g.Bucket+"/"+key, func() error { return upload(key, content) })
				r.fault("object replaced between its listing and its reading")
			}
			send(key, 1)
			if strings.HasSuffix(key, late) {
				each(key, 1, false)
			}
			switch i % 10 {
			case 3:
				each(key, 1, false)
				send(key, 2)
				r.fault("object replaced")
			case 7:
				each(key, 1, false)
				_, err := client.DeleteObject(context.Background(), &awss3.DeleteObjectInput{Bucket: &g.Bucket, Key: &key})
				r.must(err)
				r.fault("object removed")
			}
		}
	}
	put(0) // the first listing finds something
	mills := []*mill{r.start(configs[0]), r.start(configs[1])}
	for round := range rounds {
		if round%2 == 1 { // without faults, with which the third process would come to nothing
			mills[1] = r.asleep(mills[1], configs[1], dir, func() { put(round + 1) })
		}
		proxy.fail(&faults[round%len(faults)], 0.3)
		put(round + 1)
		time.Sleep(r.randomly(time.Second))
		victim := round % len(mills)
		mills[victim].Kill()
		r.fault("kill -9")
		if round%3 == 2 {
			g.Stop(r)
			r.fault("S3 server stopped")
			time.Sleep(r.randomly(time.Second))
			g.Start(r)
		}
		proxy.fail(nil, 0)
		for i, m := range mills {
			if m.Ended() { // also one that has given up
				mills[i] = r.start(configs[i])
			}
		}
	}
	for name, n := range proxy.counts {
		r.faults(name, n)
	}
	r.await("all objects to be read", func() bool {
		for i, m := range mills {
			if m.Ended() {
				mills[i] = r.start(configs[i])
			}
		}
		got, err := r.hrefs(dir)
		r.must(err)
		for line, there := range lines {
			if there && got[line] == 0 {
				return false
			}
		}
		return true
	})
	time.Sleep(2 * time.Second) // what is read twice now would be found
	for _, m := range mills {
		r.stop(m)
	}
	report, err := r.report(want{out: out, environ: []string{"AWS_ENDPOINT_URL_S3=" + g.Endpoint}})
	r.must(err)
	for _, p := range report.Problems {
		r.Errorf("verify: %+v", p)
	}
	got, err := r.hrefs(dir)
	r.must(err)
	for line, there := range lines {
		if there && got[line] == 0 {
			r.out.Lost++
		}
	}
	for line, n := range got {
		if _, known := lines[line]; !known {
			r.out.Wrong++
		}
		r.out.Duplicated += int64(n - 1)
	}
	r.out.Rows = int64(len(got))
}

// secondShare is what the names of the records of lanes end with that are of the second share of two.
var secondShare = regexp.MustCompile(`objects\d*[02468]of16/0/\d+\.json$`)

// asleep stops the process of the second share at its work, starts another one with the same share, which reads and commits what put makes,
// and wakes the first one up. That one reads the same, so that one of the two has to find its positions taken, and end. asleep returns the
// first process, or the one that was started in its place before.
func (r *run) asleep(m *mill, config, dir string, put func()) *mill {
	r.Helper()
	commits := func() (n int) {
		_ = filepath.WalkDir(filepath.Join(dir, "_commits"), func(path string, _ fs.DirEntry, _ error) error {
			if secondShare.MatchString(path) {
				n++
			}
			return nil
		})
		return n
	}
	if m.Ended() {
		m = r.start(config)
	}
	before := commits()
	put()
	r.await("the process that is to sleep to commit", func() bool { return commits() >= before+3 })
	m.Signal(syscall.SIGSTOP)
	other := r.start(config)
	before = commits()
	put()
	r.await("another process to do the work of one that sleeps", func() bool { return commits() >= before+3 })
	m.Signal(syscall.SIGCONT)
	r.fault("SIGSTOP while another process does the work")
	for end := time.Now().Add(fencedWithin); !m.Ended() && !other.Ended(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			r.Fatalf("a process that has slept reads the objects of another one, and after %v neither has found its positions taken", fencedWithin)
		}
	}
	other.Kill()
	return m
}

// hrefs counts the rows of an output by their URL.
func (r *run) hrefs(out string) (map[string]int, error) {
	got := map[string]int{}
	names, err := filepath.Glob(filepath.Join(out, "*.parquet"))
	for _, name := range names {
		if err := readHrefs(name, got); err != nil {
			return nil, err
		}
	}
	return got, err
}

func readHrefs(name string, got map[string]int) error {
	f, err := file.OpenParquetFile(name, false)
	if err != nil {
		return err
	}
	defer f.Close()
	from, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	table, err := from.ReadTable(context.Background())
	if err != nil {
		return err
	}
	defer table.Release()
	for _, chunk := range table.Column(0).Data().Chunks() {
		texts, ok := chunk.(*array.String)
		if !ok {
			return fmt.Errorf("%s: href is a %T", name, chunk)
		}
		for i := range texts.Len() {
			got[strings.Clone(texts.Value(i))]++
		}
	}
	return nil
}
