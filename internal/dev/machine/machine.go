// Package machine tells tests and reports of measurements what they ran on, and how much memory a process had.
package machine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// CPU returns the model name of the first CPU, "" where the kernel does not tell it.
func CPU() string { return field("/proc/cpuinfo", "model name") }

// PeakMemory returns the most resident memory that a process has had so far, in bytes; 0 if it has ended, and where the kernel
// does not tell it.
func PeakMemory(pid int) int64 {
	kib, _ := strconv.ParseInt(strings.TrimSuffix(field(fmt.Sprintf("/proc/%d/status", pid), "VmHWM"), " kB"), 10, 64)
	return kib << 10
}

// field returns a value of a file of lines "name: value", "" if there is none.
func field(file, name string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
