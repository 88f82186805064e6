package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// sizeUnits maps the units of a size, in upper case, to bytes. A letter alone is a power of 1024, as in Docker, nginx, systemd,
// the JVM and GNU's tools; Kubernetes alone takes it for a power of 1000.
var sizeUnits = map[string]int64{
	"B":  1,
	"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
	"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40,
	"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40,
}

// sizeHelp says what the units are, for a size whose unit is none of them.
const sizeHelp = "; K, M, G and T are KiB, MiB, GiB and TiB, of 1024, and KB, MB, GB and TB are of 1000"

var (
	errSizeUnit    = errors.New("no unit")
	errSizeSyntax  = errors.New("not a size")
	errSizeUnknown = errors.New("a unit that is none")
	errSizeRange   = errors.New("too large")
)

// parseSize reads a number with a unit, such as "512MiB" or "1.5 GB"; "0" needs none.
func parseSize(s string) (int64, error) {
	i := strings.LastIndexAny(s, "0123456789.") + 1
	number, unit := s[:i], strings.TrimSpace(s[i:])
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || strings.ContainsAny(number, "eExXpP_+-") {
		return 0, errSizeSyntax
	}
	factor, ok := sizeUnits[strings.ToUpper(unit)]
	switch {
	case unit == "" && value == 0:
		return 0, nil
	case unit == "":
		return 0, errSizeUnit
	case !ok:
		return 0, errSizeUnknown
	case value*float64(factor) >= math.MaxInt64:
		return 0, errSizeRange
	}
	return int64(value * float64(factor)), nil
}

// ParseSize reads a number with a unit, such as "512MiB" or "1.5 GB".
func ParseSize(s string) (int64, error) { return parseSize(strings.TrimSpace(s)) }

// FormatSize writes a size in its largest binary unit that keeps it whole.
func FormatSize(n int64) string {
	for _, unit := range []string{"TiB", "GiB", "MiB", "KiB"} {
		if f := sizeUnits[strings.ToUpper(unit)]; n >= f && n%f == 0 {
			return strconv.FormatInt(n/f, 10) + unit
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}
