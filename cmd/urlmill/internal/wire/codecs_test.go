package wire

import (
	"slices"
	"testing"

	"github.com/urlmill/urlmill/sources/codec/accesslog"
	"github.com/urlmill/urlmill/sources/codec/codectest"
)

// TestCodecsTested: what codectest does with every one of its cases, realistic and malformed records, allocations, a fuzz
// target and a benchmark, is done for every codec and every format of access logs that a configuration may name.
func TestCodecsTested(t *testing.T) {
	var codecs, names []string
	for _, c := range codectest.Cases() {
		codecs, names = append(codecs, c.Codec), append(names, c.Name)
	}
	for _, kind := range Standard().Codecs {
		if !slices.Contains(codecs, kind.Name) {
			t.Errorf("codec %s has no case in codectest", kind.Name)
		}
	}
	for _, format := range append(accesslog.Formats(), "nginx", "apache", "caddy") {
		if !slices.Contains(names, "access_log/"+format) {
			t.Errorf("access logs %s have no case in codectest", format)
		}
	}
}
