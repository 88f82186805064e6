package corpus

import (
	"os"
	"strconv"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/pipeline/urlcols/rebuild"
	"github.com/urlmill/urlmill/sources/generate"
	"github.com/urlmill/urlmill/urlcore/charset"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// TestRebuild: the URLs of all lists are made of the columns of the profile compact again, byte for byte, and what they are parsed to is
// the same. REBUILD_ROWS says how many URLs, divided among the lists.
func TestRebuild(t *testing.T) {
	rows := 70_000
	if n, err := strconv.Atoi(os.Getenv("REBUILD_ROWS")); err == nil {
		rows = n
	}
	const batch = 8192
	lists := map[string]func(seed uint64) []string{}
	for _, kind := range Kinds() {
		lists[string(kind)] = func(seed uint64) []string { return Generate(kind, 4*batch, seed) }
	}
	for _, profile := range []generate.Profile{generate.Clickstream, generate.Crawl} {
		lists[string(profile)] = func(seed uint64) []string { return generated(t, profile, 4*batch, seed) }
	}
	for name, make1 := range lists {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRebuilder(t)
			for seed := uint64(1); r.rows < rows/len(lists); seed++ {
				for urls := make1(seed); len(urls) > 0 && r.rows < rows/len(lists); urls = urls[min(batch, len(urls)):] {
					r.check(t, urls[:min(batch, len(urls))])
				}
			}
			t.Logf("%d URLs, %d of them in kept_url, %d in kept_front, %d without href", r.rows, r.kept, r.fronts, r.none)
		})
	}
}

// generated returns n URLs of the clickstream or the crawl, broken ones among them.
func generated(t *testing.T, profile generate.Profile, n int, seed uint64) []string {
	g, err := generate.NewGenerator(generate.Options{Seed: seed, Profile: profile, Format: generate.Lines})
	if err != nil {
		t.Fatal(err)
	}
	urls := make([]string, n)
	for i := range urls {
		urls[i] = string(g.Append(nil))
	}
	return urls
}

// rebuilder rebuilds URLs and counts them.
type rebuilder struct {
	transform                pipeline.Transform
	checker                  *rebuild.Checker
	batch                    pipeline.Batch
	rows, kept, fronts, none int
}

func newRebuilder(t *testing.T) *rebuilder {
	plan, err := urlcols.New(urlcols.Options{Profile: urlcols.CompactProfile, Exclude: []string{"raw"}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := rebuild.NewChecker(plan.Schemas()[pipeline.Rows], psl.Version())
	if err != nil {
		t.Fatal(err)
	}
	return &rebuilder{transform: plan.NewTransform(), checker: c}
}

func (r *rebuilder) check(t *testing.T, urls []string) {
	r.batch.Reset()
	for i, url := range urls {
		r.batch.Offsets = append(r.batch.Offsets, int64(i))
		r.batch.URLs.Append([]byte(url))
	}
	out, err := r.transform.Apply(&r.batch)
	if err != nil {
		t.Fatal(err)
	}
	record := out.Records[pipeline.Rows]
	defer record.Release()
	if err := r.checker.Check(record, func(row int, what string) { t.Errorf("%q: %s", urls[row], what) }); err != nil {
		t.Fatal(err)
	}
	for i, given := range urls {
		want := string(charset.AppendUTF8(nil, []byte(given)))
		if url, ok := r.checker.URL(i); !ok || string(url) != want {
			t.Errorf("%q is read as %q", want, url)
		}
	}
	for name, count := range map[string]*int{"kept_url": &r.kept, "kept_front": &r.fronts, "scheme": &r.none} {
		column := record.Column(record.Schema().FieldIndices(name)[0])
		if *count += column.NullN(); name != "scheme" {
			*count += column.Len() - 2*column.NullN()
		}
	}
	r.rows += len(urls)
}
