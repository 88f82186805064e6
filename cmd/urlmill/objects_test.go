//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
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

	"github.com/urlmill/urlmill/internal/dev/s3test"
)

// upload puts objects into the bucket of a server.
func upload(t *testing.T, server s3test.Server, objects map[string][]byte) {
	t.Helper()
	client := s3.New(s3.Options{
		BaseEndpoint: &server.Endpoint, Region: server.Region, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(server.AccessKey, server.SecretKey, ""),
	})
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
    paths: ["s3://%s/logs/**/*.log", "s3://%[1]s/large/"]
    s3: {endpoint: "%[2]s", region: us-east-1}
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
	gateway := s3test.Start(t)
	gateway.Setenv(t)
	objects, want := map[string][]byte{}, map[string]int{}
	put := func(key string, i, n int) { objects[key], want[key] = numberedLines(i, n), n }
	for i := range 400 {
		put(fmt.Sprintf("logs/dt=2026-11-%02d/a-%03d.log", i%20+1, i), i, i%50)
	}
	put("large/0", 1000, 300_000)
	put("large/1", 1001, 200_000)
	objects["logs/other.txt"] = []byte("https://example.com/other\n")
	upload(t, gateway.Server, objects)
	dir := t.TempDir()
	config, out := filepath.Join(dir, "objects.yaml"), filepath.Join(dir, "out")
	text := fmt.Sprintf(objectsConfig, gateway.Bucket, gateway.Endpoint, out)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for kills := range 4 {
		files := len(parquetIn(t, out))
		run := startRun(t, config)
		run.waitFor(t, "files", func() bool { return len(parquetIn(t, out)) > files+kills })
		_ = run.end(syscall.SIGKILL)
		clear(objects)
		put(fmt.Sprintf("logs/dt=2026-10-%02d/late.log", kills+1), kills, 30)
		upload(t, gateway.Server, objects)
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
				switch k := counts[fmt.Sprintf("s3://%s/%s %d", gateway.Bucket, key, i)]; {
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
	parse := process(t, "parse", fmt.Sprintf("s3://%s/logs/dt=2026-10-01/*", gateway.Bucket), "--to", "ndjson", "-q", "--columns", "file,record")
	parse.Env = append(os.Environ(), "AWS_ENDPOINT_URL_S3="+gateway.Endpoint)
	if said, err := parse.Output(); err != nil || bytes.Count(said, []byte("late.log")) != 30 {
		t.Errorf("parse: %v\n%s", err, said)
	}
}

// Processes with the same configuration share a bucket, with claims in the bucket of the output: one is killed, another one is ended,
// and every record is there once.
func TestObjectsShared(t *testing.T) {
	gateway := s3test.Start(t)
	gateway.Setenv(t)
	config, out := filepath.Join(t.TempDir(), "objects.yaml"), filepath.Join(gateway.Dir(), "_out")
	text := fmt.Sprintf(objectsConfig, gateway.Bucket, gateway.Endpoint, "s3://"+gateway.Bucket+"/_out")
	text = strings.Replace(text, "    s3:", "    poll: 100ms\n    shard: auto\n    claim_ttl: 3s\n    s3:", 1)
	text += fmt.Sprintf("  s3: {endpoint: %q, region: us-east-1}\n", gateway.Endpoint)
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
	want := 0
	more := func() {
		objects := map[string][]byte{}
		for range 80 {
			objects[fmt.Sprintf("logs/%03d.log", want/10*271%1000)] = numberedLines(want, 10)
			want += 10
		}
		upload(t, gateway.Server, objects)
	}
	rows := func() (n int) {
		for _, name := range parquetIn(t, out) {
			n += eachRecord(t, name, func(arrow.Record) {})
		}
		return n
	}
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
	first.finish(t, "all records", func() bool { return rows() >= want })
	if counts := recordsIn(t, out); len(counts) != want || rows() != want {
		t.Errorf("%d rows of %d records, want %d", rows(), len(counts), want)
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
	upload(t, gateway.Server, map[string][]byte{"logs/a": []byte("https://example.com/\n")})
	for name, tc := range map[string]struct{ path, secret, endpoint, want string }{
		"bucket":   {"nowhere/logs", gateway.SecretKey, gateway.Endpoint, "there is no bucket nowhere: create it, or correct the path"},
		"secret":   {gateway.Bucket + "/logs", "not-the-secret", gateway.Endpoint, "credentials"},
		"endpoint": {gateway.Bucket + "/logs", gateway.SecretKey, "http://127.0.0.1:1", "correct source.file.s3.endpoint"},
		"key":      {gateway.Bucket + "/log", gateway.SecretKey, gateway.Endpoint, "no object of the bucket has such a key"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			config, out := filepath.Join(dir, "objects.yaml"), filepath.Join(dir, "out")
			text := fmt.Sprintf("source: {file: {paths: [\"s3://%s\"], s3: {endpoint: %q, attempts: 2}}}\nsink: {ndjson: {path: %s}}\n", tc.path, tc.endpoint, out)
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := process(t, "run", config)
			cmd.Env = append(os.Environ(), "AWS_SECRET_ACCESS_KEY="+tc.secret)
			said, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(said), tc.want) || strings.Contains(string(said), tc.secret) {
				t.Errorf("%v, want %q:\n%s", err, tc.want, said)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("the folder of the output was made")
			}
		})
	}
}
