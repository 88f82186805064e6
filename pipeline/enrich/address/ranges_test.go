package address_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
	"github.com/urlmill/urlmill/pipeline/enrich/address"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.1": "192.0.2.1", "192.0.2.1:443": "192.0.2.1", "2001:db8::1": "2001:db8::1", "[2001:db8::1]": "2001:db8::1", "[2001:db8::1]:443": "2001:db8::1",
		"::ffff:192.0.2.1": "192.0.2.1", "fe80::1%eth0": "fe80::1",
		"": "", "-": "", "192.0.2": "", "192.0.2.1, 192.0.2.2": "", "example.com": "", "[192.0.2.1": "", "192.0.2.256": "", strings.Repeat("1", 100): "",
	} {
		addr, ok := address.Parse([]byte(text))
		if ok != (want != "") || ok && addr.String() != want {
			t.Errorf("%q is %v %v, want %q", text, addr, ok, want)
		}
	}
}

// TestFilesWithoutEnd gives devices, which have no size, to what reads files, and one that is too large.
func TestFilesWithoutEnd(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, address.MaxRangesFile+1); err != nil {
		t.Fatal(err)
	}
	device := os.DevNull
	if _, err := os.Stat("/dev/zero"); err == nil {
		device = "/dev/zero"
	}
	_, errRanges := address.ReadRanges([]string{device})
	_, errPlaces := address.Open([]string{device})
	for _, err := range []error{errRanges, errPlaces} {
		if err == nil || !strings.Contains(err.Error(), "is no regular file") {
			t.Error(err)
		}
	}
	if _, err := address.ReadRanges([]string{large}); err == nil || !strings.Contains(err.Error(), "is larger than 4MiB") {
		t.Error(err)
	}
}

// FuzzRanges reads files of ranges, the largest of which have to fit into the memory that is set aside for them.
func FuzzRanges(f *testing.F) {
	f.Add([]byte(`{"prefixes": [{"ipv6Prefix": "2001:db8::/32"}, {"ipv4Prefix": "192.0.2.0/24"}]}`))
	f.Add([]byte("ip,region\n192.0.2.0/30,x # one\n1::\n"))
	f.Add([]byte("[" + strings.Repeat("{},", 5000) + "\"1::\"]"))
	path := filepath.Join(f.TempDir(), "ranges")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		alloctest.Bound(t, len(data), 200, 1<<20, func() {
			r, err := address.ReadRanges([]string{path})
			if err == nil {
				_ = r.Has(netip.MustParseAddr("192.0.2.1"))
			}
		})
	})
}

// TestRanges reads the forms in which operators publish their addresses.
func TestRanges(t *testing.T) {
	const inside, outside = "192.0.2.5", "198.51.100.5"
	for text, wrong := range map[string]string{
		`{"creationTime": "2026-11-20T10:00:00.000000", "prefixes": [{"ipv6Prefix": "2001:db8::/32"}, {"ipv4Prefix": "192.0.2.0/24"}]}`: "",
		`{"prefixes": [{"ip_prefix": "192.0.2.0/28", "region": "eu"}], "ipv6_prefixes": [{"ipv6_prefix": "2001:db8::/32"}]}`:            "",
		`["192.0.2.5", "2001:db8::/32"]`: "",
		"192.0.2.0/25\n2001:db8::/32\n":  "",
		"# GPTBot\nip,region\r\n\"192.0.2.0/30\",x\r\nx;192.0.2.4/30\r\n2001:db8::1 # one\n": "",
		`{"prefixes": [{"ipv4Prefix": "192.0.2.0/33"}]}`:                                     `ipv4Prefix "192.0.2.0/33"`,
		`{"prefixes": []}`:                   "has no ranges",
		"":                                   "has no ranges",
		"192.0.2.0/24\nnonsense\n":           `line 2: "nonsense"`,
		"0.0.0.0/0\n192.0.2.0/24\n0.0.0.0/0": "covers every address",
		`{"prefixes": [`:                     "unexpected EOF",
		`["192.0.2.5"] x`:                    "more stands behind",
		`["192.0.2.5"`:                       "unexpected EOF",
		`{"a"}`:                              "invalid character",
		strings.Repeat("[", 20_000):          "exceeded max depth",
	} {
		path := filepath.Join(t.TempDir(), "ranges")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := address.ReadRanges([]string{path})
		if wrong != "" {
			if err == nil || !strings.Contains(err.Error(), wrong) {
				t.Errorf("%q: %v, want %q", text, err, wrong)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if !r.Has(netip.MustParseAddr(inside)) || !r.Has(netip.MustParseAddr("2001:db8::1")) || r.Has(netip.MustParseAddr(outside)) || r.Has(netip.MustParseAddr("2001:db9::")) {
			t.Errorf("%q: %v", text, r)
		}
	}
}
