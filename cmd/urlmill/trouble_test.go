//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/s3test"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// troubled is a urlmill that runs with an admin listener, from a broker of one partition, while a test makes trouble.
type troubled struct {
	t      *testing.T
	broker *kfake.Cluster
	config string
	port   int
	log    *testproc.Log
	run    *testproc.Process
}

// newTroubled starts a broker and writes a configuration. SINK is what stands below "sink".
func newTroubled(t *testing.T, sink, more string) *troubled {
	t.Helper()
	p := &troubled{t: t, broker: kafkatest.Fake(t), port: testproc.Ports(t, 1)[0]}
	client := kafkatest.Client(t, p.broker.ListenAddrs())
	kafkatest.CreateTopic(t, client, "clicks", 1)
	p.config = filepath.Join(t.TempDir(), "pipeline.yaml")
	text := fmt.Sprintf(`source:
  kafka: {brokers: [%q], topics: [clicks], group: g, start: earliest, session_timeout: 6s, heartbeat_interval: 1s}
  codec: {lines: {}}
columns: {include: [href, topic, partition, offset]}
sink: %s
admin: {listen: "127.0.0.1:%d", stuck_after: 1s%s}
`, p.broker.ListenAddrs()[0], sink, p.port, more)
	if err := os.WriteFile(p.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// produce adds records to the partition, from number first on.
func (p *troubled) produce(first, end int) {
	p.t.Helper()
	kafkatest.Produce(p.t, kafkatest.Client(p.t, p.broker.ListenAddrs()), numbered("clicks", 1, first, end))
}

// start starts the process, by its name.
func (p *troubled) start(name string, env ...string) {
	p.t.Helper()
	cmd := exec.Command(name, "run", p.config)
	cmd.Env = append(os.Environ(), env...)
	p.log = new(testproc.Log)
	cmd.Stderr = p.log
	run, err := testproc.Start(cmd)
	if err != nil {
		p.t.Fatal(err)
	}
	p.run = run
	p.t.Cleanup(run.Kill)
}

// end asks the process to end and returns its exit code.
func (p *troubled) end() int {
	p.t.Helper()
	p.run.Signal(syscall.SIGTERM)
	return p.run.Code()
}

// until waits for a page to say text.
func (p *troubled) until(name, text string) {
	p.t.Helper()
	p.await(func() error {
		if got := page(p.t, p.port, name); !strings.Contains(got, text) {
			return fmt.Errorf("/%s does not say %q but\n%s", name, text, got)
		}
		return nil
	})
}

// await waits for reached to return nil, as long as the process runs.
func (p *troubled) await(reached func() error) {
	p.t.Helper()
	if err := p.run.Await(5*time.Minute, reached); err != nil {
		p.t.Fatalf("%v\nlog:\n%s", err, p.log)
	}
}

// shows checks that a problem is seen everywhere: by the probe, in the metrics, and on the page with advice. The texts of
// logged are in the log, and on the page among its messages.
func (p *troubled) shows(code, detail string, logged ...string) {
	p.t.Helper()
	p.until("readyz", code+": ")
	p.until("readyz", detail)
	p.until("metrics", fmt.Sprintf("urlmill_problem{code=%q} 1", code))
	p.until("metrics", "urlmill_ready 0\n")
	if got := page(p.t, p.port, "livez"); got != "ok\n" {
		p.t.Errorf("livez: %s", got)
	}
	for _, want := range logged {
		eventually(p.t, p.log, func() bool { return strings.Contains(p.log.String(), want) })
		p.until("api/status", want)
	}
	p.await(func() error {
		var status struct {
			Problems []struct{ Code, Detail, Advice string }
		}
		if err := json.Unmarshal([]byte(page(p.t, p.port, "api/status")), &status); err != nil {
			return err
		}
		for _, q := range status.Problems {
			if q.Code == code && strings.Contains(q.Detail, detail) && q.Advice != "" {
				return nil
			}
		}
		return fmt.Errorf("the page has no problem %s with %q and advice: %+v", code, detail, status.Problems)
	})
}

// delivered ends the process, and proves that its output is complete and has every record once.
func (p *troubled) delivered(out string, records int) {
	p.t.Helper()
	p.until("api/status", fmt.Sprintf(`"committed":%d,`, records))
	if code := p.end(); code != exitOK {
		p.t.Errorf("exit code %d:\n%s", code, p.log)
	}
	if lost, twice := checkDelivered(p.t, out, 1, records); lost > 0 || twice > 0 {
		p.t.Errorf("%d rows are lost, %d are there twice", lost, twice)
	}
}

// finished waits for the group to have committed that it has read so many records.
func (p *troubled) finished(records int) {
	p.t.Helper()
	client := kafkatest.Client(p.t, p.broker.ListenAddrs())
	p.await(func() error {
		if got := kafkatest.Committed(p.t, client, "g", "clicks", 0); got < int64(records) {
			return fmt.Errorf("%d of %d records are committed", got, records)
		}
		return nil
	})
}

// TestStuckLane has an S3 server that does not answer any more: the lane is stuck, which shows, and goes on when it does.
func TestStuckLane(t *testing.T) {
	server := s3test.Fake(t)
	server.Setenv(t)
	var silent atomic.Bool
	answers := make(chan struct{})
	gate := behind(t, server.Endpoint, func(w http.ResponseWriter, r *http.Request) bool {
		if silent.Load() {
			select {
			case <-answers:
			case <-r.Context().Done():
				return true
			}
		}
		return false
	})
	p := newTroubled(t, fmt.Sprintf(`{parquet: {path: "s3://%s/out"}, roll: {every: 200ms}, s3: {endpoint: %q, region: us-east-1}}`, server.Bucket, gate), "")
	p.produce(0, 1000)
	p.start("urlmill")
	p.until("api/status", `"committed":1000,`)
	silent.Store(true)
	p.produce(1000, 2000)
	p.shows("stuck", "clicks/0: a row behind position 1000 is uncommitted for ", "a lane is stuck", "lane=clicks/0 age=", "look at its disk or server")
	p.until("metrics", "urlmill_stuck_lanes 1\n")
	silent.Store(false)
	close(answers)
	p.until("readyz", "ok\n")
	p.until("metrics", "urlmill_ready 1\n")
	p.until("api/status", `"committed":2000,`)
	eventually(t, p.log, func() bool { return strings.Contains(p.log.String(), `msg="a lane moves again" lane=clicks/0`) })
	if code := p.end(); code != exitOK {
		t.Errorf("exit code %d:\n%s", code, p.log)
	}
}

// behind starts a server that hands on what first does not answer, and returns its URL.
func behind(t *testing.T, target string, first func(http.ResponseWriter, *http.Request) bool) string {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(u)
		r.Out.Host = r.In.Host // it is signed
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !first(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestStandingLane has a broker that says that there are records and hands out none.
func TestStandingLane(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	p := newTroubled(t, fmt.Sprintf(`{parquet: {path: %q}, roll: {every: 200ms}}`, out), "")
	var withholds atomic.Bool
	var end, withheld atomic.Int64
	end.Store(1000)
	p.broker.ControlKey(int16(kmsg.Fetch), func(r kmsg.Request) (kmsg.Response, error, bool) {
		p.broker.KeepControl()
		request, ok := r.(*kmsg.FetchRequest)
		if !ok || !withholds.Load() {
			return nil, nil, false
		}
		withheld.Add(1)
		time.Sleep(20 * time.Millisecond) // it is asked again at once
		answer := request.ResponseKind().(*kmsg.FetchResponse)
		for _, topic := range request.Topics {
			a := kmsg.NewFetchResponseTopic()
			a.Topic, a.TopicID = topic.Topic, topic.TopicID
			for _, partition := range topic.Partitions {
				b := kmsg.NewFetchResponseTopicPartition()
				b.Partition, b.HighWatermark, b.LastStableOffset, b.LogStartOffset = partition.Partition, end.Load(), end.Load(), 0
				a.Partitions = append(a.Partitions, b)
			}
			answer.Topics = append(answer.Topics, a)
		}
		return answer, nil, true
	})
	p.produce(0, 1000)
	p.start("urlmill")
	p.until("api/status", `"committed":1000,`)
	withholds.Store(true)
	eventually(t, p.log, func() bool { return withheld.Load() > 0 }) // the request before is over
	p.produce(1000, 2000)
	end.Store(2000)
	p.shows("stuck", "clicks/0: nothing was read behind position 1000 for ", "a lane is stuck", "lane=clicks/0 age=", "look at the leader of the partition")
	p.until("metrics", "urlmill_stuck_lanes 1\n")
	withholds.Store(false)
	p.until("readyz", "ok\n")
	p.delivered(out, 2000)
}

// refuseExpired refuses a request to S3 whose session's token is not valid, and reports whether it has.
func refuseExpired(w http.ResponseWriter, r *http.Request, valid string) bool {
	if r.Header.Get("X-Amz-Security-Token") == valid {
		return false
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write([]byte("<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"))
	return true
}

// TestExpiredCredentials has an S3 server to which a session's token is not good any more from a moment on. That shows; once
// somebody has written fresh ones to the file, the process goes on by itself. When nobody does, it stops, and nothing is lost.
func TestExpiredCredentials(t *testing.T) {
	gateway := s3test.Fake(t)
	gateway.Setenv(t)
	var valid atomic.Value // token
	valid.Store("token-1")
	gate := behind(t, gateway.Endpoint, func(w http.ResponseWriter, r *http.Request) bool { return refuseExpired(w, r, valid.Load().(string)) })
	dir := t.TempDir()
	renew := func(token string) {
		t.Helper()
		writeFile(t, dir, "credentials", "[default]\naws_access_key_id = key\naws_secret_access_key = a-secret\naws_session_token = "+token+"\n")
	}
	renew("token-1")
	sink := `{parquet: {path: "s3://%s/out"}, roll: {every: 200ms}, s3: {endpoint: %q, region: us-east-1, attempts: %d}}`
	env := []string{"AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY=", "AWS_SESSION_TOKEN=", "AWS_SHARED_CREDENTIALS_FILE=" + filepath.Join(dir, "credentials")}

	p := newTroubled(t, fmt.Sprintf(sink, gateway.Bucket, gate, 20), "")
	p.produce(0, 1000)
	p.start("urlmill", env...)
	p.until("api/status", `"committed":1000,`)
	valid.Store("token-2")
	p.produce(1000, 2000)
	p.shows("sink", "ExpiredToken", "the credentials for S3 have expired and are looked up anew for every attempt: renew them", "problem=sink")
	p.until("metrics", "urlmill_sink_retries_total ")
	renew("token-2")
	p.until("api/status", `"committed":2000,`)
	p.until("readyz", "ok\n")
	p.until("metrics", "urlmill_sink_failing_seconds 0\n")
	eventually(t, p.log, func() bool { return strings.Contains(p.log.String(), "no request to S3 is failing any more") })
	if code := p.end(); code != exitOK {
		t.Errorf("exit code %d:\n%s", code, p.log)
	}

	text, err := os.ReadFile(p.config)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.NewReplacer("attempts: 20", "attempts: 2", "stuck_after: 1s", "stuck_after: 1s, linger: 1h").Replace(string(text))
	if err := os.WriteFile(p.config, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	p.start("urlmill", env...)
	p.until("api/status", `"lanes":[{`) // the sink is past its start, when it asks for the bucket
	p.until("readyz", "ok\n")
	valid.Store("token-3")
	p.produce(2000, 3000)
	p.shows("failed", "failed after 2 attempts; the credentials have expired: renew them where they come from", "failed; the admin listener stays for a while")
	if code := p.end(); code != exitFailure {
		t.Errorf("exit code %d:\n%s", code, p.log)
	}
	if strings.Contains(p.log.String(), "a-secret") || strings.Contains(p.log.String(), "token-2") {
		t.Errorf("a secret is in the log:\n%s", p.log)
	}
	renew("token-3")
	p.start("urlmill", env...)
	p.until("api/status", `"committed":1000,`)
	if code := p.end(); code != exitOK {
		t.Errorf("exit code %d:\n%s", code, p.log)
	}
	verify := process(t, "verify", "s3://"+gateway.Bucket+"/out")
	verify.Env = append(append(os.Environ(), env...), "AWS_ENDPOINT_URL_S3="+gate)
	if report, err := verify.CombinedOutput(); err != nil || !strings.Contains(string(report), "complete; 3,000 rows") {
		t.Errorf("verify: %v\n%s", err, report)
	}
}

// TestFullFileSystem has a file system of its own, which is full but for a little. It takes root.
func TestFullFileSystem(t *testing.T) {
	const size, left = 8 << 20, 64 << 10
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprint("size=", size)); err != nil {
		t.Skipf("no file system of its own, which takes root: %v; TestFullByErrors does the same with errors", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, size-left), 0o600); err != nil {
		t.Fatal(err)
	}
	full(t, filepath.Join(dir, "out"), "urlmill", "", func() error { return os.Remove(ballast) })
}

// TestFullByErrors has the calls to the file system fail from one of them on, as those to a full one do.
func TestFullByErrors(t *testing.T) {
	full(t, filepath.Join(t.TempDir(), "out"), "urlmill-faulty", faultEnv+"=ENOSPC,40,1000000", func() error { return nil })
}

// full runs a process whose output has no room. It stops, as docs/troubleshooting.md says, which shows for as long as it
// lingers; once there is room, the next one goes on, and nothing is lost or there twice.
func full(t *testing.T, out, name, env string, makeRoom func() error) {
	t.Helper()
	p := newTroubled(t, fmt.Sprintf(`{parquet: {path: %q, compression: none}, roll: {rows: 5000, every: 500ms}}`, out), ", linger: 1h")
	const records = 100_000
	p.produce(0, records)
	p.start(name, env)
	p.shows("failed", "no space left on device", "failed; the admin listener stays for a while")
	if page(t, p.port, "api/status") == "" {
		t.Error("the status page is gone")
	}
	if code := p.end(); code != exitFailure { // a signal ends the lingering
		t.Errorf("exit code %d:\n%s", code, p.log)
	}
	if text := p.log.String(); !strings.Contains(text, "free some space or give another path") && !strings.Contains(text, "free some, or give another path") {
		t.Errorf("the log does not say what to do:\n%s", text)
	}
	if err := makeRoom(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files before", len(parquetIn(t, out)))
	p.start("urlmill")
	p.finished(records)
	if code := p.end(); code != exitOK {
		t.Errorf("exit code %d:\n%s", code, p.log)
	}
	if lost, twice := checkDelivered(t, out, 1, records); lost > 0 || twice > 0 {
		t.Errorf("%d rows are lost, %d are there twice", lost, twice)
	}
	if report, err := process(t, "verify", out).CombinedOutput(); err != nil {
		t.Errorf("verify: %v\n%s", err, report)
	}
}

// TestLinger checks that a process that has failed shows it until its time is over, and then ends by itself. That time gets
// longer until the test has come to look.
func TestLinger(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "urls.txt")
	writeFile(t, dir, "urls.txt", "http://a b/\n")
	seen := false
	for linger := 2 * time.Second; !seen; linger *= 4 {
		if linger > 3*time.Minute {
			t.Fatal("the listener was never seen after the failure")
		}
		port := testproc.Ports(t, 1)[0]
		writeFile(t, dir, "pipeline.yaml", fmt.Sprintf("source: {file: {paths: [%q]}}\non_error: fail\nsink: {ndjson: {path: %q}}\nadmin: {listen: \"127.0.0.1:%d\", linger: %v}\n",
			file, filepath.Join(dir, "out"), port, linger))
		begin := time.Now()
		run := startRun(t, filepath.Join(dir, "pipeline.yaml"))
		err := run.Await(linger+5*time.Minute, func() error {
			if text := page(t, port, "readyz"); !strings.HasPrefix(text, "failed: ") || !strings.Contains(text, "domain-to-ASCII") {
				return fmt.Errorf("readyz says %q", text)
			}
			return nil
		})
		seen = err == nil
		if !run.Within(linger + 5*time.Minute) {
			t.Fatalf("it does not end after %v (%v):\n%s", linger, err, run.log)
		}
		if took := time.Since(begin); run.Code() == exitOK || took < linger {
			t.Fatalf("exit code %d after %v, %v:\n%s", run.Code(), took, err, run.log)
		}
	}
}
