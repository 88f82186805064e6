package s3

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"hash/crc64"
)

// castagnoli is computed by the CPU, at 10 GB/s and more.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// nvme is the polynomial of CRC-64/NVME, with its bits the other way round.
var nvme = crc64.MakeTable(0x9a6c9329ac4bc9b5)

// crc returns the checksum by which the server finds out that bytes were damaged on the way, nil without.
func (c *client) crc(content []byte) *string {
	if c.opts.Checksum == ChecksumNone {
		return nil
	}
	sum := binary.BigEndian.AppendUint32(nil, crc32.Checksum(content, castagnoli))
	text := base64.StdEncoding.EncodeToString(sum)
	return &text
}
