package sinktest

import (
	"fmt"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// RandomClicks makes a record of the schema [Clicks] whose values repeat about as much as those of a
// clickstream do.
func RandomClicks(mem memory.Allocator, rows int, first int64, seed uint64) arrow.Record {
	r := rand.New(rand.NewPCG(seed, uint64(first)))
	hosts := rand.NewZipf(r, 1.2, 5, 20000)
	b := array.NewRecordBuilder(mem, Clicks())
	defer b.Release()
	text := func(i int, s string) { b.Field(i).(*array.StringBuilder).Append(s) }
	for row := range rows {
		host := fmt.Sprintf("www.site%d.example", hosts.Uint64())
		path := fmt.Sprintf("/catalog/%d/item-%x", r.IntN(50), r.IntN(1<<20))
		key, value := "utm_source", []string{"mail", "search", "social"}[r.IntN(3)]
		query := fmt.Sprintf("%s=%s&sid=%x", key, value, r.Uint64())
		href := "https://" + host + path + "?" + query
		text(0, href)
		text(1, href)
		text(2, "https")
		text(3, host)
		b.Field(4).AppendNull()
		text(5, host[4:])
		text(6, path)
		text(7, query)
		list := b.Field(8).(*array.ListBuilder)
		pair := list.ValueBuilder().(*array.StructBuilder)
		list.Append(true)
		for _, kv := range [][2]string{{key, value}, {"sid", query[len(query)-8:]}} {
			pair.Append(true)
			pair.FieldBuilder(0).(*array.StringBuilder).Append(kv[0])
			pair.FieldBuilder(1).(*array.StringBuilder).Append(kv[1])
		}
		b.Field(9).AppendNull()
		b.Field(10).AppendNull()
		text(11, "clicks")
		b.Field(12).(*array.Int32Builder).Append(3)
		b.Field(13).(*array.Int64Builder).Append(first + int64(row))
		b.Field(14).(*array.TimestampBuilder).Append(arrow.Timestamp(1.77e15 + float64(first+int64(row))*1e3))
		b.Field(15).(*array.BinaryBuilder).Append(fmt.Appendf(nil, "user-%d", r.IntN(100000)))
	}
	return b.NewRecord()
}
