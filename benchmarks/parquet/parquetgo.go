package main

import (
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// click is a row of the table. An optional text that is empty is null to parquet-go.
type click struct {
	Href              string  `parquet:"href,optional"`
	Scheme            string  `parquet:"scheme,optional,dict"`
	HasUsername       bool    `parquet:"has_username,optional"`
	Host              string  `parquet:"host,optional,dict"`
	Port              int32   `parquet:"port,optional,dict"`
	Origin            string  `parquet:"origin,optional,dict"`
	RegistrableDomain string  `parquet:"registrable_domain,optional,dict"`
	PublicSuffix      string  `parquet:"public_suffix,optional,dict"`
	Path              string  `parquet:"path,optional"`
	Query             string  `parquet:"query,optional"`
	Params            []param `parquet:"params,list,optional"`
	Fragment          string  `parquet:"fragment,optional"`
	URLError          string  `parquet:"url_error,optional,dict"`
	URLErrorPos       int32   `parquet:"url_error_pos,optional,dict"`
	Topic             string  `parquet:"topic,dict"`
	Partition         int32   `parquet:"partition,dict"`
	Offset            int64   `parquet:"offset,delta"`
	Timestamp         int64   `parquet:"timestamp,optional,timestamp(microsecond)"`
	Key               []byte  `parquet:"key,optional"`
}

type param struct {
	Key   string `parquet:"key,dict"`
	Value string `parquet:"value"`
}

// parquetGo writes rows of Go structures, which were made before, with parquet-go.
type parquetGo struct{ rows []click }

func newParquetGo(records []arrow.Record) *parquetGo {
	p := &parquetGo{}
	for _, r := range records {
		p.add(r)
	}
	return p
}

func (p *parquetGo) add(r arrow.Record) {
	column := func(name string) arrow.Array { return r.Column(r.Schema().FieldIndices(name)[0]) }
	text := func(name string, i int) string {
		a := column(name).(*array.String)
		if a.IsNull(i) {
			return ""
		}
		return a.Value(i)
	}
	number := func(name string, i int) int32 {
		a := column(name).(*array.Int32)
		if a.IsNull(i) {
			return 0
		}
		return a.Value(i)
	}
	params := column("params").(*array.List)
	pairs := params.ListValues().(*array.Struct)
	keys, values := pairs.Field(0).(*array.String), pairs.Field(1).(*array.String)
	for i := range int(r.NumRows()) {
		c := click{
			Href: text("href", i), Scheme: text("scheme", i), HasUsername: column("has_username").(*array.Boolean).Value(i),
			Host: text("host", i), Port: number("port", i), Origin: text("origin", i),
			RegistrableDomain: text("registrable_domain", i), PublicSuffix: text("public_suffix", i),
			Path: text("path", i), Query: text("query", i), Fragment: text("fragment", i),
			URLError: text("url_error", i), URLErrorPos: number("url_error_pos", i), Topic: text("topic", i),
			Partition: number("partition", i), Offset: column("offset").(*array.Int64).Value(i),
			Timestamp: int64(column("timestamp").(*array.Timestamp).Value(i)), Key: column("key").(*array.Binary).Value(i),
		}
		start, end := params.ValueOffsets(i)
		for j := int(start); j < int(end); j++ {
			c.Params = append(c.Params, param{keys.Value(j), values.Value(j)})
		}
		p.rows = append(p.rows, c)
	}
}

func (p *parquetGo) encode(w io.Writer, codec string) error {
	var c compress.Codec
	switch codec {
	case "none":
		c = &parquet.Uncompressed
	case "snappy":
		c = &parquet.Snappy
	case "zstd":
		c = &zstd.Codec{Level: zstd.SpeedFastest, Concurrency: 1}
	}
	pw := parquet.NewGenericWriter[click](w, parquet.Compression(c), parquet.MaxRowsPerRowGroup(groupRows))
	for rows := p.rows; len(rows) > 0; {
		n := min(len(rows), batchRows)
		if _, err := pw.Write(rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return pw.Close()
}
