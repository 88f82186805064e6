package wire

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sources"
	"github.com/urlmill/urlmill/sources/file"
)

// source and sink return what the chosen components ask of the rest, and the path that their keys are below.
func (c *Config) source() (asks sources.Asks, path string) {
	if c.Source.Options != nil {
		asks = c.Source.Options.Asks()
	}
	return asks, "source." + c.Source.Name
}

func (c *Config) sink() (asks sinks.Asks, path string) {
	if c.Sink.Options != nil {
		asks = c.Sink.Options.Asks()
	}
	return asks, "sink." + c.Sink.Name
}

// check reports conflicts between sections.
func (c *Config) check(d *config.Check) {
	in, source := c.source()
	out, sink := c.sink()
	c.checkDeadLetters(d, out.DeadLetters, sink)
	if at := config.Join(source, in.DeadLetters); in.DeadLetters != "" && d.Given(at) && c.OnError != pipeline.ToDeadLetters {
		d.Conflict(at, []string{at, onError}, "%s is dead_letter, but on_error is not: it says where rows with errors go; give on_error: dead_letter as well", at)
	}
	if drain := "pipeline.drain_timeout"; in.Rebalance > 0 && c.Pipeline.DrainTimeout >= in.Rebalance {
		rebalance := config.Join(source, in.RebalanceKey)
		d.Conflict(either(d, drain, rebalance), []string{rebalance, drain},
			"%s (%s) has to be shorter than %s (%s), or a rebalance takes partitions away before their rows are committed",
			drain, c.Pipeline.DrainTimeout, rebalance, in.Rebalance)
	}
	if a, every := c.Admin, c.Pipeline.Roll.Every; a != nil && every > 0 && a.StuckAfter <= every {
		stuck, roll := "admin.stuck_after", "sink.roll.every"
		d.Conflict(either(d, stuck, roll), []string{stuck, roll},
			"%s (%s) has to be longer than %s (%s): a row may wait that long for its commit with nothing wrong", stuck, a.StuckAfter, roll, every)
	}
	for _, t := range out.Topics {
		checkTopic(d, in, config.Join(sink, t.Key), t)
	}
	if key, i, ok := c.ReadsOutput(); ok {
		paths := config.Join(source, "paths")
		d.Conflict(key, []string{paths}, "%s is in item %d of %s: what is written there would be read by the next run; give a folder beside it",
			key[strings.LastIndexByte(key, '.')+1:], i+1, paths)
	}
	if c.Dedupe != nil && c.Columns.Canonical == nil {
		d.Conflict("dedupe", []string{"columns", "columns.canonical"},
			"dedupe compares canonical URLs, and there are none; add columns: {canonical: {form: dedupe}}")
	}
}

const onError = "on_error"

// either returns the first of two keys, unless the file has the second alone.
func either(d *config.Check, first, second string) string {
	if d.Given(first) {
		return first
	}
	return second
}

// checkDeadLetters reports dead letters without a place, and a place without dead letters.
func (c *Config) checkDeadLetters(d *config.Check, dead sinks.DeadLetters, sink string) {
	at, key := config.Join(sink, dead.Key), onError
	wanted := c.OnError == pipeline.ToDeadLetters
	if !wanted && c.OnFieldError == pipeline.FieldToDeadLetters {
		key, wanted = "on_field_error", true
	}
	switch {
	case wanted && dead.Never != "":
		d.Conflict(key, []string{"sink"}, "%s is dead_letter, but %s; give %s: keep, or another sink", key, dead.Never, key)
	case dead.Key == "":
	case wanted && !dead.Given:
		d.Conflict(key, []string{"sink", at}, "%s is dead_letter, but %s is not set; name %s", key, at, dead.Want)
	case !wanted && dead.Given:
		d.Conflict(at, []string{onError, "on_field_error"}, "%s is set, but no row goes there; give on_error: dead_letter, or take it out", at)
	}
}

// checkTopic reports a topic whose brokers are not known, and one that would be read again. path is that of its section.
func checkTopic(d *config.Check, in sources.Asks, path string, t sinks.Topic) {
	brokers, topic := config.Join(path, "brokers"), config.Join(path, "topic")
	if !d.Given(brokers) {
		if in.Cluster == nil {
			d.Conflict(path, []string{"source", brokers}, "%s has no brokers, and there is no source.kafka to take them from; add brokers: [localhost:9092]", path)
		}
		for _, name := range []string{"tls", "sasl"} {
			if at := config.Join(path, name); d.Given(at) {
				d.Conflict(at, []string{brokers}, "%s is given without brokers: both are those of source.kafka then; add brokers, or take %s out", name, name)
			}
		}
	}
	if in.Cluster != nil && slices.Contains(in.Topics, t.Topic) && kafkaconn.SameCluster(t.Brokers, in.Cluster.Addresses()) {
		d.Conflict(topic, []string{"source.kafka.topics", brokers}, "topic is one that source.kafka reads: what is written there would be read again; give another")
	}
}

// checkCodec reports a codec that cannot read the records of the source.
func (c *Config) checkCodec(d *config.Check) {
	for _, k := range c.components.Codecs {
		if k.Name == c.Codec.Name && k.Only != "" && c.Source.Name != "" && c.Source.Name != k.Only {
			d.Conflict(config.Join("codec", k.Name), []string{k.Only}, "%s %s", k.Name, k.Why)
		}
	}
	records, ok := c.Source.Options.(sources.Records)
	if !ok || c.Codec.Name == "" {
		return
	}
	if reason := records.CheckCodec(c.Codec.Name); reason != "" {
		at := config.Join("codec", c.Codec.Name)
		d.Conflict(at, []string{config.Join(c.Source.Name, "format")}, "%s", reason)
	}
}

// checkBuckets reports settings for a service when no folder is there.
func (c *Config) checkBuckets(d *config.Check) {
	for _, k := range stores {
		if d.Given(k.name) && len(c.foldersAt(k)) == 0 {
			d.Conflict(k.name, nil, "%s has no effect, as no folder of the sink is on %s; give path: %s, or take it out", d.Path(k.name), k.what, k.form)
		}
	}
}

// foldersAt returns the keys of the folders that are places of a service.
func (c *Config) foldersAt(k storeKind) (keys []string) {
	asks, path := c.sink()
	for _, f := range asks.Folders {
		if store.Scheme(f.Path) == k.scheme {
			keys = append(keys, config.Join(path, f.Key))
		}
	}
	return keys
}

// ReadsOutput looks for a folder that c writes to and that lies in one of those that it reads, so that the next run would read
// what this one has written. It returns the key that names it and the number of the path that is read; ok is false when there is
// none.
func (c *Config) ReadsOutput() (key string, path int, ok bool) {
	in, _ := c.source()
	out, sink := c.sink()
	for _, f := range out.Folders {
		for i, read := range in.Paths {
			if read != "-" && IsRead(read, f.Path) {
				return config.Join(sink, f.Key), i, true
			}
		}
	}
	return "", 0, false
}

// IsRead reports whether files of the folder output are read with the directory read: names that begin with a dot or an
// underscore are left out of it.
func IsRead(read, output string) bool {
	if strings.Contains(output, "://") {
		return file.Holds(read, output)
	}
	read, errRead := filepath.Abs(read)
	output, errOutput := filepath.Abs(output)
	if errRead != nil || errOutput != nil {
		return false
	}
	rel, err := filepath.Rel(read, output)
	if err != nil {
		return false
	}
	for name := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if rel != "." && (name[0] == '.' || name[0] == '_') { // also of "..", which leads out
			return false
		}
	}
	return true
}
