package codec_test

import (
	"fmt"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

func ExampleNewNDJSON() {
	factory, err := codec.NewNDJSON(codec.NDJSONOptions{
		URL:  "/request/url",
		Base: "/page",
		Carry: []codec.CarriedField{
			{Name: "user_id", Pointer: "/user/id", Type: pipeline.Int64},
			{Name: "seen", Pointer: "/ts", Type: pipeline.Timestamp, Time: codec.EpochMillis},
		},
	})
	if err != nil {
		panic(err)
	}
	c, b := factory.New(), &pipeline.Batch{}
	c.Prepare(b)
	for _, record := range []string{
		`{"ts":1767225600000,"user":{"id":7},"page":"https://example.com/a/","request":{"url":"..\/b?x=\u00e9"}}`,
		`{"ts":1767225600001,"user":{"id":"seven"},"request":{"url":"https://example.com/"}}`,
		`{"ts":1767225600002,"user":`,
	} {
		c.Decode(b, []byte(record))
	}
	for i := range b.URLs.Len() {
		fmt.Printf("%q %q %d %d\n", b.URLs.At(i), b.Bases.At(i), b.Carried[0].Ints[i], b.Carried[1].Ints[i])
	}
	for _, f := range b.Faults {
		fmt.Printf("row %d: %s at byte %d\n", f.Row, f.Code, f.Pos)
	}
	// Output:
	// "../b?x=é" "https://example.com/a/" 7 1767225600000000
	// "https://example.com/" "" 0 1767225600001000
	// "" "" 0 0
	// row 1: field-type at byte 33
	// row 2: record-malformed at byte 27
}
