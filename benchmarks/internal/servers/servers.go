// Package servers measures what the processes take that a benchmark has started.
package servers

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of the times of /proc on Linux.
const tick = 10 * time.Millisecond

// CPU returns the time of the CPU that the descendants of this process have used which run now, with those of theirs that have ended.
// Where there is no /proc it is 0.
func CPU() (used time.Duration) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well-formed
	parents, times := map[string]string{}, map[string]time.Duration{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// The name, in brackets, may have anything in it; behind it are the state, the parent and, from the twelfth on, the times.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) < 15 {
			continue
		}
		pid := filepath.Base(filepath.Dir(file))
		parents[pid] = fields[1]
		for _, field := range fields[11:15] {
			n, _ := strconv.ParseInt(field, 10, 64)
			times[pid] += time.Duration(n) * tick
		}
	}
	self := strconv.Itoa(os.Getpid())
	for pid, t := range times {
		for at := parents[pid]; at != ""; at = parents[at] {
			if at == self {
				used += t
				break
			}
		}
	}
	return used
}
