package parquet

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec/accesslog"
)

// logged makes a file of the records of a log in JSON, as CloudFront delivers them in Parquet: all columns are text, and their names
// have underscores. Columns of typed are numbers, as a job that has rewritten the files makes them.
func logged(t testing.TB, lines []string, typed ...string) []byte {
	t.Helper()
	rename := strings.NewReplacer("-", "_", "(", "_", ")", "")
	var records []map[string]string
	group := parquet.Group{}
	for _, line := range lines {
		var record map[string]string
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(err)
		}
		for name := range record {
			group[rename.Replace(strings.ToLower(name))] = parquet.Optional(parquet.String())
		}
		records = append(records, record)
	}
	for _, name := range typed {
		group[name] = parquet.Optional(parquet.Leaf(parquet.DoubleType))
	}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[map[string]any](&out, parquet.NewSchema("log", group))
	for _, record := range records {
		row := map[string]any{}
		for name, value := range record {
			column := rename.Replace(strings.ToLower(name))
			row[column] = value
			if number := json.Number(value); group[column].Type() == parquet.DoubleType {
				row[column], _ = number.Float64()
			}
		}
		if _, err := w.Write([]map[string]any{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestCloudFront checks that CloudFront's logs give the same rows from Parquet as from JSON.
func TestCloudFront(t *testing.T) {
	text, err := os.ReadFile("../accesslog/testdata/cloudfront_json.log")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	f, err := accesslog.New(accesslog.Options{Format: accesslog.CloudFrontJSON})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	c, b := f.New(), &pipeline.Batch{}
	c.Prepare(b)
	for i, line := range lines {
		c.Decode(b, []byte(line))
		want = append(want, show(t, f, b, i))
	}
	if !strings.HasPrefix(want[0], "https://shop.example.com/garden/chairs%20and%20tables?id=8841&q=a%20b ") {
		t.Fatal(want[0])
	}
	for _, typed := range [][]string{nil, {"c_port", "time_to_first_byte"}} {
		data := logged(t, lines, typed...)
		got, err := rowsOf(t, Options{Format: CloudFront}, data, 0, 2)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(err, diff)
		}
		if got, err = rowsOf(t, Options{Format: CloudFront}, data, 1, 100); err != nil || cmp.Diff(want[1:], got) != "" {
			t.Error(err, got)
		}
	}
}

// TestCloudFrontOdd checks files that CloudFront does not write.
func TestCloudFrontOdd(t *testing.T) {
	got, err := rowsOf(t, Options{Format: CloudFront}, logged(t, []string{
		`{"cs-uri-stem": "/a\tb", "x-host-header": "a.example", "sc-status": "2\t0", "c-ip": "1.2.3.4"}`,
		`{"cs-uri-stem": "/` + strings.Repeat("a", 1<<20) + `", "x-host-header": "a.example"}`,
	}), 0, 100)
	if err != nil || len(got) != 2 || !strings.HasPrefix(got[0], "http://a.example/a%09b ") || !strings.HasSuffix(got[0], " field-type") ||
		!strings.HasPrefix(got[1], "- ") || !strings.HasSuffix(got[1], " record-too-large") {
		t.Error(err, got)
	}
	if _, err := rowsOf(t, Options{Format: CloudFront}, visits(t, 1, 1), 0, 100); err == nil || !strings.Contains(err.Error(), `there is no column "cs_uri_stem"; there are url`) {
		t.Error(err)
	}
	if err := (Options{Format: CloudFront, Base: "b"}).Validate(); err == nil || !strings.Contains(err.Error(), "go with url") {
		t.Error(err)
	}
}
