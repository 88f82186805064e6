package accesslog

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/urlmill/urlmill/pipeline"
)

// samples returns the lines of testdata/NAME.log, which are written as the programs write them, by the names of the formats.
func samples(t testing.TB) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.log")
	if err != nil || len(files) == 0 {
		t.Fatal("no samples:", err)
	}
	all := make(map[string][]string)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".log")] = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	}
	return all
}

// sampleOptions returns the options that read the sample of a format.
func sampleOptions(format string) Options {
	o := Options{Format: format, Base: "https://base.example"}
	switch format {
	case "s3":
		o.Base = "" // a line may end before the host, as older ones do
	case RealTime:
		o.Fields = strings.Fields("timestamp c-ip time-to-first-byte sc-status sc-bytes cs-method cs-protocol x-host-header cs-uri-stem x-edge-location " +
			"x-edge-request-id cs-user-agent cs-referer cs-uri-query asn")
	}
	return o
}

// TestSamples: testdata/NAME.json has a line for each row of NAME.log, with all columns that are not null, the URL and the fault.
// UPDATE_SAMPLES=1 writes them, to be read before they are kept.
func TestSamples(t *testing.T) {
	for format, lines := range samples(t) {
		t.Run(format, func(t *testing.T) {
			var got bytes.Buffer
			encoder := json.NewEncoder(&got)
			encoder.SetEscapeHTML(false)
			for _, row := range decode(t, sampleOptions(format), lines...) {
				if err := encoder.Encode(row); err != nil {
					t.Fatal(err)
				}
			}
			file := filepath.Join("testdata", format+".json")
			if os.Getenv("UPDATE_SAMPLES") == "1" {
				if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSamplesBroken: a line that ends too early gives no URL that the whole line does not have, and one of JSON gives none.
func TestSamplesBroken(t *testing.T) {
	for format, lines := range samples(t) {
		o := sampleOptions(format)
		_, c := mustCodec(t, o)
		var b pipeline.Batch
		url := func(line string) (string, bool) {
			b.Reset()
			c.Prepare(&b)
			if !c.Decode(&b, []byte(line)) || !b.URLs.Valid[0] {
				return "", false
			}
			return string(b.URLs.At(0)), true
		}
		for _, line := range lines {
			whole, _ := url(line)
			if whole == "" || strings.HasPrefix(line, "#") {
				continue
			}
			for n := range line {
				part, ok := url(line[:n])
				if _, isJSON := jsonFormats[format]; ok && (isJSON || !strings.HasPrefix(whole, part) && !strings.HasPrefix(part, "/")) {
					t.Fatalf("%s: %q gives %q, and the whole line %q", format, line[:n], part, whole)
				}
			}
		}
	}
}

// TestSamplesAuto: the first line of a sample is recognised, but for formats whose lines others have as well or that need options.
func TestSamplesAuto(t *testing.T) {
	names := map[string]string{"fastly": "common", "iis": W3C, "cloudfront": W3C, RealTime: "", "api_gateway_clf": ""}
	for format, lines := range samples(t) {
		var log bytes.Buffer
		f, _ := mustCodec(t, Options{Format: Auto, Base: "https://base.example"})
		f.(*autoFactory).SetLog(slog.New(slog.NewTextHandler(&log, nil)))
		c := f.New()
		var b pipeline.Batch
		c.Prepare(&b)
		for _, line := range lines {
			c.Decode(&b, []byte(line))
		}
		want, other := names[format]
		if !other {
			want = format
		}
		if got := log.String(); want == "" && got != "" || want != "" && !strings.Contains(got, "format="+want+"\n") {
			t.Errorf("%s: log %q", format, got)
		}
	}
}

// TestSamplesAll: every format has a sample but for those that are tested as text elsewhere.
func TestSamplesAll(t *testing.T) {
	all := samples(t)
	for _, format := range Formats() {
		if _, ok := all[format]; !ok && !slices.Contains(strings.Fields("auto common combined elb main nginx squid w3c"), format) {
			t.Errorf("%s has no sample", format)
		}
	}
}
