// Package address says where an address is and whose network it is in, by files of MaxMind's format, and whether it is one of an
// operator's.
package address

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/oschwald/maxminddb-golang/v2"
)

// Parse returns the address that a text is, perhaps with a port, an IPv6 address in brackets or with a zone. IPv4 in IPv6 is IPv4.
func Parse(text []byte) (netip.Addr, bool) {
	if len(text) == 0 || len(text) > 64 {
		return netip.Addr{}, false
	}
	s := unsafe.String(&text[0], len(text)) // what netip keeps of it is a zone, which is taken away
	if addr, err := netip.ParseAddr(s); err == nil {
		return addr.Unmap().WithZone(""), true
	}
	if inner, ok := strings.CutPrefix(s, "["); ok && strings.HasSuffix(inner, "]") {
		addr, err := netip.ParseAddr(inner[:len(inner)-1])
		return addr.Unmap().WithZone(""), err == nil
	}
	port, err := netip.ParseAddrPort(s)
	return port.Addr().Unmap().WithZone(""), err == nil
}

// Place is what files say of an address. It is immutable; what is not known is empty.
type Place struct {
	offset uintptr
	file   *file

	Country, Region, City, Org string
	Lat, Lon                   float64
	HasPoint                   bool
	ASN                        int64 // 0: not known
}

// Files are open files, asked in their order: of each column, the first that knows it says it. They are safe for concurrent use.
type Files struct {
	files []*file
	// slots are places by the offset of their records, so that few records are decoded twice, and none for each address.
	slots []atomic.Pointer[Place]
}

type file struct {
	path   string
	reader *maxminddb.Reader
}

const (
	numSlots = 1 << 14
	maxName  = 128 // bytes of a name; there are none that long
	// CacheMemory is about what remembered places hold.
	CacheMemory = numSlots * int64(unsafe.Sizeof(Place{})+8+4*maxName/4)
)

// Open reads the files. They lie in memory: one that is overwritten in its place changes nothing until it is opened again.
func Open(paths []string) (*Files, error) {
	f := &Files{slots: make([]atomic.Pointer[Place], numSlots)}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		reader, err := maxminddb.OpenBytes(data)
		if err != nil {
			return nil, fmt.Errorf("%s is no file of MaxMind's format (.mmdb): %w", path, err)
		}
		f.files = append(f.files, &file{path, reader})
	}
	return f, nil
}

// Find puts together what the files say of an address into p.
func (f *Files) Find(addr netip.Addr, p *Place) {
	*p = Place{}
	for i, file := range f.files {
		found := f.lookup(file, addr)
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
func (f *Files) lookup(file *file, addr netip.Addr) *Place {
	result := file.reader.Lookup(addr)
	if !result.Found() {
		return nil
	}
	offset := result.Offset()
	slot := &f.slots[(uint64(offset)*0x9E3779B97F4A7C15)>>(64-14)]
	if p := slot.Load(); p != nil && p.offset == offset && p.file == file {
		return p
	}
	var record any
	if err := result.Decode(&record); err != nil {
		return nil // a broken record says nothing
	}
	p := read(record)
	p.offset, p.file = offset, file
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
