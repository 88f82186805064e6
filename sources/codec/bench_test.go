package codec

import (
	"encoding/json"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
)

// clickRecord is a record as clickstreams have it, of about 300 bytes.
const clickRecord = `{"ts":"2026-07-01T12:30:00.250Z","user_id":184467440737,"session":"5f2b9c04-7e1a-4c55-9d3e-0a1b2c3d4e5f",` +
	`"url":"https://www.example.co.uk/shop/garden/chairs?id=8841&utm_source=newsletter&utm_medium=email",` +
	`"referer":"https://news.example.org/2026/07/01/garden","status":200,"country":"GB","agent":{"mobile":false,"v":1.5}}`

func clickOptions() NDJSONOptions {
	return NDJSONOptions{URL: "/url", Base: "/referer", Carry: []CarriedField{
		{Name: "ts", Pointer: "/ts", Type: pipeline.Timestamp},
		{Name: "user_id", Pointer: "/user_id", Type: pipeline.Int64},
		{Name: "session", Pointer: "/session"},
		{Name: "status", Pointer: "/status", Type: pipeline.Int64},
		{Name: "country", Pointer: "/country"},
		{Name: "mobile", Pointer: "/agent/mobile", Type: pipeline.Bool},
		{Name: "v", Pointer: "/agent/v", Type: pipeline.Float64},
	}}
}

func BenchmarkNDJSON(b *testing.B) {
	f, err := NewNDJSON(clickOptions())
	if err != nil {
		b.Fatal(err)
	}
	benchmark(b, f, clickRecord)
}

func BenchmarkNDJSONURLOnly(b *testing.B) {
	f, err := NewNDJSON(NDJSONOptions{URL: "/url"})
	if err != nil {
		b.Fatal(err)
	}
	benchmark(b, f, clickRecord)
}

func BenchmarkLines(b *testing.B) {
	benchmark(b, NewLines(LinesOptions{}), "https://www.example.co.uk/shop/garden/chairs?id=8841&utm_source=newsletter\r")
}

// BenchmarkEncodingJSON is what the codec is measured against: the same fields by the standard library.
func BenchmarkEncodingJSON(b *testing.B) {
	record := []byte(clickRecord)
	b.SetBytes(int64(len(record)))
	b.ReportAllocs()
	for b.Loop() {
		var v struct {
			TS, URL, Referer, Session, Country string
			UserID                             int64 `json:"user_id"`
			Status                             int
			Agent                              struct {
				Mobile bool
				V      float64
			}
		}
		if err := json.Unmarshal(record, &v); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmark(b *testing.B, f Factory, text string) {
	c, batch, record := f.New(), &pipeline.Batch{MaxRows: 1024}, []byte(text)
	b.SetBytes(int64(len(record)))
	b.ReportAllocs()
	for b.Loop() {
		if batch.URLs.Len() == 1024 {
			batch.Reset()
		}
		c.Prepare(batch)
		c.Decode(batch, record)
	}
}
