//go:build linux

package main

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/azuretest"
	"github.com/urlmill/urlmill/internal/dev/gcstest"
	"github.com/urlmill/urlmill/internal/dev/pubsubtest"
	"github.com/urlmill/urlmill/internal/dev/s3test"
	"github.com/urlmill/urlmill/internal/dev/sqstest"
	"github.com/urlmill/urlmill/sinks/store/azure"
	"github.com/urlmill/urlmill/sinks/store/gcs"
)

// notified is a bucket with a queue of notifications.
type notified struct {
	root, section string // %s is the queue
	upload        func(objects map[string][]byte)
	queue         func(name string) (queue string, notify func(key string), alien func())
	left          func(queue string) int // messages, those in hand among them; nil where nobody can tell
	remove        func(queue string)     // nil where the server cannot
	missing       string                 // what is said of a queue that is not there
}

// New objects are read as their messages come, also when the process is killed at any moment and messages come again: every record is there
// once. Messages that are not meant for the source stay in the queue, and one that is deleted does not end the process.
func TestObjectsNotified(t *testing.T) {
	gateway, sqs, pubsub := s3test.Start(t), sqstest.Start(t), pubsubtest.Start(t)
	gateway.Setenv(t)
	t.Setenv("PUBSUB_EMULATOR_HOST", pubsub.Host)
	t.Run("s3", func(t *testing.T) {
		t.Parallel() // most of the time messages that the dead had in hand are waited for
		testNotified(t, notified{
			root: "s3://" + gateway.Bucket, section: fmt.Sprintf("s3: {endpoint: %q, region: us-east-1, queue: %%q}", gateway.Endpoint),
			upload: func(objects map[string][]byte) { upload(t, gateway.Server, objects) },
			queue: func(name string) (string, func(string), func()) {
				queue := sqs.Queue(t, name)
				return queue, func(key string) {
					sqs.Send(t, queue, fmt.Sprintf(`{"Type":"Notification","Message":%q}`,
						fmt.Sprintf(`{"Records":[{"eventName":"ObjectCreated:Put","s3":{"bucket":{"name":%q},"object":{"key":%q}}}]}`, gateway.Bucket, url.QueryEscape(key))))
				}, func() { sqs.Send(t, queue, "not for us") }
			},
			left: func(queue string) int { return sqs.Messages(t, queue) }, remove: func(queue string) { sqs.Delete(t, queue) },
			missing: "there is no such queue in this region: create it, or correct source.file.s3.queue",
		})
	})
	t.Run("gcs", func(t *testing.T) {
		t.Parallel()
		server := gcstest.Start(t)
		root, o := "gs://"+server.Bucket, gcs.Default()
		o.Endpoint = server.Endpoint
		testNotified(t, notified{
			root: root, section: fmt.Sprintf("gcs: {endpoint: %q, subscription: %%q}", server.Endpoint), upload: create(t, gcs.Opener(o), root),
			queue: func(name string) (string, func(string), func()) {
				return pubsub.Subscription(t, name), func(key string) {
					pubsub.Publish(t, map[string]string{"eventType": "OBJECT_FINALIZE", "bucketId": server.Bucket, "objectId": key})
				}, func() { pubsub.Publish(t, map[string]string{"text": "not for us"}) }
			},
			remove: func(queue string) { pubsub.Delete(t, queue) }, missing: "there is no such subscription: create it, or correct source.file.gcs.subscription",
		})
	})
	t.Run("azure", func(t *testing.T) {
		t.Parallel()
		server := azuretest.Start(t)
		o := azure.Default()
		o.Endpoint = server.Endpoint
		testNotified(t, notified{
			root: server.Place, section: fmt.Sprintf("azure: {endpoint: %q, queue: %%q}", server.Endpoint), upload: create(t, azure.Opener(o), server.Place),
			queue: func(name string) (string, func(string), func()) {
				queue, send := server.Queue(t, name)
				return queue, func(key string) {
					send(base64.StdEncoding.EncodeToString(fmt.Appendf(nil,
						`{"eventType":"Microsoft.Storage.BlobCreated","subject":"/blobServices/default/containers/urlmill-test/blobs/%s"}`, key)))
				}, func() { send("not for us") }
			},
			missing: "there is no such queue: create it, or correct source.file.azure.queue",
		})
	})
}

func testNotified(t *testing.T, n notified) {
	t.Helper()
	want, keys := 0, []string(nil)
	put := func(name string, objects int) (added []string) {
		contents := map[string][]byte{}
		for i := range objects {
			key := fmt.Sprintf("logs/dt=2026-11-%02d/%s %03d+.log", i%20+1, name, i)
			contents[key] = numberedLines(i, 10)
			added, want = append(added, key), want+10
		}
		n.upload(contents)
		keys = append(keys, added...)
		return added
	}
	dir := t.TempDir()
	config, out := filepath.Join(dir, "objects.yaml"), filepath.Join(dir, "out")
	queue, notify, _ := n.queue("first")
	use := func(queue string) {
		text := fmt.Sprintf(objectsConfig, n.root, fmt.Sprintf(n.section, queue), out)
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("old", 60)
	use(queue)
	for round, name := range []string{"a", "b", "c"} {
		files := len(parquetIn(t, out))
		run := startRun(t, config)
		for _, key := range put(name, 20) {
			notify(key)
			if round == 1 {
				notify(key) // twice
			}
		}
		run.waitFor(t, "files", func() bool { return len(parquetIn(t, out)) > files+3*round })
		_ = run.end(syscall.SIGKILL)
		for _, key := range keys { // those that the dead process had in hand come again
			if round == 1 {
				notify(key)
			}
		}
	}
	rows := func() int {
		all := 0
		for _, count := range recordsIn(t, out) {
			all += count
		}
		return all
	}
	queue, notify, alien := n.queue("second")
	use(queue)
	run := startRun(t, config)
	alien()
	for _, key := range keys {
		notify(key)
	}
	run.waitFor(t, "all rows", func() bool { return rows() >= want })
	for _, key := range put("late", 5) { // found by their messages alone
		notify(key)
	}
	run.waitFor(t, "late rows", func() bool { return rows() >= want })
	if n.left != nil {
		run.waitFor(t, "the end of the messages", func() bool { return n.left(queue) == 1 })
	}
	if n.remove != nil {
		n.remove(queue)
		run.waitFor(t, "the warning", func() bool { return strings.Contains(run.log.String(), "cannot be read; trying again") })
	}
	if err := run.end(syscall.SIGTERM); err != nil {
		t.Errorf("%v\n%s", err, run.log)
	}
	counts := recordsIn(t, out)
	if len(counts) != want || rows() != want {
		t.Errorf("%d rows of %d records, want %d", rows(), len(counts), want)
	}
	if said, err := process(t, "verify", out).CombinedOutput(); err != nil || !strings.Contains(string(said), "complete") {
		t.Errorf("verify: %v\n%s", err, said)
	}
	if n.remove == nil {
		use(queue + "-nowhere")
	}
	if said, err := process(t, "run", config).CombinedOutput(); err == nil || !strings.Contains(string(said), n.missing) {
		t.Errorf("without a queue: %v\n%s", err, said)
	}
	if rows() != want {
		t.Errorf("%d rows, want %d", rows(), want)
	}
}
