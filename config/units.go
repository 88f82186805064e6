package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// sizeUnits maps the units of a size to bytes.
var sizeUnits = map[string]int64{
	"B":  1,
	"kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
}

var (
	errSizeUnit   = errors.New("no unit")
	errSizeSyntax = errors.New("not a size")
	errSizeRange  = errors.New("too large")
)

// parseSize reads a number with a unit, such as "512MiB" or "1.5 GB"; "0" needs none.
func parseSize(s string) (int64, error) {
	i := strings.LastIndexAny(s, "0123456789.") + 1
	number, unit := s[:i], strings.TrimSpace(s[i:])
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || strings.ContainsAny(number, "eExXpP_+-") {
		return 0, errSizeSyntax
	}
	factor, ok := sizeUnits[unit]
	switch {
	case unit == "" && value == 0:
		return 0, nil
	case unit == "":
		return 0, errSizeUnit
	case !ok:
		return 0, errSizeSyntax
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
		if f := sizeUnits[unit]; n >= f && n%f == 0 {
			return strconv.FormatInt(n/f, 10) + unit
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}
