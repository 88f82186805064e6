package lanesink

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/urlmill/urlmill/pipeline"
)

// maxStem bounds the part of a file name that comes from the stream: with positions and run the name stays
// below the 255 bytes that file systems allow.
const maxStem = 120

// fileName returns the name of the file that holds the given positions of a lane. run and seq make it unique
// among all processes and all files of this one; positions alone would not: whoever reads a partition again
// after a crash would overwrite its own older files, or a slow process those of its successor.
func fileName(id pipeline.LaneID, span pipeline.Span, run string, seq uint64, ext string) string {
	return fmt.Sprintf("%s-%d-%020d-%020d-%s%04d.%s", stem(id.Stream), id.Partition, span.First, span.Next, run, seq, ext)
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
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
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
	h := fnv.New32a()
	_, _ = h.Write([]byte(stream)) // never fails
	return strings.TrimPrefix(fmt.Sprintf("%s~%08x", s, h.Sum32()), "~")
}
