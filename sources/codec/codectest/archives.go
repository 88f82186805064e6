package codectest

import (
	"fmt"

	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/warc"
)

// archiveCases are those of archives and their indexes. The records are as the source of files hands them to the codec: a header, and
// a link of a page.
func archiveCases() []Case {
	const date = "20060102150405"
	none := func(f codec.Factory) func() (codec.Factory, error) {
		return func() (codec.Factory, error) { return f, nil }
	}
	return []Case{{
		Codec: "warc", Name: "warc", New: func() (codec.Factory, error) { return warc.New(warc.Options{}) },
		Record: record(func(h *Hit) string {
			return fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: %s\r\nWARC-Record-ID: <urn:uuid:%s>\r\nContent-Length: %d\r\n"+
				"Content-Type: application/http; msgtype=response\r\nWARC-IP-Address: %s\r\nWARC-Target-URI: %s\r\n"+
				"WARC-Payload-Digest: sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ\r\n\r\nHTTP/1.1 %d OK\r\nContent-Type: text/html; charset=UTF-8\r\nServer: x\r\n\r\n",
				h.Time.Format("2006-01-02T15:04:05Z"), h.ID, h.Bytes, h.IP, h.URL(), h.Status)
		}),
		Malformed: map[string]string{"": "record-malformed 0", "x": "record-malformed 0", "WARC/1.0\r\nWARC-Type: response\r\n\r\n": "record-field-missing -1"},
	}, {
		Codec: "wat", Name: "wat", New: none(warc.NewWAT()),
		Record: record(func(h *Hit) string {
			return fmt.Sprintf(`{"page":"https://www.example.com/","base":"https://www.example.com/","time":%q,"status":"%d","mime":"text/html",`+
				`"filename":"a.warc.gz","offset":"477","length":"569","position":3,"url":%q,"path":"A@/href","text":"%s"}`,
				h.Time.Format("2006-01-02T15:04:05Z"), h.Status, h.URL(), h.ID)
		}),
		Malformed: map[string]string{"": "record-malformed 0", "{": "record-malformed 1", "{}": "record-field-missing -1"},
	}, {
		Codec: "cdx", Name: "cdx/11", New: none(warc.NewCDX()), Prologue: []string{" CDX N b a m s k r M S V g"},
		Record: record(func(h *Hit) string {
			return fmt.Sprintf("com,example)/ %s %s text/html %d 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ - - 569 477 a.warc.gz", h.Time.Format(date), h.URL(), h.Status)
		}),
		Malformed: map[string]string{"": "record-malformed 0", "com,example)/ 2026": "record-malformed 0", "a b - d e f g h i j k": "record-field-missing -1"},
	}, {
		Codec: "cdx", Name: "cdx/9", New: none(warc.NewCDX()),
		Record: record(func(h *Hit) string {
			return fmt.Sprintf("com,example)/ %s %s text/html %d 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ - 477 a.warc.gz", h.Time.Format(date), h.URL(), h.Status)
		}),
		Malformed: map[string]string{"": "record-malformed 0"},
	}, {
		Codec: "cdx", Name: "cdx/json", New: none(warc.NewCDX()),
		Record: record(func(h *Hit) string {
			return fmt.Sprintf(`com,example)/ %s {"url":%q,"mime":"text/html","status":"%d","digest":"sha1:3I42H3S6","length":"569","offset":"477","filename":"a.warc.gz"}`,
				h.Time.Format(date), h.URL(), h.Status)
		}),
		Malformed: map[string]string{
			"a 20261124000000 {": "record-malformed 18", "a 20261124000000 {}": "record-field-missing -1", `a 20261124000000 {"url":7}`: "record-field-type -1",
		},
	}}
}
