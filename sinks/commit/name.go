package commit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/urlmill/urlmill/pipeline"
)

// Dir is the directory with the records of all lanes.
const Dir = "_commits"

const (
	startName      = "start.json"
	checkpointsDir = "checkpoints"
	// maxEscaped bounds a directory's name: file systems allow 255 bytes.
	maxEscaped = 200
	// maxStem bounds the part of a file name that comes from the stream.
	maxStem = 120
)

// laneName returns the name of the directory below [Dir] that has the records of a lane. Different lanes have
// different names.
func laneName(id pipeline.LaneID) string {
	stream := escape(id.Stream)
	if id.Session != "" {
		stream += "@" + escape(id.Session) // escaped names have no @ of their own
	}
	return path.Join(stream, strconv.Itoa(int(id.Partition)))
}

// LaneName returns the name that a lane has in records.
func LaneName(id pipeline.LaneID) string { return laneName(id) }

// CutLane returns the parts of the name of a directory that laneName has made: the stream, still escaped, and the session. ok
// is false for a lane without a session.
func CutLane(dir string) (stream, session string, ok bool) {
	stream, _, _ = strings.Cut(dir, "/")
	return strings.Cut(stream, "@")
}

// escape makes a directory name of any text: letters, digits, hyphen, underscore and dots but the first stay, other
// bytes become %XX. What gets too long ends with its hash instead.
func escape(s string) string {
	if s == "" {
		return "%"
	}
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case isAlphanumeric(c), c == '-', c == '_', c == '.' && i > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if b.Len() <= maxEscaped {
		return b.String()
	}
	sum := sha256.Sum256([]byte(s))
	return b.String()[:maxStem] + "~" + hex.EncodeToString(sum[:])
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// key returns the name of a position. Names are in the order of positions.
func key(position int64) string { return fmt.Sprintf("%020d", position) }

func recordKey(dir string, first int64) string { return path.Join(dir, key(first)+".json") }

func checkpointKey(dir string, first int64) string {
	return path.Join(dir, checkpointsDir, key(first)+".jsonl")
}

// position returns the position that a name with the given suffix stands for.
func position(name, suffix string) (int64, bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	if !ok || len(digits) != 20 {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil && n >= 0 && key(n) == digits
}

// FileName returns the name of a data file that begins with the given position of a lane. run and seq make it unique
// among all processes and all files of this one. The position after the last is not in it, because a store may have
// to know the name before it is known; the record has it.
func FileName(id pipeline.LaneID, first int64, run string, seq uint64, ext string) string {
	return fmt.Sprintf("%s%020d-%s%04d.%s", filePrefix(id), first, run, seq, ext)
}

// filePrefix is what the names of all files of a lane begin with.
func filePrefix(id pipeline.LaneID) string {
	name := stem(id.Stream)
	if id.Session != "" {
		name += "-" + stem(id.Session)
	}
	return fmt.Sprintf("%s-%d-", name, id.Partition)
}

// fileNames matches the names that FileName returns.
var fileNames = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._~-]*-\d+-)(\d{20})-[0-9a-f]{8}\d{4,}\.[a-z0-9]+$`)

// ParseFileName takes a name that [FileName] has made apart. ok is false for others.
func ParseFileName(name string) (prefix string, first int64, ok bool) {
	m := fileNames.FindStringSubmatch(name)
	if m == nil {
		return "", 0, false
	}
	first, err := strconv.ParseInt(m[2], 10, 64)
	return m[1], first, err == nil
}

// stem makes a stream's name fit for a file name: letters, digits, dot, underscore and hyphen stay, anything
// else becomes an underscore, and nothing but a letter or digit comes first, as a leading dot or underscore
// would hide the file from many readers and a leading hyphen looks like an option. Where that changes the name
// a hash of it is added, so that different streams have different stems.
func stem(stream string) string {
	if stream == "-" {
		return "stdin"
	}
	s := strings.Map(func(r rune) rune {
		if r < 0x80 && isAlphanumeric(byte(r)) || r == '.' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, stream)
	s = strings.TrimLeft(s, "._-")
	if len(s) > maxStem {
		s = strings.TrimLeft(s[len(s)-maxStem:], "._-")
	}
	if s == stream && s != "" && s != "stdin" {
		return s
	}
	sum := sha256.Sum256([]byte(stream))
	return strings.TrimPrefix(fmt.Sprintf("%s~%x", s, sum[:8]), "~")
}
