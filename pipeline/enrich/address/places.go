// Package address says where an address is and whose network it is in, by files of MaxMind's format, and whether it is one of an
// operator's.
package address

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/oschwald/maxminddb-golang/v2"

	"github.com/urlmill/urlmill/config"
)

// Parse returns the address that a text is, perhaps with a port, an IPv6 address in brackets or with a zone. IPv4 in IPv6 is IPv4.
func Parse(text []byte) (netip.Addr, bool) {
	if len(text) == 0 || len(text) > 64 || !digits[text[0]] || !digits[text[len(text)-1]] && text[0] != '[' && bytes.IndexByte(text, '%') < 0 {
		return netip.Addr{}, false // such as the name of a host, for which netip would make an error in memory of its own
	}
	s := unsafe.String(&text[0], len(text)) // what netip keeps of it is a zone, which is taken away
	if s[0] == '[' && s[len(s)-1] == ']' {
		addr, err := netip.ParseAddr(s[1 : len(s)-1])
		return addr.Unmap().WithZone(""), err == nil
	}
	if s[0] == '[' || strings.Count(s, ":") == 1 {
		port, err := netip.ParseAddrPort(s)
		return port.Addr().Unmap().WithZone(""), err == nil
	}
	addr, err := netip.ParseAddr(s)
	return addr.Unmap().WithZone(""), err == nil
}

// digits are the bytes that an address begins and ends with.
var digits = func() (set [256]bool) {
	for _, b := range []byte("0123456789abcdefABCDEF:[") {
		set[b] = true
	}
	return set
}()

// Place is what files say of an address. It is immutable; what is not known is empty.
type Place struct {
	offset uintptr

	Country, Region, City, Org string
	Lat, Lon                   float64
	HasPoint                   bool
	ASN                        int64 // 0: not known
}

// Files are open files, asked in their order: of each column, the first that knows it says it. They are safe for concurrent use.
type Files struct{ files []*file }

type file struct {
	reader *maxminddb.Reader
	// slots are places by the offset of their records, so that few records are decoded twice, and none for each address.
	slots []atomic.Pointer[Place]
}

const (
	numSlots = 1 << 14
	maxName  = 128 // bytes of a name; there are none that long
	// maxDatabase is how large a file of places may be.
	maxDatabase = 1 << 30
	// CacheMemory is about what the remembered places of a file hold.
	CacheMemory = numSlots * int64(unsafe.Sizeof(Place{})+8+4*maxName/4)
)

// Open reads the files. They lie in memory: one that is overwritten in its place changes nothing until it is opened again.
func Open(paths []string) (*Files, error) {
	f := new(Files)
	for _, path := range paths {
		data, err := config.ReadFile(path, maxDatabase)
		if err != nil {
			return nil, err
		}
		reader, err := maxminddb.OpenBytes(data)
		if err != nil {
			return nil, fmt.Errorf("%s is no file of MaxMind's format (.mmdb): %w", path, err)
		}
		f.files = append(f.files, &file{reader, make([]atomic.Pointer[Place], numSlots)})
	}
	return f, nil
}

// Find puts together what the files say of an address into p.
func (f *Files) Find(addr netip.Addr, p *Place) {
	*p = Place{}
	for i, file := range f.files {
		found := file.lookup(addr)
		switch {
		case found == nil:
		case i == 0:
			*p = *found
		default:
			p.add(found)
		}
	}
}

// lookup returns what a file says of an address, nil if it says nothing.
func (f *file) lookup(addr netip.Addr) *Place {
	result := f.reader.Lookup(addr)
	if !result.Found() {
		return nil
	}
	offset := result.Offset()
	slot := &f.slots[(uint64(offset)*0x9E3779B97F4A7C15)>>(64-14)]
	if p := slot.Load(); p != nil && p.offset == offset {
		return p
	}
	var record any
	if err := result.Decode(&record); err != nil {
		return nil // a broken record says nothing
	}
	p := read(record)
	p.offset = offset
	slot.Store(p)
	return p
}

// add adds what p does not have yet.
func (p *Place) add(other *Place) {
	for _, field := range []struct{ to, from *string }{
		{&p.Country, &other.Country}, {&p.Region, &other.Region}, {&p.City, &other.City}, {&p.Org, &other.Org},
	} {
		if *field.to == "" {
			*field.to = *field.from
		}
	}
	if !p.HasPoint {
		p.Lat, p.Lon, p.HasPoint = other.Lat, other.Lon, other.HasPoint
	}
	if p.ASN == 0 {
		p.ASN = other.ASN
	}
}
