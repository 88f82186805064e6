package kafka

import (
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sinks/internal/kindtest"
	"github.com/urlmill/urlmill/sinks/ndjson"
)

func TestSection(t *testing.T) {
	o, err := kindtest.Parse(Kind, `{topic: t, brokers: ["a:1"], sasl: {mechanism: plain, username: u, password: p}, tls: {enabled: true}, format: avro, key: host,
		avro: {registry: {urls: [http://a]}, record: a.B, register: false}, dead_letters: {kafka: {topic: d, compression: none}}}`)
	if err != nil {
		t.Fatal(err)
	}
	want := &Options{Target: DefaultTarget(), Format: Avro, Key: "host"}
	want.Topic, want.Brokers, want.TLS.Enabled = "t", []string{"a:1"}, true
	want.SASL = kafkaconn.SASL{Mechanism: "plain", Username: "u", Password: "p"}
	avro, dead := DefaultAvro(), DefaultTarget()
	avro.Registry.URLs, avro.Record, avro.Register = []string{"http://a"}, "a.B", false
	dead.Topic, dead.Compression = "d", "none"
	want.Avro, want.DeadLetters = &avro, &dead
	if diff := cmp.Diff(want, o); diff != "" {
		t.Error(diff)
	}
	asks := sinks.Asks{
		Place:       "topic t",
		Topics:      []sinks.Topic{{Topic: "t", Brokers: []string{"a:1"}}, {Key: "dead_letters.kafka", Topic: "d"}},
		DeadLetters: sinks.DeadLetters{Key: "dead_letters", Given: true, Want: "the topic for the dead letters there, such as {kafka: {topic: clicks.dead}}"},
	}
	if diff := cmp.Diff(asks, o.Asks()); diff != "" {
		t.Error(diff)
	}
}

func TestProblems(t *testing.T) {
	for text, want := range map[string]string{
		`{topic: t, brokers: ["a:1"]}`:                                                         "",
		`{topic: t}`:                                                                           "",
		`{topic: t, dead_letters: {kafka: {topic: d}}}`:                                        "",
		`{topic: t, format: avro, avro: {registry: {urls: [http://a]}}}`:                       "",
		`{brokers: ["a:1"]}`:                                                                   `kafka.topic: kafka has no "topic"; add it, such as topic: clicks.parsed`,
		`{topic: t, dead_letters: {kafka: {}}}`:                                                `kafka.dead_letters.kafka.topic: kafka.dead_letters.kafka has no "topic"; add it, such as topic: clicks.parsed`,
		`{topic: t, dead_letters: folder}`:                                                     `kafka.dead_letters: dead_letters is a text; give a topic such as {kafka: {topic: clicks.dead}}`,
		`{topic: t, dead_letters: {kafka: {topic: t}}}`:                                        "kafka.dead_letters.kafka.topic: it is that of the rows; give dead letters another, as they look different",
		`{topic: t, dead_letters: {kafka: {topic: t, brokers: ["other:1"]}}}`:                  "",
		`{topic: t, tls: {enabled: true}}`:                                                     "kafka.tls: tls is given without brokers: both are those of source.kafka then; add brokers, or take tls out",
		`{topic: t, delivery: exactly_once}`:                                                   `kafka.delivery: delivery is the text "exactly_once"; give at_least_once, since what was produced cannot be taken back`,
		`{topic: t, format: arrow, key: a}`:                                                    "kafka.key: a record holds many rows with the format arrow, so there is no key for it; leave it out, or choose json or avro",
		`{topic: t, format: avro}`:                                                             "kafka.format: avro needs the schema registry; add avro: {registry: {urls: [http://localhost:8081]}}",
		`{topic: t, avro: {registry: {urls: [http://a]}}}`:                                     "kafka.avro: avro is given, but format is json; add format: avro, or take avro out",
		`{topic: t, format: avro, avro: {}}`:                                                   `kafka.avro.registry: kafka.avro has no "registry"; add it, such as registry: {urls: [http://localhost:8081]}`,
		`{topic: t, format: avro, avro: {registry: {urls: [a]}}}`:                              "kafka.avro.registry.urls[0]: give the URL of a registry, such as http://localhost:8081",
		`{topic: t, format: avro, avro: {registry: {urls: [http://a]}, subject: record_name}}`: "kafka.avro.record: with record_name the subject is called by the record; give it a name that says what rows are, such as org.example.Click",
	} {
		e := sinks.Env{Cluster: &kafkaconn.Cluster{Brokers: []string{"a:1"}}}
		if got := kindtest.Problems(Kind, text, e); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
	}
	if got := kindtest.Problems(Kind, "{topic: t}", sinks.Env{}); got != "kafka.brokers: empty; give at least one host:port" {
		t.Errorf("without a cluster: %s", got)
	}
}

// TestCluster: a topic without brokers is in the cluster of the source, with its TLS and SASL, and one with brokers is not.
func TestCluster(t *testing.T) {
	cluster := &kafkaconn.Cluster{Brokers: []string{"a:1"}, TLS: kafkaconn.TLS{Enabled: true}, SASL: kafkaconn.SASL{Mechanism: "plain"}}
	e := sinks.Env{Cluster: cluster, Log: slog.New(slog.DiscardHandler)}
	own := kafkaconn.Cluster{Brokers: []string{"b:1"}}
	check := func(what string, got Target, want kafkaconn.Cluster) {
		t.Helper()
		if diff := cmp.Diff(want, kafkaconn.Cluster{Brokers: got.Brokers, TLS: got.TLS, SASL: got.SASL}); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	o := &Options{Target: Target{Topic: "t"}, DeadLetters: &Target{Topic: "d", Brokers: own.Brokers}}
	c := o.With(e).(configured)
	check("rows", c.Target, *cluster)
	check("dead letters", *c.DeadLetters, own)
	check("the options", o.Target, kafkaconn.Cluster{})
	check("letters of files", Letters.New().(*letters).With(e).(letterBox).Target, *cluster)
	o.Brokers = own.Brokers
	check("rows with brokers", o.With(e).(configured).Target, own)
}

// TestLetters has a sink of files take them.
func TestLetters(t *testing.T) {
	kind := ndjson.Kind(&Letters)
	text := "{path: out, dead_letters: {kafka: {topic: d, brokers: ['a:1']}}}"
	o, err := kindtest.Parse(kind, text)
	if err != nil {
		t.Fatal(err)
	}
	if a := o.Asks(); len(a.Topics) != 1 || a.Topics[0].Key != "dead_letters.kafka" || a.Topics[0].Topic != "d" || !a.DeadLetters.Given {
		t.Errorf("%+v", a)
	}
	if s, err := o.With(sinks.Env{Log: slog.New(slog.DiscardHandler)}).Open(); err != nil || s == nil {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"{path: out, dead_letters: {kafka: {topic: d}}}":                   "ndjson.dead_letters.kafka.brokers: empty; give at least one host:port",
		"{path: out, dead_letters: {kafka: {topic: a b, brokers: [a:1]}}}": `ndjson.dead_letters.kafka.topic: "a b" is no topic name: those have 1 to 249 of a-z A-Z 0-9 . _ -`,
		"{path: out, dead_letters: {}}":                                    "ndjson.dead_letters: dead_letters is a mapping without kafka; give a folder such as /var/lib/urlmill/dead, or a topic such as {kafka: {topic: clicks.dead}}",
	} {
		if got := kindtest.Problems(kind, text, sinks.Env{}); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
	}
}
