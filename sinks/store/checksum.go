package store

import (
	"encoding/hex"
	"fmt"
	"hash"
	"strings"

	"github.com/zeebo/xxh3"
)

// Checksum computes the checksum of a file. Its text is "xxh3:" and 16 hexadecimal digits: XXH3 with 64 bits and
// without a seed, big-endian, as xxhsum -H3 prints it.
//
// It is there to find damage, not malice. SHA-256 would cost twenty times as much, more than a twentieth of a core
// at the rates that files are written with.
type Checksum struct{ h hash.Hash64 }

const checksumPrefix = "xxh3:"

// NewChecksum returns the checksum of nothing yet.
func NewChecksum() Checksum { return Checksum{xxh3.New()} }

// Write implements io.Writer. It never fails.
func (c Checksum) Write(p []byte) (int, error) { return c.h.Write(p) }

// String returns the checksum of what has been written.
func (c Checksum) String() string { return checksumPrefix + hex.EncodeToString(c.h.Sum(nil)) }

// CheckChecksum returns an error if s is not the text of a checksum that this version can compute.
func CheckChecksum(s string) error {
	digits, ok := strings.CutPrefix(s, checksumPrefix)
	if b, err := hex.DecodeString(digits); !ok || err != nil || len(b) != 8 {
		return fmt.Errorf("%q is not a checksum that this version knows, such as %s0123456789abcdef", s, checksumPrefix)
	}
	return nil
}
