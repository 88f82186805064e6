package settings

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/urlcore/canon"
)

// checkRoot reports conflicts between sections.
func checkRoot(d *config.Check, c *Config) {
	const policy = "on_error"
	at, dead := deadLetters(c)
	switch {
	case c.OnError == pipeline.ToDeadLetters && c.Sink.ClickHouse != nil:
		d.Conflict(policy, []string{"sink"}, "on_error is dead_letter, but ClickHouse cannot load two tables at once; give on_error: keep, or another sink")
	case at == "":
	case c.OnError == pipeline.ToDeadLetters && dead == (place{}) && c.Sink.Kafka != nil:
		d.Conflict(policy, []string{"sink", at}, "on_error is dead_letter, but %s is not set; name the topic for the dead letters there, such as %s", at, topicExample)
	case c.OnError == pipeline.ToDeadLetters && dead == (place{}) && c.Sink.load() != nil:
		d.Conflict(policy, []string{"sink", at}, "on_error is dead_letter, but %s is not set; name the table for the dead letters there", at)
	case c.OnError == pipeline.ToDeadLetters && dead == (place{}):
		d.Conflict(policy, []string{"sink", at}, "on_error is dead_letter, but %s is not set; name the folder for the dead letters there", at)
	case c.OnError != pipeline.ToDeadLetters && dead != (place{}):
		d.Conflict(at, []string{policy}, "%s is set, but no row goes there; give on_error: dead_letter, or take it out", at)
	}
	if k := c.Source.Kafka; k != nil && k.OnCorrupt == "dead_letter" && c.OnError != pipeline.ToDeadLetters {
		corrupt := "source.kafka.on_corrupt"
		d.Conflict(corrupt, []string{corrupt, policy}, "%s is dead_letter, but on_error is not: it says where rows with errors go; give on_error: dead_letter as well", corrupt)
	}
	if k := c.Source.Kafka; k != nil && c.Pipeline.DrainTimeout >= k.RebalanceTimeout {
		rebalance, drain := "source.kafka.rebalance_timeout", "pipeline.drain_timeout"
		place := drain
		if !d.Given(drain) {
			place = rebalance
		}
		d.Conflict(place, []string{rebalance, drain},
			"%s (%s) has to be shorter than %s (%s), or a rebalance takes partitions away before their rows are committed",
			drain, c.Pipeline.DrainTimeout, rebalance, k.RebalanceTimeout)
	}
	if a, every := c.Admin, c.Sink.Roll.Every; a != nil && every > 0 && a.StuckAfter <= every {
		stuck, roll := "admin.stuck_after", "sink.roll.every"
		place := stuck
		if !d.Given(stuck) {
			place = roll
		}
		d.Conflict(place, []string{stuck, roll},
			"%s (%s) has to be longer than %s (%s): a row may wait that long for its commit with nothing wrong",
			stuck, a.StuckAfter, roll, every)
	}
	checkTargets(d, c)
	checkOverlap(d, c)
	checkDedupe(d, c)
}

// place is where dead letters go; zero where that is not given.
type place struct {
	folder string
	topic  *KafkaTopic
}

// deadLetters returns the path of the setting for dead letters in the sink that is given, and its value.
func deadLetters(c *Config) (path string, p place) {
	switch s := c.Sink; {
	case s.Parquet != nil:
		return "sink.parquet.dead_letters", place{s.Parquet.DeadLetters, s.Parquet.DeadLetterTopic}
	case s.ArrowIPC != nil:
		return "sink.arrowipc.dead_letters", place{s.ArrowIPC.DeadLetters, s.ArrowIPC.DeadLetterTopic}
	case s.NDJSON != nil:
		return "sink.ndjson.dead_letters", place{s.NDJSON.DeadLetters, s.NDJSON.DeadLetterTopic}
	case s.Kafka != nil:
		return "sink.kafka.dead_letters", place{topic: s.Kafka.DeadLetterTopic}
	case s.DuckDB != nil:
		return "sink.duckdb.dead_letters", place{folder: s.DuckDB.DeadLetters}
	case s.Postgres != nil:
		return "sink.postgres.dead_letters", place{folder: s.Postgres.DeadLetters}
	}
	return "", place{}
}

func checkKafka(d *config.Check, k *Kafka) {
	checkBrokers(d, k.Brokers)
	session, heartbeat := "session_timeout", "heartbeat_interval"
	if !d.Given(heartbeat) {
		k.HeartbeatInterval = min(k.HeartbeatInterval, k.SessionTimeout/3)
	}
	if k.HeartbeatInterval*3 > k.SessionTimeout {
		d.Conflict(heartbeat, []string{session, heartbeat},
			"heartbeat_interval (%s) is more than a third of session_timeout (%s); give at most a third, so that one may be lost", k.HeartbeatInterval, k.SessionTimeout)
	}
	low, high := "min_bytes", "max_bytes"
	if k.MinBytes > k.MaxBytes {
		place := low
		if !d.Given(low) {
			place = high
		}
		d.Conflict(place, []string{low, high}, "min_bytes (%s) is more than max_bytes (%s)", config.FormatSize(int64(k.MinBytes)), config.FormatSize(int64(k.MaxBytes)))
	}
}

// checkGenerate reports a codec that cannot read what the generator makes.
func checkGenerate(d *config.Check, s *Source) {
	if s.Generate == nil {
		return
	}
	codec, other := "lines", "ndjson"
	wrong := s.Codec.Lines != nil && s.Generate.Format == other
	if s.Codec.NDJSON != nil && s.Generate.Format == codec {
		codec, other, wrong = other, codec, true
	}
	if wrong {
		at := config.Join("codec", codec)
		d.Conflict(at, []string{"generate.format"},
			"the codec is %s, but source.generate.format is %s; take the codec out, or make them the same", codec, other)
	}
}

// brokerProblem says what is wrong with a broker's address, without printing it: it may come from a variable.
func brokerProblem(s string) string {
	if strings.Contains(s, "://") {
		return "has a scheme"
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil || host == "" || port == "" {
		return "is not host:port"
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "has a port that is not a number from 1 to 65535"
	}
	return ""
}

func checkTLS(d *config.Check, t *TLS) {
	certificate, key := "cert_file", "key_file"
	switch {
	case t.CertFile != "" && t.KeyFile == "":
		d.Conflict(certificate, []string{key}, "cert_file needs key_file beside it")
	case t.KeyFile != "" && t.CertFile == "":
		d.Conflict(key, []string{certificate}, "key_file needs cert_file beside it")
	}
	if t.Enabled {
		return
	}
	for _, name := range []string{"ca_file", "cert_file", "key_file", "server_name", "insecure_skip_verify"} {
		if at := name; d.Given(at) {
			d.Conflict(at, []string{"enabled"}, "%s has no effect without enabled: true", name)
			return
		}
	}
}

func checkCarry(d *config.Check, carry []Carry) {
	first := map[string]int{}
	for i, c := range carry {
		at := fmt.Sprintf("carry[%d].name", i)
		if c.Name == "" {
			continue
		}
		if j, ok := first[c.Name]; ok {
			d.Conflict(at, nil, "name %q is that of item %d already; every carried field needs a name of its own", c.Name, j+1)
			continue
		}
		first[c.Name] = i
	}
}

// levels are the compression levels of the codecs that have any.
var levels = map[string]int{"gzip": 9, "zstd": 22}

func checkParquet(d *config.Check, p *Parquet) {
	level, codec := "compression_level", "compression"
	if d.Given(level) {
		switch most, ok := levels[p.Compression]; {
		case !ok:
			d.Conflict(level, []string{codec}, "compression %s has no levels; take compression_level out", p.Compression)
		case p.CompressionLevel > most:
			d.Conflict(level, []string{codec}, "compression_level is %d, but %s has levels from 1 to %d", p.CompressionLevel, p.Compression, most)
		}
	} else if p.Compression != DefaultParquet().Compression {
		p.CompressionLevel = 0
	}
	if bloom := "bloom_filters"; len(p.BloomFilters) > 1 && slices.Contains(p.BloomFilters, "none") {
		d.Conflict(bloom, nil, "bloom_filters has none beside columns; keep one of them")
	}
	checkFolders(d, p.Path, p.DeadLetters)
	checkLate(d, p.Path, p.DeadLetters, p.Late)
}

func checkOutput(d *config.Check, o *Output) {
	folder, stdout := "path", "stdout"
	switch {
	case o.Path != "" && o.Stdout:
		d.Conflict(stdout, []string{folder}, "%s has both path and stdout; keep one of them", d.Path(""))
	case o.Path == "" && !o.Stdout:
		d.Conflict("", []string{folder, stdout}, "%s does not say where to; add path: out, or stdout: true", d.Path(""))
	case o.Stdout && o.Delivery == ExactlyOnce:
		at := "delivery"
		d.Conflict(at, []string{stdout}, "delivery is exactly_once, but what went to standard output cannot be taken back; take it out, or give path instead of stdout")
	}
	checkFolders(d, o.Path, o.DeadLetters)
	checkLate(d, o.Path, o.DeadLetters, o.Late)
}

// checkLate reports late rows whose folder is among others, where they would be read as something else.
func checkLate(d *config.Check, rows, dead string, l *Late) {
	if l == nil {
		return
	}
	at := config.Join("late", "path")
	checkPlace(d, at, l.Path)
	for _, other := range []struct{ key, folder string }{{"path", rows}, {"dead_letters", dead}} {
		if other.folder != "" && l.Path != "" && (within(other.folder, l.Path) || within(l.Path, other.folder)) {
			d.Conflict(at, []string{other.key}, "late.path and %s lie in each other; give a folder beside it", other.key)
		}
	}
}

// within reports whether a folder is another one, or lies in it.
func within(outer, inner string) bool {
	rel, err := filepath.Rel(filepath.Clean(outer), filepath.Clean(inner))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// checkFolders reports folders that cannot be written to, and dead letters that would lie among the rows, where they would be read as rows.
func checkFolders(d *config.Check, rows, dead string) {
	checkPlace(d, "path", rows)
	checkPlace(d, "dead_letters", dead)
	if rows == "" || dead == "" {
		return
	}
	if within(rows, dead) {
		at := "dead_letters"
		d.Conflict(at, []string{"path"}, "dead_letters lies in path, where it would be read as rows; give a folder beside it")
	}
}

// checkColumns fills in what depends on other keys.
func checkColumns(d *config.Check, c *Columns) {
	for i := range c.Promote {
		if p := &c.Promote[i]; p.Name == "" {
			p.Name = p.Param
		}
	}
	for i := range c.Also {
		if a := &c.Also[i]; a.Prefix == "" && a.Field != "" {
			a.Prefix = a.Field + "_"
		}
	}
	if at := "tracking_rules"; d.Given(at) && c.Tracking != "separate" && c.Canonical == nil {
		d.Conflict(at, []string{"tracking"}, "tracking_rules has no effect without tracking: separate or canonical")
	}
	if c.Canonical == nil {
		return
	}
	for key, steps := range map[string][]string{"with": c.Canonical.With, "without": c.Canonical.Without} {
		at := config.Join("canonical", key)
		for i, step := range steps {
			if _, err := canon.ParseStep(step); err != nil {
				d.Conflict(fmt.Sprintf("%s[%d]", at, i), nil, "%v", err)
			}
		}
		if form := c.Canonical.Form; len(steps) > 0 && form != canon.Dedupe.String() {
			d.Conflict(at, nil, "form %s has no steps to switch; take %s out, or give form: dedupe", form, key)
		}
	}
}
