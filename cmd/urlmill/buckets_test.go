package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/azuretest"
	"github.com/urlmill/urlmill/internal/dev/gcstest"
	"github.com/urlmill/urlmill/internal/dev/s3test"
)

// Commands take places on Google Cloud Storage as they take those on S3, and what is wrong with one is said before anything is read.
func TestGCS(t *testing.T) {
	server := gcstest.Start(t)
	testBuckets(t, "gs://"+server.Bucket, "gs://nowhere-at-all", "STORAGE_EMULATOR_HOST="+server.Endpoint,
		fmt.Sprintf("gcs: {endpoint: %q, attempts: 2}", server.Endpoint), "gcs: {endpoint: 'http://127.0.0.1:1', attempts: 2}")
}

// Commands take places on Azure, too.
func TestAzure(t *testing.T) {
	server := azuretest.Start(t)
	testBuckets(t, server.Place, strings.Replace(server.Place, "urlmill", "nowhere", 1), "AZURE_STORAGE_ENDPOINT="+server.Endpoint,
		fmt.Sprintf("azure: {endpoint: %q, attempts: 2}", server.Endpoint), "azure: {endpoint: 'http://127.0.0.1:1', attempts: 2}")
}

// Commands take places on S3.
func TestS3Commands(t *testing.T) {
	gateway := s3test.Start(t)
	gateway.Setenv(t)
	testBuckets(t, "s3://"+gateway.Bucket, "s3://nowhere-at-all", "AWS_ENDPOINT_URL_S3="+gateway.Endpoint,
		fmt.Sprintf("s3: {endpoint: %q, attempts: 2}", gateway.Endpoint), "s3: {endpoint: 'http://127.0.0.1:1', attempts: 2}")
}

// testBuckets delivers to a bucket and looks at it, with a section of the sink and a variable that say how to reach it. missing is a
// bucket that is not there, and nowhere a section that leads to no server.
func testBuckets(t *testing.T, bucket, missing, env, section, nowhere string) {
	t.Helper()
	dir := t.TempDir()
	input, config := filepath.Join(dir, "urls.txt"), filepath.Join(dir, "c.yaml")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	say := func(want string, code int, args ...string) {
		t.Helper()
		cmd := process(t, args...)
		cmd.Env = append(os.Environ(), env)
		if said, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != code || !strings.Contains(string(said), want) {
			t.Errorf("%v: %v, want %q:\n%s", args, err, want, said)
		}
	}
	configure := func(at, section string) {
		t.Helper()
		write(config, fmt.Sprintf("source: {file: {paths: [%s]}}\non_error: dead_letter\nsink: {parquet: {path: %s/rows, dead_letters: %s/dead}, %s}\n",
			input, at, at, section))
	}
	configure(bucket, section)
	for i := range 3 { // a file each
		write(input, strings.Repeat("https://example.com/\nnot a url\n", 10*(i+1)))
		say("", exitOK, "run", config)
	}
	say("complete; 30 rows in 6 files of 3 commits", exitOK, "verify", bucket+"/rows")
	say(bucket+"/rows/", exitOK, "files", bucket+"/rows")
	say("complete; 30 rows", exitOK, "verify", "--against", config, bucket+"/rows")
	say("", exitOK, "compact", bucket+"/rows")
	say("complete; 30 rows", exitOK, "verify", bucket+"/rows")
	say("", exitOK, "dry-run", config)

	say("6 files with", exitOK, "compact", "--min-age", "0s", bucket+"/rows")
	say("complete; 30 rows", exitOK, "verify", bucket+"/rows")
	say("30 rows", exitOK, "convert", bucket+"/rows/*.parquet", bucket+"/other/a.arrow")
	say("is there; give --force to replace it", exitUsage, "convert", bucket+"/rows/*.parquet", bucket+"/other/a.arrow")
	say("30 rows", exitOK, "convert", bucket+"/other/a.arrow", bucket+"/other/a.ndjson", "--columns", "href,host")
	say("30 rows", exitOK, "convert", "--force", bucket+"/other/a.ndjson", bucket+"/other/a.ndjson", "--columns", "host,href")
	say("30 rows", exitOK, "convert", "--force", bucket+"/other/a.ndjson", bucket+"/other/a.parquet")
	say(`"host":"example.com"`, exitOK, "convert", bucket+"/other/a.parquet", "-", "--to", "ndjson")
	say("a.parquet", exitOK, "parquet", "check", bucket+"/**/a.parquet")
	say(`"rows":30`, exitOK, "parquet", "info", "--json", bucket+"/other/a.parquet")
	say("example.com", exitOK, "parquet", "head", "-n", "1", bucket+"/other/a.ndjson")
	say("https://example.com/", exitOK, "parquet", "lines", "--column", "href", bucket+"/other/*.parquet")
	say("does not exist", exitFailure, "parquet", "info", bucket+"/other/b.parquet")
	say("matches no object", exitFailure, "parquet", "info", bucket+"/other/b*")
	configure(missing, section)
	say("create it, or correct the path", exitFailure, "run", config)
	configure(bucket, nowhere)
	say("failed after 2 attempts; the server cannot be reached", exitFailure, "run", config)
}
