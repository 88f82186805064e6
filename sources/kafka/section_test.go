package kafka

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources"
	"github.com/urlmill/urlmill/sources/codec"
)

var _ sources.Sampler = (*Options)(nil)

const required = "brokers: ['a:1']\ntopics: [t]\ngroup: g\n"

// configured returns the options of a section, which follows the keys that are required.
func configured(t *testing.T, text string) *Options {
	t.Helper()
	o := Kind.New().(*Options)
	if _, err := config.Parse("c.yaml", []byte(required+text), config.Env{}, o.Section()); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestDefaults: what a configuration leaves out is what the zero values stand for, but for the topics that are waited for.
func TestDefaults(t *testing.T) {
	o := configured(t, "")
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
	if o.TopicTimeout != 15*time.Second {
		t.Errorf("topic_timeout: %v", o.TopicTimeout)
	}
	want := Options{Brokers: o.Brokers, Topics: o.Topics, Group: o.Group, TopicTimeout: o.TopicTimeout}.withDefaults()
	if !reflect.DeepEqual(*o, want) {
		t.Errorf("%+v\nwant %+v", *o, want)
	}
}

func TestSection(t *testing.T) {
	got := configured(t, `
client_id: c
start: 2026-07-01T02:00:00+02:00
isolation: read_uncommitted
on_group_ahead: skip
on_truncated: skip
on_recreated: restart
on_corrupt: dead_letter
tls: {enabled: true, ca_file: ca.pem}
sasl: {mechanism: plain, username: u, password: p}
session_timeout: 12s
heartbeat_interval: 1s
rebalance_timeout: 20s
dial_timeout: 2s
max_wait: 3s
min_bytes: 2KiB
max_bytes: 4KiB
fetch_memory: 8MiB
max_record_bytes: 5KiB
connect_timeout: 6s
topic_timeout: 0s
`)
	want := &Options{
		Brokers: []string{"a:1"}, Topics: []string{"t"}, Group: "g", ClientID: "c", Start: "2026-07-01T00:00:00Z",
		Isolation: ReadUncommitted, OnAhead: PolicySkip, OnTruncated: PolicySkip, OnRecreated: PolicyRestart, OnCorrupt: PolicyDeadLetter,
		TLS: TLS{Enabled: true, CAFile: "ca.pem"}, SASL: SASL{Mechanism: MechanismPlain, Username: "u", Password: "p"},
		SessionTimeout: 12 * time.Second, HeartbeatInterval: time.Second, RebalanceTimeout: 20 * time.Second, DialTimeout: 2 * time.Second,
		MaxWait: 3 * time.Second, MinBytes: 2 << 10, MaxBytes: 4 << 10, FetchMemory: 8 << 20, MaxRecordBytes: 5 << 10, ConnectTimeout: 6 * time.Second,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
	asks := sources.Asks{
		Origin: sources.Topics, Topics: want.Topics, Cluster: &kafkaconn.Cluster{Brokers: want.Brokers, TLS: want.TLS, SASL: want.SASL},
		DeadLetters: "on_corrupt", Rebalance: 20 * time.Second, RebalanceKey: "rebalance_timeout", Fetches: true, Fetch: 8 << 20, LowerKey: "fetch_memory",
	}
	if got := got.Asks(); !reflect.DeepEqual(got, asks) {
		t.Errorf("%+v\nwant %+v", got, asks)
	}
	keys := map[string]bool{}
	for _, f := range got.Section().Fields {
		keys[f.Name] = true
	}
	if !keys[asks.RebalanceKey] || !keys[asks.DeadLetters] || !keys[asks.LowerKey] {
		t.Error("an option that is asked for has no key")
	}
}

// TestHeartbeatOfShortSession: the default adapts itself, and what is given does not.
func TestHeartbeatOfShortSession(t *testing.T) {
	o := configured(t, "session_timeout: 6s")
	if err := o.Validate(); err != nil || o.HeartbeatInterval != 2*time.Second {
		t.Errorf("%v, %v", o.HeartbeatInterval, err)
	}
	o = configured(t, "session_timeout: 6s\nheartbeat_interval: 3s")
	if all := pipeline.FieldErrors(o.Validate()); len(all) != 1 || all[0].Path != "heartbeat_interval" {
		t.Errorf("%v", all)
	}
}

func TestStart(t *testing.T) {
	for _, text := range []string{"earliest", "latest", "committed"} {
		if o := configured(t, "start: "+text); o.Start != text {
			t.Errorf("%s: %s", text, o.Start)
		}
	}
	o := Kind.New().(*Options)
	_, err := config.Parse("c.yaml", []byte(required+"start: earlyest"), config.Env{}, o.Section())
	want := `c.yaml:4:8: start is the text "earlyest"; give one of earliest, latest or committed, or a time such as 2026-07-01T00:00:00Z (did you mean "earliest"?)`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestProblemsHavePaths: what the section cannot say alone is about keys that it has.
func TestProblemsHavePaths(t *testing.T) {
	o := configured(t, "min_bytes: 2MiB\ntls: {ca_file: x}")
	o.Brokers = append(o.Brokers, "http://b:1")
	var paths []string
	for _, e := range pipeline.FieldErrors(o.Validate()) {
		paths = append(paths, e.Path)
	}
	if got := strings.Join(paths, " "); got != "brokers[1] tls.ca_file min_bytes" {
		t.Error(got)
	}
}

// TestOpen: a process says how much memory there is for fetches, also for samples.
func TestOpen(t *testing.T) {
	o := configured(t, "")
	env := sources.Env{Log: testLog(t), FetchMemory: 3 << 20}
	f := codec.NewLines(codec.LinesOptions{})
	source, err := o.Open(env, f)
	if err != nil {
		t.Fatal(err)
	}
	sample, err := o.OpenSample(env, f, 7)
	if err != nil {
		t.Fatal(err)
	}
	if got := source.(*Source).opts.FetchMemory; got != 3<<20 {
		t.Errorf("%d", got)
	}
	if s := sample.(*Sample); s.source.opts.FetchMemory != 3<<20 || s.last != 7 {
		t.Errorf("%d, the last %d", s.source.opts.FetchMemory, s.last)
	}
	if o.FetchMemory != 256<<20 {
		t.Error("the options have changed")
	}
}
