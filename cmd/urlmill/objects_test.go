//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/urlmill/urlmill/internal/dev/azuretest"
	"github.com/urlmill/urlmill/internal/dev/gcstest"
	"github.com/urlmill/urlmill/internal/dev/s3test"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/azure"
	"github.com/urlmill/urlmill/sinks/store/gcs"
)

func clientOf(server s3test.Server) *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: &server.Endpoint, Region: server.Region, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(server.AccessKey, server.SecretKey, ""),
	})
}

// upload puts objects into the bucket of a server.
func upload(t *testing.T, server s3test.Server, objects map[string][]byte) {
	t.Helper()
	client := clientOf(server)
	var group sync.WaitGroup
	turns := make(chan struct{}, 16)
	for key, content := range objects {
		turns <- struct{}{}
		group.Go(func() {
			defer func() { <-turns }()
			_, err := client.PutObject(context.Background(), &s3.PutObjectInput{Bucket: &server.Bucket, Key: aws.String(key), Body: bytes.NewReader(content)})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// supply puts objects of ten records each into a bucket, under keys in no order.
type supply struct {
	server s3test.Server
	n      int // records that were put
}

func (s *supply) put(t *testing.T, objects int) {
	t.Helper()
	contents := map[string][]byte{}
	for range objects {
		contents[fmt.Sprintf("logs/%03d.log", s.n/10*271%1000)] = numberedLines(s.n, 10)
		s.n += 10
	}
	upload(t, s.server, contents)
}

// numberedLines returns n records, compressed for every second i.
func numberedLines(i, n int) []byte {
	var plain, zipped bytes.Buffer
	for j := range n {
		fmt.Fprintf(&plain, "https://example.com/%d/%d\n", i, j)
	}
	if i%2 == 0 {
		return plain.Bytes()
	}
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write(plain.Bytes())
	_ = w.Close()
	return zipped.Bytes()
}

const objectsConfig = `
source:
  file:
    paths: ["%s/logs/**/*.log", "%[1]s/large/"]
    %[2]s
columns: {include: [href, file, record]}
sink:
  parquet: {path: %[3]s}
  roll: {rows: 3000, every: 100ms}
`

// recordsIn returns how often each record of each object is in the files of a folder.
func recordsIn(t *testing.T, dir string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, name := range parquetIn(t, dir) {
		eachRecord(t, name, func(r arrow.Record) {
			file, record, href := r.Column(1).(*array.String), r.Column(2).(*array.Int64), r.Column(0).(*array.String)
			for i := range int(r.NumRows()) {
				if !strings.HasSuffix(href.Value(i), fmt.Sprintf("/%d", record.Value(i))) {
					t.Fatalf("record %d of %s is %s", record.Value(i), file.Value(i), href.Value(i))
				}
				counts[fmt.Sprintf("%s %d", file.Value(i), record.Value(i))]++
			}
		})
	}
	return counts
}

// From a bucket into files, every record is there once, also when the process is killed on the way, and when keys appear late.
func TestObjectsExactlyOnce(t *testing.T) {
	t.Run("s3", func(t *testing.T) {
		gateway := s3test.Start(t)
		gateway.Setenv(t)
		testObjects(t, "s3://"+gateway.Bucket, fmt.Sprintf("s3: {endpoint: %q, region: us-east-1}", gateway.Endpoint), "AWS_ENDPOINT_URL_S3="+gateway.Endpoint, 400,
			func(objects map[string][]byte) { upload(t, gateway.Server, objects) })
	})
	t.Run("gcs", func(t *testing.T) {
		server := gcstest.Start(t)
		root, o := "gs://"+server.Bucket, gcs.Default()
		o.Endpoint = server.Endpoint
		testObjects(t, root, fmt.Sprintf("gcs: {endpoint: %q}", server.Endpoint), "STORAGE_EMULATOR_HOST="+server.Endpoint, 100, create(t, gcs.Opener(o), root))
	})
	t.Run("azure", func(t *testing.T) {
		server := azuretest.Start(t)
		o := azure.Default()
		o.Endpoint = server.Endpoint
		testObjects(t, server.Place, fmt.Sprintf("azure: {endpoint: %q}", server.Endpoint), "AZURE_STORAGE_ENDPOINT="+server.Endpoint, 100,
			create(t, azure.Opener(o), server.Place))
	})
}

// create returns what makes objects in a bucket.
func create(t *testing.T, open store.Opener, root string) func(objects map[string][]byte) {
	t.Helper()
	s, err := open(root, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return func(objects map[string][]byte) {
		for key, content := range objects {
			if err := errors.Join(s.Delete(t.Context(), key), s.Create(t.Context(), key, content)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// testObjects reads n small and two large objects of a bucket, with a section of the source and a variable that say how to reach it.
func testObjects(t *testing.T, root, section, env string, n int, upload func(objects map[string][]byte)) {
	t.Helper()
	objects, want := map[string][]byte{}, map[string]int{}
	put := func(key string, i, n int) { objects[key], want[key] = numberedLines(i, n), n }
	for i := range n {
		put(fmt.Sprintf("logs/dt=2026-11-%02d/a-%03d.log", i%20+1, i), i, i%50)
	}
	put("large/0", 1000, 750*n)
	put("large/1", 1001, 500*n)
	objects["logs/other.txt"] = []byte("https://example.com/other\n")
	upload(objects)
	dir := t.TempDir()
	config, out := filepath.Join(dir, "objects.yaml"), filepath.Join(dir, "out")
	text := fmt.Sprintf(objectsConfig, root, section, out)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for kills := range 4 {
		files := len(parquetIn(t, out))
		run := startRun(t, config)
		// A busy machine may see the files of one so late that it leaves the others less than so many.
		if !run.waitOrEnd(t, "files", func() bool { return len(parquetIn(t, out)) > files+kills }) && (kills == 0 || run.Err() != nil) {
			t.Fatalf("the process ended (%v) before it was killed:\n%s", run.Err(), run.log)
		}
		_ = run.end(syscall.SIGKILL)
		clear(objects)
		put(fmt.Sprintf("logs/dt=2026-10-%02d/late.log", kills+1), kills, 30)
		upload(objects)
	}
	for range 2 { // the second one finds nothing new
		if said, err := process(t, "run", config).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		counts := recordsIn(t, out)
		total, lost, twice := 0, 0, 0
		for key, n := range want {
			for i := range n {
				total++
				switch k := counts[fmt.Sprintf("%s/%s %d", root, key, i)]; {
				case k == 0:
					lost++
				case k > 1:
					twice++
				}
			}
		}
		if lost > 0 || twice > 0 || len(counts) != total {
			t.Errorf("%d rows of %d records, %d lost, %d twice", len(counts), total, lost, twice)
		}
	}
	if said, err := process(t, "verify", out).CombinedOutput(); err != nil || !strings.Contains(string(said), "complete") {
		t.Errorf("verify: %v\n%s", err, said)
	}
	dry := process(t, "dry-run", config)
	if said, err := dry.CombinedOutput(); err != nil || !strings.Contains(string(said), "example.com") {
		t.Errorf("dry-run: %v\n%s", err, said)
	}
	parse := process(t, "parse", root+"/logs/dt=2026-10-01/*", "--to", "ndjson", "-q", "--columns", "file,record")
	parse.Env = append(os.Environ(), env)
	if said, err := parse.Output(); err != nil || bytes.Count(said, []byte("late.log")) != 30 {
		t.Errorf("parse: %v\n%s", err, said)
	}

	text = strings.Replace(text, "paths:", "poll: 100ms\n    paths:", 1)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run := startRun(t, config)
	for _, key := range []string{"logs/new.log", "logs/dt=2026-10-01/late.log"} { // the second takes the place of another content
		files := len(parquetIn(t, out))
		upload(map[string][]byte{key: numberedLines(2000, 10)})
		run.waitFor(t, key, func() bool { return len(parquetIn(t, out)) > files })
	}
	if err := run.end(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
}

// Processes with the same configuration share a bucket, with claims in the bucket of the output: one is killed, another one is ended,
// and every record is there once.
func TestObjectsShared(t *testing.T) {
	gateway := s3test.Start(t)
	gateway.Setenv(t)
	config, out := filepath.Join(t.TempDir(), "objects.yaml"), filepath.Join(gateway.Dir(), "_out")
	section := fmt.Sprintf("s3: {endpoint: %q, region: us-east-1}", gateway.Endpoint)
	text := fmt.Sprintf(objectsConfig, "s3://"+gateway.Bucket, section, "s3://"+gateway.Bucket+"/_out")
	text = strings.Replace(text, "    s3:", "    poll: 100ms\n    shard: auto\n    claim_ttl: 3s\n    s3:", 1)
	text += "  " + section + "\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	lanes := func() []int { // of the processes that have any
		has := map[string]int{}
		claims, _ := filepath.Glob(filepath.Join(out, "_claims", "*", "lane-*"))
		for _, name := range claims {
			if content, err := os.ReadFile(name); err == nil && strings.HasPrefix(string(content), "held ") {
				has[string(content)]++
			}
		}
		return slices.Sorted(maps.Values(has))
	}
	divided := func(want ...int) func() bool { return func() bool { return slices.Equal(lanes(), want) } }
	records := supply{server: gateway.Server}
	more := func() { records.put(t, 80) }
	rows := func() int { return countRowsIn(t, out) }
	more()
	first, second := startRun(t, config), startRun(t, config)
	first.waitFor(t, "two processes", divided(8, 8))
	third := startRun(t, config)
	third.waitFor(t, "three processes", divided(5, 5, 6))
	more()
	_ = second.end(syscall.SIGKILL)
	more()
	first.waitFor(t, "the lanes of the one that was killed", divided(8, 8))
	if err := third.end(syscall.SIGTERM); err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, third.log)
	}
	first.waitFor(t, "the lanes of the one that has ended", divided(16))
	more()
	first.finish(t, "all records", func() bool { return rows() >= records.n })
	if counts := recordsIn(t, out); len(counts) != records.n || rows() != records.n {
		t.Errorf("%d rows of %d records, want %d", rows(), len(counts), records.n)
	}
	verify := process(t, "verify", "s3://"+gateway.Bucket+"/_out")
	verify.Env = append(os.Environ(), "AWS_ENDPOINT_URL_S3="+gateway.Endpoint)
	if said, err := verify.CombinedOutput(); err != nil || !strings.Contains(string(said), "complete") {
		t.Errorf("verify: %v\n%s", err, said)
	}
	dry := process(t, "dry-run", config)
	if said, err := dry.CombinedOutput(); err != nil || !strings.Contains(string(said), "example.com") {
		t.Errorf("dry-run: %v\n%s", err, said)
	}
}

// What is wrong with a bucket that is read is said before anything is written, with what to do about it.
func TestObjectsRefused(t *testing.T) {
	gateway := s3test.Start(t)
	gateway.Setenv(t)
	object := map[string][]byte{"logs/a": []byte("https://example.com/\n")}
	upload(t, gateway.Server, object)
	google := gcstest.Start(t)
	o := gcs.Default()
	o.Endpoint = google.Endpoint
	create(t, gcs.Opener(o), "gs://"+google.Bucket)(object)
	microsoft := azuretest.Start(t)
	bucket, noServer := "s3://"+gateway.Bucket, "http://127.0.0.1:1"
	for name, tc := range map[string]struct{ path, secret, kind, endpoint, want string }{
		"bucket":          {"s3://nowhere/logs", gateway.SecretKey, "s3", gateway.Endpoint, "there is no bucket nowhere: create it, or correct the path"},
		"secret":          {bucket + "/logs", "not-the-secret", "s3", gateway.Endpoint, "credentials"},
		"endpoint":        {bucket + "/logs", gateway.SecretKey, "s3", noServer, "correct source.file.s3.endpoint"},
		"key":             {bucket + "/log", gateway.SecretKey, "s3", gateway.Endpoint, "no object of the bucket has such a key"},
		"gcs bucket":      {"gs://nowhere/logs", "-", "gcs", google.Endpoint, "there is no bucket nowhere: create it, or correct the path"},
		"gcs endpoint":    {"gs://nowhere/logs", "-", "gcs", noServer, "correct source.file.gcs.endpoint"},
		"gcs key":         {"gs://" + google.Bucket + "/log", "-", "gcs", google.Endpoint, "no object of the bucket has such a key"},
		"azure endpoint":  {microsoft.Place + "/logs", "-", "azure", noServer, "correct source.file.azure.endpoint"},
		"azure container": {strings.Replace(microsoft.Place, "urlmill", "nowhere", 1) + "/logs", "-", "azure", microsoft.Endpoint, "there is no container nowhere-test in the account"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			config, out := filepath.Join(dir, "objects.yaml"), filepath.Join(dir, "out")
			text := fmt.Sprintf("source: {file: {paths: [%q], %s: {endpoint: %q, attempts: 2}}}\nsink: {ndjson: {path: %s}}\n", tc.path, tc.kind, tc.endpoint, out)
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := process(t, "run", config)
			cmd.Env = append(os.Environ(), "AWS_SECRET_ACCESS_KEY="+tc.secret)
			said, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(said), tc.want) || strings.Contains(string(said), "not-the-secret") {
				t.Errorf("%v, want %q:\n%s", err, tc.want, said)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("the folder of the output was made")
			}
		})
	}
}

// A process that sleeps while another one reads the same objects into the same output finds its positions taken when it wakes up, drops
// what it has read, and says so.
func TestObjectsAsleep(t *testing.T) {
	gateway := s3test.Start(t)
	gateway.Setenv(t)
	dir := t.TempDir()
	config, out := filepath.Join(dir, "objects.yaml"), filepath.Join(dir, "out")
	section := fmt.Sprintf("poll: 100ms\n    s3: {endpoint: %q, region: us-east-1}", gateway.Endpoint)
	if err := os.WriteFile(config, fmt.Appendf(nil, objectsConfig, "s3://"+gateway.Bucket, section, out), 0o600); err != nil {
		t.Fatal(err)
	}
	records := supply{server: gateway.Server}
	more := func() { records.put(t, 60) }
	rows := func() int { return countRowsIn(t, out) }
	more()
	asleep := startRun(t, config)
	asleep.waitFor(t, "rows", func() bool { return rows() == records.n })
	asleep.Signal(syscall.SIGSTOP)
	more()
	other := startRun(t, config)
	other.waitFor(t, "rows of another process", func() bool { return rows() == records.n })
	asleep.Signal(syscall.SIGCONT)
	if asleep.waitOrEnd(t, "the one that has slept to end", func() bool { return rows() > records.n }) {
		t.Errorf("%d rows of %d records: both have committed what they read", rows(), records.n)
	}
	if err := asleep.end(syscall.SIGTERM); err == nil || !strings.Contains(asleep.log.String(), "another process reads these objects into the same output") {
		t.Errorf("%v\n%s", err, asleep.log)
	}
	if err := other.end(syscall.SIGTERM); err != nil {
		t.Errorf("%v\n%s", err, other.log)
	}
	if counts := recordsIn(t, out); len(counts) != records.n || rows() != records.n {
		t.Errorf("%d rows of %d records, want %d", rows(), len(counts), records.n)
	}
}
