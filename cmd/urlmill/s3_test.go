//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/s3test"
)

const s3Config = `
source:
  kafka:
    brokers: [%s]
    topics: [clicks]
    group: s3
    start: earliest
    session_timeout: 6s
    heartbeat_interval: 1s
  codec: {lines: {}}
columns: {include: [href, topic, partition, offset]}
on_error: dead_letter
sink:
  parquet: {path: "s3://%s/lake/clicks", dead_letters: "s3://%s/lake/dead"}
  roll: {rows: 5000, every: 200ms}
  s3: {endpoint: "%s", region: us-east-1, part_size: 5MiB}
`

// From Kafka to S3, every record is in one file that can be seen, also when the process is killed with commits on their
// way, and another time while the server is away. The server is stopped for that: versitygw does not stand being killed.
func TestS3ExactlyOnce(t *testing.T) {
	const partitions, portion, total = 3, 15_000, 60_000
	gateway := s3test.Start(t)
	gateway.Setenv(t)
	kafka := kafkatest.Fake(t)
	client := kafkatest.Client(t, kafka.ListenAddrs())
	kafkatest.CreateTopic(t, client, "clicks", partitions)
	config := filepath.Join(t.TempDir(), "s3.yaml")
	text := fmt.Sprintf(s3Config, kafka.ListenAddrs()[0], gateway.Bucket, gateway.Bucket, gateway.Endpoint)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(gateway.Dir(), "lake", "clicks")
	for kills := range 3 {
		// Enough for more new files than are waited for, however much is in the first ones.
		kafkatest.Produce(t, client, numbered("clicks", partitions, kills*portion, (kills+1)*portion))
		files := len(parquetIn(t, out))
		run := startRun(t, config)
		run.waitFor(t, "files on S3", func() bool { return len(parquetIn(t, out)) > files+1 })
		if kills == 1 {
			gateway.Stop(t)
		}
		_ = run.end(syscall.SIGKILL)
		gateway.Start(t)
	}
	kafkatest.Produce(t, client, numbered("clicks", partitions, 3*portion, total))
	run := startRun(t, config)
	run.finish(t, "every offset to be committed", func() bool {
		for p := range int32(partitions) {
			if kafkatest.Committed(t, client, "s3", "clicks", p) < total {
				return false
			}
		}
		return true
	})
	if lost, twice := checkDelivered(t, out, partitions, total); lost > 0 || twice > 0 {
		t.Errorf("%d rows are lost, %d are there twice", lost, twice)
	}
	verify := process(t, "verify", "s3://"+gateway.Bucket+"/lake/clicks")
	verify.Env = append(os.Environ(), "AWS_ENDPOINT_URL_S3="+gateway.Endpoint)
	report, err := verify.CombinedOutput()
	if err != nil || !strings.Contains(string(report), "complete; 180,000 rows") {
		t.Errorf("verify: %v\n%s", err, report)
	}
}

// What is wrong with a place on S3 is said before anything is read, with what to do about it, and without a secret.
func TestS3Refused(t *testing.T) {
	gateway := s3test.Start(t)
	gateway.Setenv(t)
	input := filepath.Join(t.TempDir(), "urls.txt")
	if err := os.WriteFile(input, []byte("https://example.com/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		bucket, secret, endpoint string
		want                     string
	}{
		"bucket":   {"nowhere", gateway.SecretKey, gateway.Endpoint, "there is no bucket nowhere: create it, or correct the path"},
		"secret":   {gateway.Bucket, "not-the-secret", gateway.Endpoint, "credentials"},
		"endpoint": {gateway.Bucket, gateway.SecretKey, "http://127.0.0.1:1", "the server cannot be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			config := filepath.Join(t.TempDir(), "s3.yaml")
			text := fmt.Sprintf("source: {file: {paths: [%s]}}\nsink: {ndjson: {path: s3://%s/out}, s3: {endpoint: %q, attempts: 2}}\n",
				input, tc.bucket, tc.endpoint)
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := process(t, "run", config)
			cmd.Env = append(os.Environ(), "AWS_SECRET_ACCESS_KEY="+tc.secret)
			said, err := cmd.CombinedOutput()
			if err == nil || cmd.ProcessState.ExitCode() != exitFailure || !strings.Contains(string(said), tc.want) {
				t.Errorf("%v, want %q:\n%s", err, tc.want, said)
			}
			if strings.Contains(string(said), tc.secret) {
				t.Errorf("the secret is in the log:\n%s", said)
			}
		})
	}
}
