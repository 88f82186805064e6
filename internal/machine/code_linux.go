package machine

import (
	"os"
	"strconv"
	"strings"
	"sync"
)

// CodeSize returns how much of the executable can be in memory, in bytes: its code and constants. Linux maps them page by
// page as they are used, or all at once where its page cache has large folios; they count as memory of the process either
// way.
var CodeSize = sync.OnceValue(func() int64 {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return unknownCode
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return unknownCode
	}
	if size := mapped(string(maps), self); size > 0 {
		return size
	}
	return unknownCode
})

// mapped returns the size of the parts of a file that a process has mapped and does not write to, in bytes. maps is
// /proc/PID/maps.
func mapped(maps, file string) (size int64) {
	for line := range strings.Lines(maps) {
		// 00402000-02c61000 r-xp 00002000 fe:00 9995141    /usr/bin/urlmill
		f := strings.Fields(line)
		if len(f) < 6 || f[1][1] == 'w' || !strings.HasSuffix(strings.TrimSuffix(line, "\n"), " "+file) {
			continue
		}
		from, to, _ := strings.Cut(f[0], "-")
		start, err := strconv.ParseUint(from, 16, 64)
		if err != nil {
			continue
		}
		if end, err := strconv.ParseUint(to, 16, 64); err == nil && end > start {
			size += int64(end - start)
		}
	}
	return size
}
