package kafka

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestValidate(t *testing.T) {
	good := Options{Brokers: []string{"a:1", "[::1]:9092"}, Topics: []string{"t", "a.b_c-D9"}, Group: "g"}
	if err := good.Validate(); err != nil {
		t.Errorf("good options: %v", err)
	}
	noPEM := filepath.Join(t.TempDir(), "x.pem")
	if err := os.WriteFile(noPEM, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(o *Options)
		want   string
	}{
		"no brokers":        {func(o *Options) { o.Brokers = nil }, "brokers: empty"},
		"no port":           {func(o *Options) { o.Brokers = []string{"kafka"} }, `brokers[0]: "kafka" is not host:port; give host:port, such as kafka-1:9092`},
		"bad port":          {func(o *Options) { o.Brokers = []string{"kafka:70000"} }, `brokers[0]: "kafka:70000" has a port that is not a number from 1 to 65535`},
		"no host":           {func(o *Options) { o.Brokers = []string{":9092"} }, `brokers[0]: ":9092" is not host:port`},
		"no topics":         {func(o *Options) { o.Topics = nil }, "topics: empty"},
		"empty topic":       {func(o *Options) { o.Topics = []string{""} }, `topics: "" is no topic name`},
		"pattern":           {func(o *Options) { o.Topics = []string{"a*"} }, "patterns are not supported"},
		"topic twice":       {func(o *Options) { o.Topics = []string{"a", "a"} }, "twice"},
		"long topic":        {func(o *Options) { o.Topics = []string{strings.Repeat("a", 250)} }, "1 to 249"},
		"no group":          {func(o *Options) { o.Group = "" }, "group: empty"},
		"start":             {func(o *Options) { o.Start = "yesterday" }, `start: "yesterday" is not known; use committed, earliest, latest or a time`},
		"start too early":   {func(o *Options) { o.Start = "1969-12-31T00:00:00Z" }, "before 1970"},
		"TLS off":           {func(o *Options) { o.TLS.ServerName = "x" }, "tls.server_name: has no effect without enabled: true"},
		"key missing":       {func(o *Options) { o.TLS = TLS{Enabled: true, CertFile: noPEM} }, "tls.cert_file: needs key_file beside it"},
		"mechanism":         {func(o *Options) { o.SASL = SASL{Mechanism: "gssapi", Username: "u", Password: "p"} }, `sasl.mechanism: "gssapi" is not known`},
		"no mechanism":      {func(o *Options) { o.SASL = SASL{Mechanism: "", Username: "u", Password: "p"} }, "sasl.mechanism: empty"},
		"no username":       {func(o *Options) { o.SASL = SASL{Mechanism: MechanismPlain, Username: "", Password: "p"} }, "sasl.username: empty"},
		"no password":       {func(o *Options) { o.SASL = SASL{Mechanism: MechanismPlain, Username: "u", Password: ""} }, "sasl.password: empty"},
		"negative":          {func(o *Options) { o.SessionTimeout = -1 }, "session_timeout: -1ns is out of range"},
		"topics waited for": {func(o *Options) { o.TopicTimeout = -1 }, "topic_timeout: -1ns is out of range"},
		"rare heartbeats":   {func(o *Options) { o.HeartbeatInterval = 20 * time.Second }, "heartbeat_interval: 20s is more than a third"},
		"short rebalance":   {func(o *Options) { o.RebalanceTimeout = time.Second }, "rebalance_timeout: 1s is less than two heartbeats"},
		"long wait":         {func(o *Options) { o.MaxWait = time.Minute }, "max_wait: 1m0s"},
		"min bytes":         {func(o *Options) { o.MinBytes = 2 << 20 }, "min_bytes: 2MiB is more than max_bytes, 1MiB"},
		"negative bytes":    {func(o *Options) { o.MinBytes = -1 }, "min_bytes: -1 is negative"},
		"max bytes":         {func(o *Options) { o.MaxBytes = 1<<30 + 1 }, "max_bytes: 1073741825"},
		"fetch memory":      {func(o *Options) { o.FetchMemory = -1 }, "fetch_memory: -1 is negative"},
		"isolation":         {func(o *Options) { o.Isolation = "committed" }, `isolation: "committed" is not known; use one of read_committed, read_uncommitted`},
		"ahead":             {func(o *Options) { o.OnAhead = "ignore" }, `on_group_ahead: "ignore" is not known; use one of stop, rewind, skip`},
		"truncated":         {func(o *Options) { o.OnTruncated = PolicyRewind }, `on_truncated: "rewind" is not known; use one of stop, skip`},
		"recreated":         {func(o *Options) { o.OnRecreated = PolicySkip }, `on_recreated: "skip" is not known; use one of stop, restart`},
		"corrupt":           {func(o *Options) { o.OnCorrupt = PolicySkip }, `on_corrupt: "skip" is not known; use one of dead_letter, stop`},
		"max record bytes":  {func(o *Options) { o.MaxRecordBytes = -1 }, "max_record_bytes: -1"},
	} {
		t.Run(name, func(t *testing.T) {
			o := good
			test.change(&o)
			expectError(t, o.Validate(), test.want)
			if _, err := New(o, nil, nil); err == nil {
				t.Error("New took them")
			}
		})
	}
}

func TestValidateNamesEveryProblem(t *testing.T) {
	err := Options{TLS: TLS{ServerName: "x"}, SASL: SASL{Mechanism: "x"}, MaxBytes: -1}.Validate()
	expectError(t, err, "brokers:", "topics:", "group:", "tls.server_name:", "sasl.mechanism:", "max_bytes:")
}

func TestSecretsAreNotShown(t *testing.T) {
	o := Options{SASL: SASL{Mechanism: "x", Username: "u", Password: "s3cret"}}
	if text := fmt.Sprint(o.Validate()); strings.Contains(text, "s3cret") {
		t.Errorf("%s", text)
	}
}

func TestCertificatesThatCannotBeRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.pem")
	if err := os.WriteFile(file, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{Brokers: []string{"127.0.0.1:1"}, Topics: []string{"t"}, Group: "g"}
	for want, secure := range map[string]TLS{
		"tls.ca_file: " + strconv.Quote(file) + " holds no certificate": {Enabled: true, CAFile: file},
		"tls.ca_file: \"/nowhere/ca.pem\" cannot be read":               {Enabled: true, CAFile: "/nowhere/ca.pem"},
		"tls.cert_file: " + strconv.Quote(file) + " cannot be used":     {Enabled: true, CertFile: file, KeyFile: file},
	} {
		o.TLS = secure
		if err := o.Validate(); err != nil {
			t.Errorf("Validate has looked at files: %v", err)
		}
		_, err := New(o, nil, testLog(t))
		expectError(t, err, want)
	}
}
