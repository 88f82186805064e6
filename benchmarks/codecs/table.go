package main

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/urlmill/urlmill/benchmarks/internal/turns"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/codectest"
	table "github.com/urlmill/urlmill/sources/codec/parquet"
)

// hit is a row of the Parquet file.
type hit struct {
	At      time.Time `parquet:"at,timestamp(microsecond)"`
	IP      string    `parquet:"ip"`
	URL     string    `parquet:"url"`
	Referer string    `parquet:"referer,dict"`
	Agent   string    `parquet:"agent,dict"`
	Status  int32     `parquet:"status"`
}

// tableJob reads a Parquet file of batchRows rows from memory, all but the column agent. Its bytes are those of the values
// that it reads.
func tableJob() (*turns.Job, error) {
	rows := make([]hit, batchRows)
	j := &turns.Job{Rows: len(rows)}
	total := 0
	for i := range rows {
		h := codectest.NewHit(i)
		rows[i] = hit{h.Time, h.IP, h.URL(), h.Referer, h.Agent, int32(h.Status)}
		total += 8 + len(h.IP) + len(rows[i].URL) + len(h.Referer) + 4
	}
	var file bytes.Buffer
	if err := parquet.Write(&file, rows, parquet.Compression(&parquet.Snappy)); err != nil {
		return nil, err
	}
	f, err := table.New(table.Options{URL: "url", Carry: []codec.CarriedColumn{
		{Name: "time", Column: "at", Type: pipeline.Timestamp},
		{Name: "remote_addr", Column: "ip"},
		{Name: "referer", Column: "referer"},
		{Name: "status", Column: "status", Type: pipeline.Int64},
	}})
	if err != nil {
		return nil, err
	}
	j.Name, j.MeanBytes = "parquet", float64(total)/float64(len(rows))
	b := &pipeline.Batch{MaxRows: batchRows, MaxBytes: 64 << 20}
	j.Work = func() {
		t, err := f.OpenTable(bytes.NewReader(file.Bytes()), int64(file.Len()), 1<<20)
		if err != nil {
			panic(err)
		}
		b.Reset()
		f.New().Prepare(b)
		if n, err := t.Append(context.Background(), b, 0); n != batchRows || err != nil {
			panic(fmt.Sprintf("%d rows, %v", n, err))
		}
		if err := t.Close(); err != nil {
			panic(err)
		}
	}
	return j, nil
}
