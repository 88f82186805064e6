package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/demo"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/producer"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/report"
	"github.com/urlmill/urlmill/examples"
	"github.com/urlmill/urlmill/sources/generate"
)

const (
	demoTopic      = "clicks"
	demoPartitions = 4
)

// demoClicks shows the uses that read clicks from Kafka.
func (a *app) demoClicks(ctx, drain context.Context, d demonstration, log *slog.Logger) error {
	broker, err := demo.StartBroker(demoTopic, demoPartitions)
	if err != nil {
		return err
	}
	defer broker.Close()
	what := "Parquet"
	if d.use == examples.Warehouse {
		what = "an Iceberg table"
	}
	a.say("%s clicks through Kafka into %s, in this process alone.\n", plain.Count(d.records), what)
	if err := a.demoProduce(ctx, drain, d, broker.Addr); err != nil {
		return err
	}
	c, err := a.demoConfig(d, map[string]string{
		"KAFKA_BROKERS": broker.Addr, "KAFKA_TOPIC": demoTopic, "OUTPUT": d.folder, "CATALOG": filepath.Join(d.folder, "_catalog.db"),
	})
	if err != nil {
		return err
	}
	summary, err := a.demoRun(ctx, drain, d, c, log)
	if err != nil {
		return err
	}
	if d.use == examples.Warehouse {
		return a.demoShowWarehouse(ctx, d, summary)
	}
	return a.demoShowClicks(ctx, d, summary)
}

// demoProduce fills the topic.
func (a *app) demoProduce(ctx, drain context.Context, d demonstration, addr string) error {
	ctx, stop := making(ctx, drain)
	defer stop()
	o := generate.Options{Records: d.records, Seed: d.seed, Visits: true}
	if d.use == examples.Warehouse { // a midnight amid the clicks: two days
		o.Start = generate.DefaultStart.Add(-time.Duration(d.records/2) * time.Millisecond)
	}
	generator, err := generate.NewGenerator(o)
	if err != nil {
		return err
	}
	stats := new(producer.Stats)
	began := time.Now()
	stopLine := a.showProduced(stats, d.records, began)
	err = producer.Run(ctx, producer.Options{
		Brokers: []string{addr}, Topic: demoTopic, Partitions: demoPartitions, Records: d.records,
		Compression: "zstd", Next: generator.Append, ConnectTimeout: 10 * time.Second,
	}, stats)
	stopLine()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		return err
	}
	records, bytes := stats.Totals()
	a.say("1. produced %s (%s) to topic %s of the broker at %s, %d partitions, in %.1f s\n",
		plain.Plural(records, "record"), plain.Bytes(bytes), demoTopic, addr, demoPartitions, time.Since(began).Seconds())
	return nil
}

// demoShowClicks shows what the use clickstream has written.
func (a *app) demoShowClicks(ctx context.Context, d demonstration, s report.Summary) error {
	files, err := a.demoFiles(d, s)
	if err != nil {
		return err
	}
	a.demoReasons(s)
	if err := a.demoTop(ctx, files, "top registrable domains, without bots", "registrable_domain", "bot", 10); err != nil {
		return err
	}
	if err := a.demoTop(ctx, files, "top channels, without bots", "channel", "bot", 10); err != nil {
		return err
	}
	if err := a.demoTop(ctx, files, "top sources, without bots", "source", "bot", 10); err != nil {
		return err
	}
	if err := a.demoTop(ctx, files, "top campaigns, without bots", "utm_campaign", "bot", 5); err != nil {
		return err
	}
	if err := a.demoTop(ctx, files, "the bots", "bot", "", 8); err != nil {
		return err
	}
	if err := a.demoSample(ctx, files, "user_id", "country", "channel", "ua_browser", "host", "path"); err != nil {
		return err
	}
	a.demoNext(d,
		[2]string{"ask DuckDB", fmt.Sprintf(`duckdb -c "select channel, count(*) from '%s/*.parquet' where bot is null group by 1 order by 2 desc"`, d.kept())},
		[2]string{"parse a file of your own", "urlmill parse urls.txt"},
		[2]string{"look at one URL", "urlmill url 'https://user@example.co.uk/?a=1'"},
		[2]string{"see the other uses", "urlmill demo --use dedupe; urlmill demo --use warehouse"},
		[2]string{"read your own topic", "KAFKA_BROKERS=host:9092 KAFKA_TOPIC=clicks OUTPUT=out urlmill run " + d.config},
	)
	return nil
}

// demoShowWarehouse shows what the use warehouse has written.
func (a *app) demoShowWarehouse(ctx context.Context, d demonstration, s report.Summary) error {
	files, err := a.demoFiles(d, s)
	if err != nil {
		return err
	}
	table, err := demo.Iceberg(d.folder)
	if err != nil {
		return err
	}
	a.say("table          web.clicks: %s in %s, %s\n", plain.Plural(table.Rows, "row"), plain.Plural(table.Files, "file"), plain.Plural(table.Snapshots, "snapshot"))
	if table.Rows != s.Totals.Rows {
		return fmt.Errorf("the table has %s, and %s were written", plain.Plural(table.Rows, "row"), plain.Count(s.Totals.Rows))
	}
	parts, err := demo.Partitions(files)
	if err != nil {
		return err
	}
	a.say("\npartitions\n")
	for _, p := range parts {
		a.say("%10s  %s\n", plain.Count(p.Rows), p.Value)
	}
	if err := a.demoTop(ctx, files, "top referring sites", "referer_registrable_domain", "", 5); err != nil {
		return err
	}
	if err := a.demoSample(ctx, files, "ts", "registrable_domain", "path", "utm_campaign"); err != nil {
		return err
	}
	a.demoNext(d,
		[2]string{"ask DuckDB", fmt.Sprintf(`duckdb -c "select dt, count(*) from read_parquet('%s/*/*.parquet', hive_partitioning = true) group by 1"`, d.kept())},
		[2]string{"open the table in Python", fmt.Sprintf(`SqlCatalog("urlmill", uri="sqlite:///%s/_catalog.db").load_table("web.clicks")`, d.kept())},
		[2]string{"prove that nothing is missing", "urlmill verify " + d.kept()},
	)
	return nil
}
