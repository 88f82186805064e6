// The package mmdbwriter does not build where an int has 32 bits.

//go:build !386 && !arm

package address_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
	"github.com/oschwald/maxminddb-golang/v2"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
	"github.com/urlmill/urlmill/pipeline/enrich/address"
)

// mmdb writes a file with records by their networks.
func mmdb(t testing.TB, records map[string]mmdbtype.Map) string {
	t.Helper()
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: "Test", IncludeReservedNetworks: true})
	if err != nil {
		t.Fatal(err)
	}
	for network, record := range records {
		_, n, err := net.ParseCIDR(network)
		if err != nil {
			t.Fatal(err)
		}
		if err := tree.Insert(n, record); err != nil {
			t.Fatal(err)
		}
	}
	return write(t, tree)
}

// write writes a tree into a file.
func write(t testing.TB, tree *mmdbwriter.Tree) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "test.mmdb"))
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

func name(en string) mmdbtype.Map {
	return mmdbtype.Map{"names": mmdbtype.Map{"en": mmdbtype.String(en), "de": mmdbtype.String("x")}}
}

func city(t testing.TB) string {
	return mmdb(t, map[string]mmdbtype.Map{
		"192.0.2.0/24": {
			"country": mmdbtype.Map{"iso_code": mmdbtype.String("DE")}, "city": name("Berlin"),
			"subdivisions": mmdbtype.Slice{mmdbtype.Map{"iso_code": mmdbtype.String("BE")}},
			"location":     mmdbtype.Map{"latitude": mmdbtype.Float64(52.5), "longitude": mmdbtype.Float64(13.25)},
		},
		"2001:db8::/32":   {"country": mmdbtype.Map{"iso_code": mmdbtype.String("FR")}, "subdivisions": mmdbtype.Slice{name("Bretagne")}},
		"198.51.100.0/24": {"country": mmdbtype.Map{"iso_code": mmdbtype.String("US")}},
	})
}

func networks(t testing.TB) string {
	return mmdb(t, map[string]mmdbtype.Map{
		"192.0.2.0/24":   {"autonomous_system_number": mmdbtype.Uint32(4_200_000_001), "autonomous_system_organization": mmdbtype.String("Example AG")},
		"203.0.113.0/24": {"country_code": mmdbtype.String("AT"), "asn": mmdbtype.String("AS64496"), "as_name": mmdbtype.String("Flat"), "country": mmdbtype.String("Austria"), "lat": mmdbtype.String("1.5"), "lng": mmdbtype.String("-2")},
	})
}

// TestFind asks two files, in MaxMind's words and in those of flat files.
func TestFind(t *testing.T) {
	files, err := address.Open([]string{city(t), networks(t)})
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[string]string{
		"192.0.2.7": "DE BE Berlin 52.5 13.25 true 4200000001 Example AG", "::ffff:192.0.2.7": "DE BE Berlin 52.5 13.25 true 4200000001 Example AG",
		"2001:db8::1": "FR Bretagne  0 0 false 0 ", "198.51.100.1": "US   0 0 false 0 ", "203.0.113.1": "AT   1.5 -2 true 64496 Flat", "10.0.0.1": "   0 0 false 0 ",
	} {
		for range 2 { // read, and remembered
			parsed, _ := address.Parse([]byte(addr))
			p := files.Find(parsed)
			if got := fmt.Sprint(p.Country, " ", p.Region, " ", p.City, " ", p.Lat, " ", p.Lon, " ", p.HasPoint, " ", p.ASN, " ", p.Org); got != want {
				t.Errorf("%s is in %q, want %q", addr, got, want)
			}
		}
	}
	text := []byte("192.0.2.7")
	if n := testing.AllocsPerRun(100, func() {
		addr, _ := address.Parse(text)
		files.Find(addr)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestOpenErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.mmdb")
	if err := os.WriteFile(path, []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := address.Open([]string{path}); err == nil || !strings.Contains(err.Error(), "is no file of MaxMind's format") {
		t.Error(err)
	}
	if _, err := address.Open([]string{path + "x"}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestTree compares the tree with maxminddb's: all sizes of records, both versions, and addresses at the borders of networks.
func TestTree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, version := range []int{4, 6} {
		for _, size := range []int{24, 28, 32} {
			tree, err := mmdbwriter.New(mmdbwriter.Options{IPVersion: version, RecordSize: size, IncludeReservedNetworks: true, DisableIPv4Aliasing: true})
			if err != nil {
				t.Fatal(err)
			}
			var ask []netip.Addr
			for i := range 3000 {
				bits, bytes := 32, 4
				if version == 6 && i%2 == 0 {
					bits, bytes = 128, 16
				}
				ip := make(net.IP, bytes)
				for k := range ip {
					ip[k] = byte(r.IntN(1 << (1 + r.IntN(8))))
				}
				mask := net.CIDRMask(4+r.IntN(bits-3), bits)
				if err := tree.Insert(&net.IPNet{IP: ip.Mask(mask), Mask: mask}, mmdbtype.Map{"asn": mmdbtype.Uint32(i)}); err != nil {
					t.Fatal(err)
				}
				addr, _ := netip.AddrFromSlice(ip)
				ask = append(ask, addr, addr.Next(), addr.Prev(), netip.AddrFrom4([4]byte{ip[0], ip[1], byte(i), ip[3]}))
			}
			path := write(t, tree)
			files, err := address.Open([]string{path})
			if err != nil {
				t.Fatal(err)
			}
			reader, err := maxminddb.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, addr := range ask {
				var want int64
				if addr.IsValid() {
					_ = reader.Lookup(addr.Unmap()).DecodePath(&want, "asn")
					if got := files.Find(addr.Unmap()).ASN; got != want {
						t.Fatalf("IPv%d, %d bits: %s is in %d, want %d", version, size, addr, got, want)
					}
				}
			}
		}
	}
}

// FuzzParse compares addresses with those of netip.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"192.0.2.7", "0.0.0.0", "256.1.1.1", "01.2.3.4", "1.2.3", "1.2.3.4.5", "1..2.3", "1.2.3.4:5", "::ffff:1.2.3.4", "4294967296.0.0.1", "18446744073709551616.0.0.1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, err := netip.ParseAddr(text)
		got, ok := address.Parse([]byte(text))
		if err == nil && want.Is4() != (ok && got == want) && want.Is4() || ok && err != nil && strings.Count(text, ".") == 3 && !strings.Contains(text, ":") {
			t.Fatalf("%q is %v, %v", text, got, ok)
		}
	})
}

// FuzzFind asks damaged files. A record that says more than the decoder's own bounds is as one that says nothing.
func FuzzFind(f *testing.F) {
	for _, path := range []string{city(f), networks(f)} {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	path := filepath.Join(f.TempDir(), "fuzzed.mmdb")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		alloctest.Bound(t, len(data), 64, 32<<20, func() {
			files, err := address.Open([]string{path})
			if err != nil {
				return
			}
			for _, text := range []string{"192.0.2.7", "203.0.113.1", "2001:db8::1", "::"} {
				p := files.Find(netip.MustParseAddr(text))
				if n := len(p.Country) + len(p.Region) + len(p.City) + len(p.Org); n > 4*128 {
					t.Fatalf("%d bytes of names", n)
				}
			}
		})
	})
}

func BenchmarkAddress(b *testing.B) {
	paths := []string{city(b), networks(b)}
	texts := [][]byte{[]byte("192.0.2.7"), []byte("203.0.113.9"), []byte("198.51.100.77"), []byte("10.1.2.3")}
	b.Run("urlmill", func(b *testing.B) {
		files, err := address.Open(paths)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			addr, _ := address.Parse(texts[i%len(texts)])
			files.Find(addr)
		}
	})
	b.Run("maxminddb", func(b *testing.B) {
		var readers []*maxminddb.Reader
		for _, path := range paths {
			r, err := maxminddb.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			readers = append(readers, r)
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			addr, _ := netip.ParseAddr(string(texts[i%len(texts)]))
			var country string
			var number uint
			if err := readers[0].Lookup(addr).DecodePath(&country, "country", "iso_code"); err != nil {
				b.Fatal(err)
			}
			if err := readers[1].Lookup(addr).DecodePath(&number, "autonomous_system_number"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
