package codec

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestRFC3339(t *testing.T) {
	for _, s := range []string{
		"1970-01-01T00:00:00Z", "2026-07-01T12:30:00.25+02:00", "2024-02-29T23:59:59.999999Z", "2000-02-29T00:00:00Z",
		"0000-01-01T00:00:00Z", "0000-03-01T00:00:00Z", "0000-02-29T12:00:00Z", "9999-12-31T23:59:59.999999999Z", "1969-12-31T23:59:59.9999995Z",
		"2026-07-01T00:00:00-23:59", "2026-07-01T00:00:00.1234567890123456789Z",
	} {
		want, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := ParseRFC3339([]byte(s)); !ok || got != want.UnixMicro() {
			t.Errorf("%s: %d %v, want %d", s, got, ok, want.UnixMicro())
		}
	}
	for s, want := range map[string]string{
		"2026-07-01t12:30:00z": "2026-07-01T12:30:00Z", "2026-07-01 12:30:00Z": "2026-07-01T12:30:00Z",
		"2016-12-31T23:59:60Z": "2017-01-01T00:00:00Z",
	} {
		a, ok := ParseRFC3339([]byte(s))
		if b, _ := ParseRFC3339([]byte(want)); !ok || a != b {
			t.Errorf("%s: %d, want %d", s, a, b)
		}
	}
	for _, s := range []string{
		"", "2026-07-01", "2026-07-01T12:30:00", "2026-07-01T12:30Z", "2026-7-01T12:30:00Z0", "2025-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
		"2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-01T24:00:00Z",
		"2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00,5Z", "2026-01-01T00:00:00+0100",
		"2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+01:60", "2026-01-01T00:00:00+01-00", "2026-01-01T00:00:00*01:00", "2026-01-01T00:00:00.5",
		"2026-01-01T00:00:00ZZ", "2026/01/01T00:00:00Z", "2026-01-01T00-00:00Z", "x026-01-01T00:00:00Z", "2026-01-01T0x:00:00Z", "2026-01-01_00:00:00Z",
	} {
		if got, ok := ParseRFC3339([]byte(s)); ok {
			t.Errorf("%s: read as %d", s, got)
		}
	}
}

func TestRFC3339AgainstTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(-62167219200, 253402300799).Draw(t, "s"), rapid.Int64Range(0, 999999999).Draw(t, "ns"))
		zone := time.FixedZone("", 60*rapid.IntRange(-719, 719).Draw(t, "zone"))
		s := at.In(zone).Format(time.RFC3339Nano)
		if len(s) < 20 || s[4] != '-' {
			t.Skip("the zone moved it out of the years 0 to 9999")
		}
		if got, ok := ParseRFC3339([]byte(s)); !ok || got != at.UnixMicro() {
			t.Fatalf("%s: %d %v, want %d", s, got, ok, at.UnixMicro())
		}
	})
}

func TestEpoch(t *testing.T) {
	for _, test := range []struct {
		s    string
		f    TimeFormat
		want int64
	}{
		{"1700000000", EpochSeconds, 1700000000000000},
		{"1700000000.123456", EpochSeconds, 1700000000123456},
		{"1700000000.1234569", EpochSeconds, 1700000000123456},
		{"1.7e9", EpochSeconds, 1700000000000000},
		{"-0.0000001", EpochSeconds, -1},
		{"-1", EpochSeconds, -1000000},
		{"1700000000123", EpochMillis, 1700000000123000},
		{"1700000000123.75", EpochMillis, 1700000000123750},
		{"1700000000123456", EpochMicros, 1700000000123456},
		{"1700000000123456.9", EpochMicros, 1700000000123456},
		{"1700000000123456789", EpochNanos, 1700000000123456},
		{"999", EpochNanos, 0},
		{"-999", EpochNanos, -1},
		{"-1000", EpochNanos, -1},
		{"-1001", EpochNanos, -2},
		{"0", EpochSeconds, 0},
	} {
		if got, ok := parseEpoch([]byte(test.s), test.f); !ok || got != test.want {
			// Floating point has 53 bits: a microsecond here is fine for numbers of more than 18 digits.
			if !ok || len(test.s) < 19 || math.Abs(float64(got-test.want)) > 256 {
				t.Errorf("%s %v: %d %v, want %d", test.s, test.f, got, ok, test.want)
			}
		}
	}
	for _, s := range []string{"1e300", "-1e300", "99999999999999999", "1e999"} {
		if got, ok := parseEpoch([]byte(s), EpochSeconds); ok {
			t.Errorf("%s: read as %d", s, got)
		}
	}
}

func TestTimeFormats(t *testing.T) {
	if got := fmt.Sprintf("%v", timeFormats()); got != "[rfc3339 s ms us ns]" || len(timeFormats()) != int(numTimeFormats) {
		t.Error(got)
	}
}

func TestParseCLF(t *testing.T) {
	for s, want := range map[string]string{
		"10/Oct/2000:13:55:36 -0700":      "2000-10-10T20:55:36Z",
		"29/Feb/2024:23:59:60 +0000":      "2024-03-01T00:00:00Z",
		"01/Jan/1970:00:00:00":            "1970-01-01T00:00:00Z",
		"06/Feb/2026:12:14:14.655":        "2026-02-06T12:14:14.655Z",
		"06/Feb/2026:12:14:14.6557 +0530": "2026-02-06T06:44:14.6557Z",
	} {
		got, ok := ParseCLF([]byte(s))
		if at, err := time.Parse(time.RFC3339Nano, want); err != nil || !ok || got != at.UnixMicro() {
			t.Errorf("%s: %v %v, want %s", s, time.UnixMicro(got).UTC(), ok, want)
		}
	}
	for month := time.January; month <= time.December; month++ {
		at := time.Date(2025, month, 9, 8, 7, 6, 0, time.FixedZone("", 3600))
		if got, ok := ParseCLF([]byte(at.Format("02/Jan/2006:15:04:05 -0700"))); !ok || got != at.UnixMicro() {
			t.Errorf("%v: %d %v", at, got, ok)
		}
	}
	for _, s := range []string{
		"", "10/Oct/2000", "10-Oct-2000:13:55:36 -0700", "10/Okt/2000:13:55:36 -0700", "30/Feb/2000:13:55:36 -0700", "10/Oct/2000:24:55:36 -0700",
		"10/Oct/2000:13:60:36 -0700", "10/Oct/2000:13:55:36 0700", "10/Oct/2000:13:55:36 -07000", "10/Oct/2000:13:55:36 -2500", "10/Oct/2000:13:55:36.",
		"x0/Oct/2000:13:55:36 -0700", "00/Oct/2000:13:55:36 -0700",
	} {
		if got, ok := ParseCLF([]byte(s)); ok {
			t.Errorf("%s: %d", s, got)
		}
	}
}

func TestParseDayAndClock(t *testing.T) {
	day, ok := ParseDay([]byte("2026-03-01"))
	clock, valid := ParseClock([]byte("23:59:59.25"))
	if want := time.Date(2026, 3, 1, 23, 59, 59, 250e6, time.UTC); !ok || !valid || day+clock != want.UnixMicro() {
		t.Errorf("%v, want %v", time.UnixMicro(day+clock).UTC(), want)
	}
	for _, s := range []string{"", "2026-3-1", "2026-02-30", "2026-13-01", "2026/03/01", "20x6-03-01", "2026-00-01"} {
		if _, ok := ParseDay([]byte(s)); ok {
			t.Errorf("day %q", s)
		}
	}
	for _, s := range []string{"", "1:2:3", "24:00:00", "00:60:00", "00:00:61", "00:00:00x", "00:00:00.", "00:00:00.5x"} {
		if _, ok := ParseClock([]byte(s)); ok {
			t.Errorf("clock %q", s)
		}
	}
}

func TestParseDecimals(t *testing.T) {
	if v, ok := ParseEpoch([]byte("1767323045.25"), EpochSeconds); !ok || v != 1767323045250000 {
		t.Error(v, ok)
	}
	if v, ok := ParseInt([]byte("-12")); !ok || v != -12 {
		t.Error(v, ok)
	}
	if v, ok := ParseFloat([]byte("0.25")); !ok || v != 0.25 {
		t.Error(v, ok)
	}
	for _, s := range []string{"", "-", ".", ".5", "1.2.3", "1e3", "0x1", "NaN", "+1", "1 ", "--1"} {
		_, a := ParseEpoch([]byte(s), EpochMillis)
		_, b := ParseInt([]byte(s))
		_, c := ParseFloat([]byte(s))
		if a || b || c {
			t.Errorf("%q: %v %v %v", s, a, b, c)
		}
	}
}

// TestParseTime: the ways in which logs have times.
func TestParseTime(t *testing.T) {
	const want = 1795262400250000
	for _, text := range []string{
		"2026-11-21T12:00:00.25Z", "2026-11-21T13:00:00.25+0100", "2026-11-21T13:00:00.25+01:00", "2026-11-21T12:00:00.25", "2026-11-21T11:00:00.25-0100",
		"1795262400.25", "1795262400250", "1795262400250000", "1795262400250000999", "21/Nov/2026:12:00:00.25 +0000",
	} {
		if got, ok := ParseTime([]byte(text)); got != want || !ok {
			t.Errorf("%s: %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{
		"", "-", "x", "2026-11-21", "2026-11-21T12:00:00+00", "2026-11-21T12:00:00+000", "2026-11-21T12:00:00 0000", "2026-11-21T12:00:00+2400",
		"2026-11-21T12:00:00.2500000000000000000000000000", "21/Nov", "21/",
	} {
		if got, ok := ParseTime([]byte(text)); ok {
			t.Errorf("%s: %d", text, got)
		}
	}
}
