package processor_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline/processor"
	"github.com/urlmill/urlmill/urlcore/canon"
)

// clicks is a record as another program has it.
func clicks() arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "user", Type: arrow.PrimitiveTypes.Int64},
		{Name: "page", Type: arrow.BinaryTypes.String},
	}, nil)
	r, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(
		`[{"user":7,"page":"https://www.example.co.uk/a/../b?q=1"},{"user":8,"page":"https://1.2.3.300/"}]`))
	if err != nil {
		log.Fatal(err)
	}
	return r
}

func show(r arrow.Record) {
	for i, c := range r.Columns() {
		fmt.Printf("%s: %v\n", r.ColumnName(i), c)
	}
}

// The columns of the URLs come first, and the other columns behind them.
func ExampleProcessor_Process() {
	p, err := processor.New(processor.Options{URL: "page", Include: []string{"registrable_domain", "path", "url_error"}})
	if err != nil {
		log.Fatal(err)
	}
	in := clicks()
	defer in.Release()
	out, err := p.Process(in)
	if err != nil {
		log.Fatal(err)
	}
	defer out.Release()
	show(out)
	// Output:
	// registrable_domain: ["example.co.uk" (null)]
	// path: ["/b" (null)]
	// url_error: [(null) "IPv4-out-of-range-part"]
	// user: [7 8]
}

// Relative URLs need a base: one for all rows, or one of each row's own.
func ExampleProcessor_Parse() {
	p, err := processor.New(processor.Options{BaseURL: "https://shop.example/list/", Include: []string{"href"}})
	if err != nil {
		log.Fatal(err)
	}
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues([]string{"item?id=7", "/", "//cdn.example/x.js"}, nil)
	urls := b.NewStringArray()
	defer urls.Release()
	out, err := p.Parse(urls, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer out.Release()
	show(out)
	// Output:
	// href: ["https://shop.example/list/item?id=7" "https://shop.example/" "https://cdn.example/x.js"]
}

// What is only looked at, or copied, needs no record: that is the cheapest way for few URLs.
func ExampleProcessor_View() {
	p, err := processor.New(processor.Options{Include: []string{"host"}})
	if err != nil {
		log.Fatal(err)
	}
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.Append("https://www.bücher.example/")
	urls := b.NewStringArray()
	defer urls.Release()
	var host string
	err = p.View(urls, nil, func(columns []arrow.ArrayData) error {
		host = strings.Clone(array.NewStringData(columns[0]).Value(0))
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(host)
	// Output: www.xn--bcher-kva.example
}

// Profiles have the names that others use, and parameters can have columns of their own.
func ExampleNew_profile() {
	p, err := processor.New(processor.Options{
		URL: "page", Profile: "snowplow", Carry: []string{},
		Promote:   []processor.Promoted{{Params: []string{"q", "query"}, Name: "search"}},
		Canonical: &canon.Options{Form: canon.Dedupe},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range p.URLSchema().Fields()[:5] {
		fmt.Println(f.Name, f.Type)
	}
	// Output:
	// page_url utf8
	// page_urlscheme utf8
	// page_urlhost utf8
	// page_urlport int32
	// page_urlpath utf8
}

func ExampleColumns() {
	fmt.Println(strings.Join(processor.Columns(processor.Options{})[:4], " "))
	// Output: url href scheme has_username
}
