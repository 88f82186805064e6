package itest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/itest/readers"
	"github.com/urlmill/urlmill/internal/dev/s3test"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

const icebergOnS3 = `
source:
  file: {paths: [%q]}
  codec: {ndjson: {url: /url, carry: [{name: n, pointer: /n, type: int64}, {name: ts, pointer: /ts, type: timestamp}]}}
columns: {include: [host, n, ts]}
pipeline: {rate: %d, batch_rows: 500}
sink:
  parquet:
    path: s3://%s/lake/clicks
    partition_by: [date(ts)]
    iceberg: {table: web.clicks, catalog_file: %q, every: 1s}
  roll: {rows: 2000, every: 1s}
  s3: {endpoint: %q, region: %s, part_size: 5MiB}
`

// A table on S3 has each row once, though the process that fills it is killed: pyiceberg reads it from there, and urlmill verify
// the folder below it.
func TestIcebergOnS3(t *testing.T) {
	const rows = 20_000
	gateway := s3test.Start(t)
	gateway.Setenv(t)
	folder := t.TempDir()
	config, catalog, records := filepath.Join(folder, "pipeline.yaml"), filepath.Join(folder, "catalog.db"), filepath.Join(folder, "clicks.ndjson")
	var lines bytes.Buffer
	for n := range rows {
		at := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * 10 * time.Second)
		fmt.Fprintf(&lines, "{\"url\":\"https://site%d.example/%d\",\"n\":%d,\"ts\":%q}\n", n%7, n, n, at.Format(time.RFC3339))
	}
	if err := os.WriteFile(records, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(ctx context.Context, rate int, args ...string) (*exec.Cmd, *testproc.Log) {
		text := fmt.Sprintf(icebergOnS3, records, rate, gateway.Bucket, catalog, gateway.Endpoint, gateway.Region)
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		said := new(testproc.Log)
		cmd := exec.CommandContext(ctx, testproc.Urlmill(t), args...)
		cmd.Env = append(os.Environ(), "AWS_ENDPOINT_URL_S3="+gateway.Endpoint) // for verify
		cmd.Stdout, cmd.Stderr = said, said
		return cmd, said
	}
	metadata := filepath.Join(gateway.Dir(), "lake", "clicks", "_iceberg")
	// Slowly, so that it is not done when the table has its second snapshot, as it has when there is a file of the third.
	cmd, said := command(t.Context(), rows/60, "run", config)
	killed, err := testproc.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	err = killed.Await(5*time.Minute, func() error {
		if n := len(filesIn(metadata, "snap-")); n < 3 {
			return fmt.Errorf("there are %d snapshots", n)
		}
		return nil
	})
	killed.Kill()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, args := range [][]string{{"run", config}, {"verify", "s3://" + gateway.Bucket + "/lake/clicks"}} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		cmd, said := command(ctx, 0, args...)
		err := cmd.Run()
		cancel()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, said)
		}
	}
	got := readers.PyicebergWith(t, map[string]string{
		"s3.endpoint": gateway.Endpoint, "s3.region": gateway.Region, "s3.access-key-id": gateway.AccessKey, "s3.secret-access-key": gateway.SecretKey,
	}, catalog, "web.clicks", "n", "n >= 19000")
	if got.Rows != rows || got.Distinct != rows || got.Sum != rows*(rows-1)/2 || got.Snapshots < 3 {
		t.Errorf("%+v", got)
	}
	if got.Filtered != 1000 || got.Planned == 0 || got.Planned >= len(got.Files) {
		t.Errorf("%d rows of %d files are left, of %d", got.Filtered, got.Planned, len(got.Files))
	}
	for _, f := range got.Files {
		if !strings.HasPrefix(f, "s3://"+gateway.Bucket+"/lake/clicks/dt=") {
			t.Errorf("a file at %s", f)
		}
	}
}

// filesIn returns the files of a folder whose names begin with a text; none if it is not there.
func filesIn(folder, prefix string) (names []string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			names = append(names, e.Name())
		}
	}
	return names
}
