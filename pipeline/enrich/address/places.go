// Package address says where an address is and whose network it is in, by files of MaxMind's format, and whether it is one of an
// operator's.
package address

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
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
	if addr, ok := parse4(text); ok {
		return addr, true
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

// parse4 returns the address of IPv4 that a text is. It may say no to one.
func parse4(text []byte) (netip.Addr, bool) {
	var a [4]byte
	part, n, k := uint(0), 0, 0
	for _, c := range text {
		if d := uint(c - '0'); d <= 9 {
			if n > 0 && part == 0 { // a zero in front
				return netip.Addr{}, false
			}
			if part = 10*part + d; part > 255 {
				return netip.Addr{}, false
			}
			n++
			continue
		}
		if c != '.' || n == 0 || k == 3 {
			return netip.Addr{}, false
		}
		a[k] = byte(part)
		k++
		part, n = 0, 0
	}
	a[3] = byte(part)
	return netip.AddrFrom4(a), k == 3 && n > 0
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
	// at is where each file, or the one, has its record: the offset and 1, 0 for none.
	at []uint32

	Country, Region, City, Org string
	Lat, Lon                   float64
	HasPoint                   bool
	ASN                        int64 // 0: not known
}

// Files are open files, asked in their order: of each column, the first that knows it says it. They are safe for concurrent use.
type Files struct {
	files []*file
	slots slots // of what all files together say
}

type file struct {
	reader *maxminddb.Reader
	tree   tree
	slots  slots // of records, so that few are decoded twice
}

// slots are places by where their records are.
type slots []atomic.Pointer[Place]

// of returns the slot for a place.
func (s slots) of(at []uint32) *atomic.Pointer[Place] {
	h := uint64(0)
	for _, offset := range at {
		h = (h ^ uint64(offset)) * 0x9E3779B97F4A7C15
	}
	return &s[h>>(64-slotBits)]
}

const (
	slotBits = 14
	numSlots = 1 << slotBits
	maxName  = 128 // bytes of a name; there are none that long
	// maxDatabase is how large a file of places may be.
	maxDatabase = 1 << 30
	// CacheMemory is about what a file holds beside itself: remembered places, its own and those of all files together, and a table.
	CacheMemory = 2*numSlots*int64(unsafe.Sizeof(Place{})+8+8+4*maxName/4) + 4<<16
)

// Open reads the files. They lie in memory: one that is overwritten in its place changes nothing until it is opened again.
func Open(paths []string) (*Files, error) {
	f := &Files{slots: make(slots, numSlots)}
	for _, path := range paths {
		data, err := config.ReadFile(path, maxDatabase)
		if err != nil {
			return nil, err
		}
		reader, err := maxminddb.OpenBytes(data)
		if err != nil {
			return nil, fmt.Errorf("%s is no file of MaxMind's format (.mmdb): %w", path, err)
		}
		m := &reader.Metadata
		tree, ok := newTree(data, m.NodeCount, m.RecordSize, m.IPVersion)
		if !ok {
			return nil, fmt.Errorf("%s is cut short: it says that it has %d nodes", path, m.NodeCount)
		}
		f.files = append(f.files, &file{reader, tree, make(slots, numSlots)})
	}
	return f, nil
}

// Find returns what the files say of an address.
func (f *Files) Find(addr netip.Addr) *Place {
	var buf [4]uint32
	at := buf[:0]
	for _, file := range f.files {
		offset, ok := file.tree.find(addr)
		if ok {
			offset++ // a file has at most maxDatabase bytes
		}
		at = append(at, offset)
	}
	slot := f.slots.of(at)
	if p := slot.Load(); p != nil && slices.Equal(p.at, at) {
		return p
	}
	p := &Place{at: slices.Clone(at)}
	for i, file := range f.files {
		if at[i] > 0 {
			p.add(file.place(at[i : i+1]))
		}
	}
	slot.Store(p)
	return p
}

// place returns the record at an offset.
func (f *file) place(at []uint32) *Place {
	slot := f.slots.of(at)
	if p := slot.Load(); p != nil && p.at[0] == at[0] {
		return p
	}
	p, record := new(Place), any(nil)
	if err := f.reader.LookupOffset(uintptr(at[0] - 1)).Decode(&record); err == nil { // a broken record says nothing
		p = read(record)
	}
	p.at = slices.Clone(at)
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
