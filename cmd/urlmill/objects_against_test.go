//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/urlmill/urlmill/internal/dev/s3test"
	"github.com/urlmill/urlmill/sinks/commit/verify"
)

// An output in a bucket is compared with the bucket that it was read from: an object that it does not have, because it was not read or because
// the end of a chain is gone, is named, and so is one that has another content.
func TestObjectsAgainst(t *testing.T) {
	gateway := s3test.Start(t)
	gateway.Setenv(t)
	root := "s3://" + gateway.Bucket
	config, out := filepath.Join(t.TempDir(), "objects.yaml"), filepath.Join(gateway.Dir(), "_out")
	section := fmt.Sprintf("s3: {endpoint: %q, region: us-east-1}", gateway.Endpoint)
	text := fmt.Sprintf(objectsConfig, root, section, root+"/_out") + "  " + section + "\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	put := func(key string, i int) {
		upload(t, gateway.Server, map[string][]byte{key: numberedLines(i, 10)})
	}
	deliver := func() {
		t.Helper()
		if said, err := process(t, "run", config).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
	}
	against := func(args ...string) string {
		cmd := process(t, append([]string{"verify", root + "/_out", "--against", config}, args...)...)
		cmd.Env = append(os.Environ(), "AWS_ENDPOINT_URL_S3="+gateway.Endpoint)
		said, err := cmd.Output()
		if err != nil {
			t.Errorf("verify: %v\n%s", err, said)
		}
		return string(said)
	}
	hold := func(name string, want ...string) {
		t.Helper()
		var r verify.Report
		if err := json.Unmarshal([]byte(against("--json")), &r); err != nil || !r.OK || r.Against == nil {
			t.Fatalf("%s: %+v, %v", name, r, err)
		}
		var got []string
		for _, l := range r.Against.Lanes {
			for _, f := range l.Findings {
				got = append(got, fmt.Sprintf("%s: %s", f.Kind, f.Message))
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		said := against()
		for _, f := range want {
			if _, message, _ := strings.Cut(f, ": "); !strings.Contains(said, message) {
				t.Errorf("%s: %q is not said:\n%s", name, message, said)
			}
		}
	}
	unread := func(key string, i int) string {
		return fmt.Sprintf("unread: 1 object was not read yet, of %d bytes, such as %s/%s", len(numberedLines(i, 10)), root, key)
	}
	for i := range 20 {
		put(fmt.Sprintf("logs/%02d.log", i), i)
	}
	put("large/0", 20) // both paths have objects
	deliver()
	hold("whole")

	before := filesOfCommits(t, out)
	put("logs/late.log", 21)
	hold("an object more", unread("logs/late.log", 21))
	deliver()
	hold("whole again")
	removed := 0
	for record, files := range filesOfCommits(t, out) {
		if before[record] != nil {
			continue
		}
		for _, name := range append(files, record) { // of the late object
			key := strings.TrimPrefix(name, gateway.Dir()+"/")
			if _, err := clientOf(gateway.Server).DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &gateway.Bucket, Key: &key}); err != nil {
				t.Fatal(err)
			}
			removed++
		}
	}
	if removed != 2 {
		t.Errorf("%d files of the late object, with its record", removed)
	}
	hold("the end of a chain gone", unread("logs/late.log", 21))

	put("logs/07.log", 107)
	hold("another content", "no_source: 1 object was read, and not in the bucket now, or there with another content",
		unread("logs/late.log", 21), unread("logs/07.log", 107))
	deliver()
	hold("read as a new object", "no_source: 1 object was read, and not in the bucket now, or there with another content")
}

var recordName = regexp.MustCompile(`/\d{20}\.json$`)

// filesOfCommits returns the files of all records of an output by the paths of the records.
func filesOfCommits(t *testing.T, out string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	names, err := filepath.Glob(filepath.Join(out, "_commits", "*", "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !recordName.MatchString(name) {
			continue
		}
		var r struct{ Files []struct{ Name string } }
		text, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Files {
			all[name] = append(all[name], filepath.Join(out, f.Name))
		}
	}
	return all
}
