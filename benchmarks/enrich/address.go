package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
	"github.com/oschwald/maxminddb-golang/v2"

	"github.com/urlmill/urlmill/pipeline/enrich/address"
)

// placeFiles returns the names of the files of places.
func placeFiles(folder string) (countries, networks string) {
	return filepath.Join(folder, "countries.mmdb"), filepath.Join(folder, "networks.mmdb")
}

// writePlaces writes a file of n networks, each with one of so many records.
func writePlaces(path string, n, records int, record func(i int) mmdbtype.Map) error {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: "Test", RecordSize: 28, IncludeReservedNetworks: true})
	if err != nil {
		return err
	}
	for range n {
		mask := net.CIDRMask(10+r.IntN(15), 32)
		ip := net.IPv4(byte(1+r.IntN(223)), byte(r.IntN(256)), byte(r.IntN(256)), 0).Mask(mask)
		if err := tree.Insert(&net.IPNet{IP: ip, Mask: mask}, record(r.IntN(records))); err != nil {
			return err
		}
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := tree.WriteTo(f); err != nil {
		return err
	}
	return f.Close()
}

// clientAddresses returns n random addresses.
func clientAddresses(n int) [][]byte {
	r := rand.New(rand.NewPCG(seed, 4))
	texts := make([][]byte, n)
	for i := range texts {
		texts[i] = fmt.Appendf(nil, "%d.%d.%d.%d", 1+r.IntN(223), r.IntN(256), r.IntN(256), r.IntN(256))
	}
	return texts
}

// addressGroups look up the country, the number and the name of the network of addresses of which each is new, in two files.
func addressGroups(folder string, _ int) ([]group, func(), error) {
	countries, networks := placeFiles(folder)
	if err := writePlaces(countries, 100_000, 240, func(i int) mmdbtype.Map {
		return mmdbtype.Map{"country": mmdbtype.Map{"iso_code": mmdbtype.String(fmt.Sprintf("%c%c", 'A'+i/26, 'A'+i%26)), "names": mmdbtype.Map{"en": mmdbtype.String(fmt.Sprint("Country ", i))}}}
	}); err != nil {
		return nil, nil, err
	}
	if err := writePlaces(networks, 100_000, 10_000, func(i int) mmdbtype.Map {
		return mmdbtype.Map{"autonomous_system_number": mmdbtype.Uint32(i), "autonomous_system_organization": mmdbtype.String(fmt.Sprint("Organisation ", i))}
	}); err != nil {
		return nil, nil, err
	}
	files, err := address.Open([]string{countries, networks})
	if err != nil {
		return nil, nil, err
	}
	places, err := maxminddb.Open(countries)
	if err != nil {
		return nil, nil, err
	}
	owners, err := maxminddb.Open(networks)
	if err != nil {
		return nil, nil, err
	}
	texts := clientAddresses(logRows)
	g := group{Name: "address, new"}
	g.add("urlmill", len(texts), func() {
		for _, text := range texts {
			addr, _ := address.Parse(text)
			Sink += int(files.Find(addr).ASN)
		}
	})
	g.add("maxminddb-golang", len(texts), func() {
		for _, text := range texts {
			addr, err := netip.ParseAddr(string(text))
			if err != nil {
				panic(err)
			}
			var country, owner string
			var number uint
			network := owners.Lookup(addr)
			for _, err := range []error{
				places.Lookup(addr).DecodePath(&country, "country", "iso_code"),
				network.DecodePath(&number, "autonomous_system_number"), network.DecodePath(&owner, "autonomous_system_organization"),
			} {
				if err != nil {
					panic(err)
				}
			}
			Sink += int(number)
		}
	})
	return []group{g}, func() { _, _ = places.Close(), owners.Close() }, nil
}
