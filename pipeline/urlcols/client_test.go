package urlcols_test

import (
	"fmt"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/enrich"
	"github.com/urlmill/urlmill/pipeline/urlcols"
)

// TestClient looks at the columns of the user agent, of rows without a URL as well, and that they are made without allocating.
func TestClient(t *testing.T) {
	u := enrich.DefaultUserAgent()
	plan, err := urlcols.New(urlcols.Options{
		UserAgent: &u, Carried: []pipeline.Field{{Name: "user_agent", Type: pipeline.String}},
		Include: []string{"url", "ua_browser", "bot", "bot_name", "bot_verified", "enrich_error"}, Rename: map[string]string{"bot": "robot"},
	})
	if err != nil {
		t.Fatal(err)
	}
	b := &pipeline.Batch{Carried: []pipeline.Values{{Field: pipeline.Field{Name: "user_agent", Type: pipeline.String}}}}
	for i, text := range []string{"Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "curl/8.5.0", ""} {
		b.URLs.Append([]byte([]string{"https://example.com/", "no url", "https://example.com/"}[i]))
		b.Carried[0].Text.Append([]byte(text))
		b.Carried[0].Valid, b.Offsets = append(b.Carried[0].Valid, text != ""), append(b.Offsets, int64(i))
	}
	out, err := plan.NewTransform().Apply(b)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Firefox <nil> <nil> <nil> <nil>", "curl tool curl <nil> <nil>", "<nil> <nil> <nil> <nil> user-agent-missing"}
	for i, row := range rowsOf(t, out.Records[pipeline.Rows]) {
		if got := fmt.Sprintf("%v %v %v %v %v", row["ua_browser"], row["robot"], row["bot_name"], row["bot_verified"], row["enrich_error"]); got != want[i] {
			t.Errorf("row %d: %s, want %s", i, got, want[i])
		}
	}
	lender := plan.NewLender()
	view := func() {
		if err := lender.Parse(b); err != nil {
			t.Fatal(err)
		}
		if _, err := lender.View(); err != nil {
			t.Fatal(err)
		}
		lender.Close()
	}
	view()
	if n := testing.AllocsPerRun(20, view); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
