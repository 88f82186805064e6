package s3

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"time"
)

// castagnoli is computed by the CPU, at 10 GB/s and more.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// crc returns the checksum by which the server finds out that bytes were damaged on the way, nil without.
func (s *Store) crc(content []byte) *string {
	if s.opts.Checksum == ChecksumNone {
		return nil
	}
	sum := binary.BigEndian.AppendUint32(nil, crc32.Checksum(content, castagnoli))
	text := base64.StdEncoding.EncodeToString(sum)
	return &text
}

// wait makes the pause after a failed attempt, and returns false when the context has ended.
func (s *Store) wait(ctx context.Context, attempt int) bool {
	pause := min(10*time.Second, 50*time.Millisecond<<min(attempt, 10))
	pause += time.Duration(rand.Int64N(int64(pause)))
	if s.opts.Pause != nil {
		pause = s.opts.Pause(attempt)
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
