package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/convert"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/lineproto"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/privacy"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/codectest"
	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/canon"
	"github.com/urlmill/urlmill/urlcore/columns"
	"github.com/urlmill/urlmill/urlcore/compat"
	"github.com/urlmill/urlmill/urlcore/display"
	"github.com/urlmill/urlmill/urlcore/form"
	"github.com/urlmill/urlmill/urlcore/percent"
	"github.com/urlmill/urlmill/urlcore/psl"
	"github.com/urlmill/urlmill/urlcore/rfc3986"
)

// operation is something that is done to text from outside. prepare returns what does it, or nil where there is nothing to do, and what
// that does shall be the same each time: nothing is remembered from the time before.
type operation struct {
	name    string
	attacks map[string]attack
	prepare func(dir, text string) func()
}

// onText is an operation on any text.
func onText(name string, do func(s string)) operation {
	return operation{name, urls, func(_, s string) func() { return func() { do(s) } }}
}

// onURL is an operation on a URL, which the text has to be.
func onURL(name string, do func(u *urlcore.URL)) operation {
	return operation{name, urls, func(_, s string) func() {
		u, err := urlcore.Parse(s)
		if err != nil {
			return nil
		}
		return func() { do(u) }
	}}
}

// redaction removes all that the default options of privacy say, from a text as a URL, a field and a key.
func redaction() func(s string) {
	policy, err := privacy.New(privacy.Default())
	if err != nil {
		panic(err)
	}
	transform := policy.Transforms(func() pipeline.Transform { return untransformed{} })()
	return func(s string) {
		var b pipeline.Batch
		b.URLs.Append([]byte(s))
		b.Keys.Append([]byte(s))
		b.Carried = []pipeline.Values{{Field: pipeline.Field{Name: "text"}}}
		b.Carried[0].Text.Append([]byte(s))
		_, _ = transform.Apply(&b)
	}
}

type untransformed struct{}

func (untransformed) Apply(*pipeline.Batch) (pipeline.Output, error) { return pipeline.Output{}, nil }

func operations() []operation {
	ops := slices.Concat(onURLs(), onParts(), onVisits())
	ops = append(ops,
		operation{"url --line-protocol", metrics, func(_, s string) func() {
			return func() {
				_ = lineproto.Serve(strings.NewReader(s), io.Discard, "url")
			}
		}},
		operation{"convert", objects, func(dir, s string) func() {
			in := filepath.Join(dir, "in")
			if err := os.WriteFile(in, []byte(s+"\n"), 0o600); err != nil {
				panic(err)
			}
			return func() {
				r, err := convert.Open(in, convert.Options{Format: convert.NDJSON})
				if err != nil {
					return
				}
				defer func() { _ = r.Close() }()
				_, _ = convert.Write(context.Background(), convert.Target{Path: filepath.Join(dir, "out.arrow"), Format: convert.Arrow, Log: slog.New(slog.DiscardHandler)}, r)
			}
		}},
	)
	for _, c := range codectest.Cases() {
		if strings.HasPrefix(c.Codec, "avro") || c.Codec == "protobuf" {
			continue // they read no text
		}
		attacks := lines
		if c.Codec == "ndjson" {
			attacks = objects
		}
		ops = append(ops, operation{"codec " + c.Name, attacks, func(_, s string) func() {
			return func() {
				k, b := c.Factory().New(), new(pipeline.Batch)
				k.Prepare(b)
				for _, p := range c.Prologue {
					k.Decode(b, []byte(p))
				}
				k.Decode(b, []byte(s))
				codec.DecodeCut(k, b, []byte(s))
			}
		}})
	}
	return ops
}

// onURLs are the operations on whole URLs.
func onURLs() []operation {
	base := urlcore.MustParse("https://h/" + strings.Repeat("b/", 50))
	ops := []operation{
		onText("parse", func(s string) { new(urlcore.Parser).Parse(new(urlcore.URL), []byte(s), base) }),
		onText("parse, all errors", func(s string) { (&urlcore.Parser{CollectErrors: true}).Parse(new(urlcore.URL), []byte(s), nil) }),
		onText("columns", func(s string) { _ = columns.Parse(new(columns.Columns), []byte(s), []int32{int32(len(s))}) }),
		onText("columns of dictionaries", func(s string) {
			_ = columns.Parse(&columns.Columns{Dictionaries: columns.Host | columns.Origin}, []byte(s), []int32{int32(len(s))})
		}),
		onText("redaction", redaction()),
		onText("rfc3986", func(s string) { _, _ = rfc3986.Parse(s) }),
		onText("rfc3986 resolve", func(s string) { _, _ = rfc3986.ResolveReference("http://h/a/b", s) }),
		onText("Spark's parse_url", func(s string) {
			if u, err := compat.ParseSpark(s); err == nil {
				key, _ := compat.ParseSparkKey("a")
				u.Param(key)
			}
		}),
		onText("ClickHouse's functions", func(s string) {
			u := compat.ClickHouse(s)
			_, _, _, _, _ = u.Domain(), u.Netloc(), u.Path(), u.ExtractURLParameters(), u.ExtractURLParameterNames()
			_, _, _, _ = u.CutURLParameter("a", "b"), u.CutWWW(), u.DecodeURLComponent(), u.CutToFirstSignificantSubdomain()
		}),
		onText("shown on a terminal", func(s string) { plain.Text(s) }),
		onURL("display", func(u *urlcore.URL) { display.Render(u, display.Options{}) }),
		onURL("display, limited", func(u *urlcore.URL) { display.Render(u, display.Options{Limit: 60}) }),
		onURL("JoinPath", func(u *urlcore.URL) { u.JoinPath("../a", "b/../..") }),
		onURL("relative", func(u *urlcore.URL) { u.MakeRelative(u); u.MakeRelative(base) }),
		onURL("file path", func(u *urlcore.URL) { _, _ = u.FilePath(urlcore.POSIX) }),
		onURL("segments", func(u *urlcore.URL) {
			for range u.Segments().All() {
			}
		}),
		onURL("site", func(u *urlcore.URL) { u.Site(psl.Default()) }),
	}
	for i, name := range canon.Forms() {
		ops = append(ops, onURL("canonical "+name, func(u *urlcore.URL) {
			c, err := canon.New(canon.Options{Form: canon.Form(i)})
			if err != nil {
				panic(err)
			}
			c.Append(nil, u.Bytes(urlcore.Href))
		}))
	}
	return ops
}

// onParts are the operations on parts of URLs: setters, which get the attacks without a scheme, parameters and escapes.
func onParts() []operation {
	var ops []operation
	for name, set := range map[string]func(*urlcore.URL, string){
		"href": func(u *urlcore.URL, s string) { _ = u.SetHref(s) }, "protocol": (*urlcore.URL).SetProtocol, "username": (*urlcore.URL).SetUsername,
		"password": (*urlcore.URL).SetPassword, "host": (*urlcore.URL).SetHost, "hostname": (*urlcore.URL).SetHostname, "port": (*urlcore.URL).SetPort,
		"pathname": (*urlcore.URL).SetPathname, "search": (*urlcore.URL).SetSearch, "hash": (*urlcore.URL).SetHash,
	} {
		ops = append(ops, onText("set "+name, func(s string) {
			u := urlcore.MustParse("https://user@h:1/p?q#f")
			set(u, strings.TrimPrefix(s, "https://"))
		}))
	}
	return append(ops,
		onText("append parameters", func(s string) {
			u := urlcore.MustParse("https://h/")
			for i := range len(s) / 10 {
				u.SearchParams().Append("a", strconv.Itoa(i))
			}
		}),
		onText("append parameters before a long fragment", func(s string) {
			u := urlcore.MustParse("https://h/#" + strings.Repeat("f", 5000)) // before a short one they are copied, 4 KiB at most
			for i := range len(s) / 10 {
				u.SearchParams().Append("a", strconv.Itoa(i))
			}
		}),
		onText("parameters", func(s string) {
			p := form.New(s)
			p.Sort()
			p.Delete("a")
			p.Set("k1", "x")
			_ = p.String()
			form.FromRecord(p.All())
		}),
		onText("decodeURI", func(s string) { _, _ = percent.DecodeURI(s); _, _ = percent.DecodeURIComponent(s) }),
		onText("fix up", func(s string) { percent.FixUp(s, &percent.Unreserved); percent.IRIToURI(s) }),
		onText("dot segments", func(s string) { rfc3986.RemoveDotSegments(s) }),
		onText("notation", func(s string) {
			for rest := []byte(s); len(rest) > 0; {
				start, end, _ := percent.NextNotation(rest)
				if end <= start {
					break
				}
				rest = rest[end:]
			}
		}),
	)
}
