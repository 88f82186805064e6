package kafka

import (
	"fmt"
	"os"
	"path/filepath"
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
		"no brokers":       {func(o *Options) { o.Brokers = nil }, "Brokers: empty"},
		"no port":          {func(o *Options) { o.Brokers = []string{"kafka"} }, `Brokers: "kafka" is not host:port`},
		"bad port":         {func(o *Options) { o.Brokers = []string{"kafka:70000"} }, "Brokers: \"kafka:70000\""},
		"no host":          {func(o *Options) { o.Brokers = []string{":9092"} }, "Brokers: \":9092\""},
		"no topics":        {func(o *Options) { o.Topics = nil }, "Topics: empty"},
		"empty topic":      {func(o *Options) { o.Topics = []string{""} }, `Topics: "" is no topic name`},
		"pattern":          {func(o *Options) { o.Topics = []string{"a*"} }, "patterns are not supported"},
		"topic twice":      {func(o *Options) { o.Topics = []string{"a", "a"} }, "twice"},
		"long topic":       {func(o *Options) { o.Topics = []string{strings.Repeat("a", 250)} }, "1 to 249"},
		"no group":         {func(o *Options) { o.Group = "" }, "Group: empty"},
		"start":            {func(o *Options) { o.Start = "yesterday" }, `Start: "yesterday"; want committed, earliest, latest or a time`},
		"start too early":  {func(o *Options) { o.Start = "1969-12-31T00:00:00Z" }, "before 1970"},
		"TLS off":          {func(o *Options) { o.TLS.ServerName = "x" }, "TLS.Enabled: false"},
		"CA missing":       {func(o *Options) { o.TLS = TLS{Enabled: true, CAFile: "/nowhere/ca.pem"} }, "TLS.CAFile: open /nowhere/ca.pem"},
		"key missing":      {func(o *Options) { o.TLS = TLS{Enabled: true, CertFile: noPEM} }, "TLS.CertFile: a certificate needs its key"},
		"mechanism":        {func(o *Options) { o.SASL = SASL{Mechanism: "gssapi", Username: "u", Password: "p"} }, `SASL.Mechanism: "gssapi" is unknown`},
		"no mechanism":     {func(o *Options) { o.SASL = SASL{Mechanism: "", Username: "u", Password: "p"} }, "SASL.Mechanism: empty"},
		"no username":      {func(o *Options) { o.SASL = SASL{Mechanism: MechanismPlain, Username: "", Password: "p"} }, "SASL.Username: empty"},
		"no password":      {func(o *Options) { o.SASL = SASL{Mechanism: MechanismPlain, Username: "u", Password: ""} }, "SASL.Password: empty"},
		"negative":         {func(o *Options) { o.SessionTimeout = -1 }, "SessionTimeout: -1ns is out of range"},
		"rare heartbeats":  {func(o *Options) { o.HeartbeatInterval = 20 * time.Second }, "HeartbeatInterval: 20s is more than a third"},
		"short rebalance":  {func(o *Options) { o.RebalanceTimeout = time.Second }, "RebalanceTimeout: 1s is less than two heartbeats"},
		"long wait":        {func(o *Options) { o.MaxWait = time.Minute }, "MaxWait: 1m0s"},
		"min bytes":        {func(o *Options) { o.MinBytes = 2 << 20 }, "MinBytes: 2097152 is more than MaxBytes"},
		"negative bytes":   {func(o *Options) { o.MinBytes = -1 }, "MinBytes: -1 is negative"},
		"max bytes":        {func(o *Options) { o.MaxBytes = 1<<30 + 1 }, "MaxBytes: 1073741825"},
		"fetch memory":     {func(o *Options) { o.FetchMemory = -1 }, "FetchMemory: -1 is negative"},
		"isolation":        {func(o *Options) { o.Isolation = "committed" }, `Isolation: "committed" is unknown; want one of read_committed, read_uncommitted`},
		"ahead":            {func(o *Options) { o.OnAhead = "ignore" }, `OnAhead: "ignore" is unknown; want one of stop, rewind, skip`},
		"truncated":        {func(o *Options) { o.OnTruncated = PolicyRewind }, `OnTruncated: "rewind" is unknown; want one of stop, skip`},
		"recreated":        {func(o *Options) { o.OnRecreated = PolicySkip }, `OnRecreated: "skip" is unknown; want one of stop, restart`},
		"corrupt":          {func(o *Options) { o.OnCorrupt = PolicySkip }, `OnCorrupt: "skip" is unknown; want one of stop, dead_letter`},
		"max record bytes": {func(o *Options) { o.MaxRecordBytes = -1 }, "MaxRecordBytes: -1"},
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
	expectError(t, err, "Brokers:", "Topics:", "Group:", "TLS.Enabled:", "SASL.Mechanism:", "MaxBytes:")
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
	o.TLS = TLS{Enabled: true, CAFile: file}
	fails(t, o, "TLS.CAFile: "+file+" holds no certificate")
	o.TLS = TLS{Enabled: true, CertFile: file, KeyFile: file}
	fails(t, o, "TLS.CertFile")
}
