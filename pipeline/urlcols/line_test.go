// The package mmdbwriter does not build where an int has 32 bits.

//go:build !386 && !arm

package urlcols_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"

	"github.com/urlmill/urlmill/internal/dev/agentlist"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/enrich"
	"github.com/urlmill/urlmill/pipeline/privacy"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/sources/codec/accesslog"
)

// countryFile writes a file of places, and returns its name.
func countryFile(t *testing.T) string {
	tree, err := mmdbwriter.New(mmdbwriter.Options{IncludeReservedNetworks: true})
	if err != nil {
		t.Fatal(err)
	}
	_, network, _ := net.ParseCIDR("192.0.2.0/24")
	if err := tree.Insert(network, mmdbtype.Map{"country_code": mmdbtype.String("DE"), "asn": mmdbtype.Uint32(64496)}); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "places.mmdb"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.WriteTo(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

type passed struct{}

func (passed) Apply(*pipeline.Batch) (pipeline.Output, error) { return pipeline.Output{}, nil }

// TestLineAllocations makes everything of lines of the Combined Log Format: redaction, all columns of the URL, acquisition, user agent and
// address. What has been seen before allocates nothing.
func TestLineAllocations(t *testing.T) {
	factory, err := accesslog.New(accesslog.Options{Format: "combined", Base: "https://www.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	policy, err := privacy.New(privacy.Default())
	if err != nil {
		t.Fatal(err)
	}
	acquisition, agent := enrich.Default(), enrich.DefaultUserAgent()
	plan, err := urlcols.New(urlcols.Options{
		Carried: factory.Fields(), HasBase: factory.HasBase(), KeepsRecords: factory.KeepsRecords(),
		Acquisition: &acquisition, UserAgent: &agent, Address: &enrich.Address{Files: []string{countryFile(t)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var lines [][]byte
	for i, text := range agentlist.Distinct(200, 19) {
		lines = append(lines, fmt.Appendf(nil, `192.0.2.%d - - [23/Nov/2026:12:00:00 +0000] "GET /p/%d?utm_source=x&utm_medium=email HTTP/1.1" 200 12 "https://www.bing.com/search?q=a" "%s"`, i%256, i, text))
	}
	c, b, redactor, lender := factory.New(), new(pipeline.Batch), policy.Transforms(func() pipeline.Transform { return passed{} })(), plan.NewLender()
	all := func() {
		b.Reset()
		c.Prepare(b)
		for i, line := range lines {
			c.Decode(b, line)
			b.Offsets = append(b.Offsets, int64(i))
		}
		if _, err := redactor.Apply(b); err != nil {
			t.Fatal(err)
		}
		if err := lender.Parse(b); err != nil {
			t.Fatal(err)
		}
		if _, err := lender.View(); err != nil {
			t.Fatal(err)
		}
		lender.Close()
	}
	all()
	if n := testing.AllocsPerRun(20, all); n != 0 {
		t.Errorf("%v allocations in %d lines", n, len(lines))
	}
}
