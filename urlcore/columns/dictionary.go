package columns

import (
	"hash/maphash"
	"math/bits"
	"slices"

	"github.com/urlmill/urlmill/urlcore/internal/scan"
)

// Dictionary is a column of strings as numbers of its distinct values. A null has the index 0.
//
// The values stay, with their numbers, over many batches, until [Columns.ResetDictionaries]; the indices are those of
// the last batch.
type Dictionary struct {
	Indices []int32
	Validity
	// Values are the distinct values in the order in which they were met. None is null.
	Values Text

	seed   maphash.Seed
	hashes []uint64 // of the values
	// places is a hash table of a power of two of places, at most half of them in use: the number of a value and
	// one, or 0.
	places []uint32
}

// dictionaryColumns are the columns that may be given as a [Dictionary].
const dictionaryColumns = Host | Origin | RegistrableDomain

// dictionary returns the dictionary for a column.
func (c *Columns) dictionary(mask Mask) *Dictionary {
	switch mask {
	case Host:
		return &c.Hosts
	case Origin:
		return &c.Origins
	default:
		return &c.RegistrableDomains
	}
}

// isDictionary reports whether a column is given as a dictionary.
func (c *Columns) isDictionary(mask Mask) bool { return c.Dictionaries&dictionaryColumns&mask != 0 }

// ResetDictionaries forgets the values of all dictionaries, and their numbers.
func (c *Columns) ResetDictionaries() {
	for _, d := range [...]*Dictionary{&c.Hosts, &c.Origins, &c.RegistrableDomains} {
		d.Values.reset()
		d.Values.Validity.all(0)
		d.hashes = d.hashes[:0]
		clear(d.places)
	}
}

// begin empties the indices for a new batch.
func (d *Dictionary) begin() {
	d.Indices = d.Indices[:0]
	d.Validity.reset()
	if d.places == nil {
		const first = 1024
		d.seed, d.places = maphash.MakeSeed(), make([]uint32, first)
		d.Values.reset()
	}
}

// add appends the indices of a stretch's values: those at the words start and end of parts, where flags has flag.
func (d *Dictionary) add(words []uint32, start, end int, flags []Flags, flag Flags, input, side []byte) {
	at := len(d.Indices)
	d.Indices = slices.Grow(d.Indices, len(flags))[:at+len(flags)]
	for i, f := range flags {
		row := words[i*scan.PartsWords:]
		index := int32(0)
		if f&flag != 0 {
			from, to, text := row[start], row[end], input
			if from&scan.Side != 0 {
				from, to, text = from&^scan.Side, to&^scan.Side, side
			}
			index = d.number(text[from:to])
		}
		d.Indices[at+i] = index
	}
}

// number returns the number of a value, which it gives it when it is new.
func (d *Dictionary) number(value []byte) int32 {
	hash := maphash.Bytes(d.seed, value)
	mask := uint64(len(d.places) - 1)
	place := hash & mask
	for ; d.places[place] != 0; place = (place + 1) & mask {
		if n := int(d.places[place] - 1); d.hashes[n] == hash && string(d.Values.At(n)) == string(value) {
			return int32(n)
		}
	}
	n := len(d.hashes)
	d.hashes = append(d.hashes, hash)
	d.Values.Data = append(d.Values.Data, value...)
	d.Values.Offsets = append(d.Values.Offsets, int32(len(d.Values.Data)))
	d.places[place] = uint32(n + 1)
	if 2*len(d.hashes) > len(d.places) {
		d.grow()
	}
	return int32(n)
}

// grow doubles the table.
func (d *Dictionary) grow() {
	d.places = make([]uint32, 1<<bits.Len(uint(len(d.places))))
	mask := uint64(len(d.places) - 1)
	for n, hash := range d.hashes {
		place := hash & mask
		for d.places[place] != 0 {
			place = (place + 1) & mask
		}
		d.places[place] = uint32(n + 1)
	}
}

// finish makes the bitmaps of a batch.
func (d *Dictionary) finish(flags []Flags, flag Flags) {
	d.Validity.fill(flags, flag)
	d.Values.Validity.all(len(d.hashes))
}

func (d *Dictionary) compact(keep []bool) {
	d.Indices = compactSlice(d.Indices, keep)
	d.Validity.compact(keep)
}
