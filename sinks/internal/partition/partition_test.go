package partition

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/sinks/sinktest"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Key{
		"host":                        {Name: "host", Column: "host"},
		" site = registrable_domain ": {Name: "site", Column: "registrable_domain"},
		"date(timestamp)":             {Name: "dt", Func: "date", Column: "timestamp"},
		"day=date( ts )":              {Name: "day", Func: "date", Column: "ts"},
		"month(ts)":                   {Name: "month", Func: "month", Column: "ts"},
		"hour(timestamp)":             {Name: "hour", Func: "hour", Column: "timestamp"},
		"bucket(16, host)":            {Name: "host_bucket", Func: "bucket", Column: "host", N: 16},
		"b=bucket(1,host)":            {Name: "b", Func: "bucket", Column: "host", N: 1},
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                   "is not understood",
		"day(timestamp)":     "date(column)",
		"bucket(host)":       "needs a number of buckets",
		"date(3, timestamp)": "the others have none",
		"bucket(0, host)":    "use 1 to 100000",
		"_x":                 "put another before it",
		"a=b=c":              "is not understood",
		"a b":                "is not understood",
	} {
		if k, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v", text, k, err)
		}
	}
	if _, err := ParseAll([]string{"date(a)", "date(b)"}); err == nil || !strings.Contains(err.Error(), "both have the name dt") {
		t.Errorf("got %v", err)
	}
}

func TestCheck(t *testing.T) {
	s := sinktest.AllTypes()
	for text, want := range map[string]string{
		"nothing":          "the columns are id, text",
		"ts_us":            "give date(ts_us)",
		"f64":              "by which nothing can be partitioned",
		"params":           "by which nothing can be partitioned",
		"date(text)":       "give a timestamp",
		"bucket(2, ts_us)": "by which nothing can be partitioned",
	} {
		k, err := Parse(text)
		if err == nil {
			err = Check([]Key{k}, s)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestEscaping(t *testing.T) {
	long := strings.Repeat("ü", 400)
	for value, want := range map[string]string{
		"":                Null,
		"example.com":     "example.com",
		"a b-c_d.e~f,g@h": "a b-c_d.e~f,g@h",
		"a/b=c%":          "a%2Fb%3Dc%25",
		"\"#'*:?\\{[]^":   "%22%23%27%2A%3A%3F%5C%7B%5B%5D%5E",
		"\x00\n\x7f":      "%00%0A%7F",
		"bücher.example":  "bücher.example",
		"\xff\xc3":        "%FF%C3",
		"..":              "..",
	} {
		if got := string(appendEscaped(nil, []byte(value), maxValue, false)); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
		if unescaped, err := url.PathUnescape(want); want != Null && (err != nil || unescaped != value) {
			t.Errorf("%q cannot be read back: %q, %v", want, unescaped, err)
		}
	}
	for _, long := range []string{long, strings.Repeat("/", 400), strings.Repeat("a/", 300), strings.Repeat("a", 400)} {
		for most := minValue; most <= maxValue; most++ {
			a, b := string(appendEscaped(nil, []byte(long), most, false)), string(appendEscaped(nil, []byte(long+"x"), most, false))
			if a == b || len(a) > most || len(b) > most || len(a) <= most-slack || !utf8.ValidString(a) || a[0] != long[0] && a[0] != '%' {
				t.Errorf("long values: %d and %d bytes of %d: %s", len(a), len(b), most, a)
			}
			if _, err := url.PathUnescape(a); err != nil {
				t.Error(err)
			}
			// The text of a shortened value is the value of another row.
			if again := string(appendEscaped(nil, []byte(a), most, false)); again == a {
				t.Errorf("%s is of two values", a)
			}
		}
	}
}

// TestCollisions: values that somebody has made to share a directory do not.
func TestCollisions(t *testing.T) {
	for _, fold := range []bool{false, true} {
		seen := map[string]string{}
		for _, value := range []string{
			"a", "A", "%41", "a%", "é", "É", "e\u0301", "\xff", "%FF", "ſ", "s", "S", "\u212a", "k", "K", "_", "a/b", "a%2Fb", "a%2fb",
			Null, strings.ToLower(Null), "%5F_HIVE_DEFAULT_PARTITION__", strings.Repeat("a", 400), strings.Repeat("a", 401), strings.Repeat("A", 400),
		} {
			text := string(appendEscaped(nil, []byte(value), maxValue, fold))
			if fold {
				text = strings.ToLower(text)
				if strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
					t.Errorf("%q stands as %s", value, text)
				}
			}
			if other, ok := seen[text]; ok {
				t.Errorf("fold %v: %q and %q are both in %s", fold, value, other, text)
			}
			if seen[text] = value; strings.EqualFold(text, Null) {
				t.Errorf("%q is where nulls are", value)
			}
			if back, err := url.PathUnescape(text); len(value) < 100 && !fold && (err != nil || back != value) {
				t.Errorf("%q is read back as %q, %v", value, back, err)
			}
		}
	}
}

// TestRoom: the directories of several long texts fit, or the start is refused.
func TestRoom(t *testing.T) {
	fields := []arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}
	for _, name := range []string{"a", "b", "c", strings.Repeat("d", 100)} {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.BinaryTypes.String})
	}
	s := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	b.Field(0).(*array.Int64Builder).Append(math.MinInt64)
	var keys []Key
	for i, f := range fields {
		keys = append(keys, Key{Name: f.Name, Column: f.Name})
		if i > 0 {
			b.Field(i).(*array.StringBuilder).Append(strings.Repeat("/", 1000))
		}
	}
	r := b.NewRecord()
	for room := range 2000 {
		p, err := New(keys, s, room, false)
		if err != nil {
			if room > 400 || !strings.Contains(err.Error(), "use a shorter path") {
				t.Errorf("room for %d: %v", room, err)
			}
			continue
		}
		dir := p.Split(r)[0].Dir
		if len(dir) > room {
			t.Errorf("%d bytes in a room for %d", len(dir), room)
		}
		for _, name := range strings.Split(dir, "/") {
			if len(name) > maxName {
				t.Errorf("a name of %d bytes", len(name))
			}
		}
	}
	if _, err := New(keys[:1], s, 10, false); err == nil {
		t.Error("there is room for a number in 10 bytes")
	}
}

// TestFarDays has the days of wrong clocks: readers take the names of their directories for the same dates.
func TestFarDays(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "ts", Type: arrow.FixedWidthTypes.Timestamp_us}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	b.Field(0).(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{math.MinInt64, -300_000_000_000_000_000, -1, 253_402_300_800_000_000, math.MaxInt64}, nil)
	keys, err := ParseAll([]string{"month(ts)", "date(ts)", "hour(ts)"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(keys, s, 1000, false)
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, part := range p.Split(b.NewRecord()) {
		dirs = append(dirs, part.Dir)
	}
	want := []string{
		"month=-290308-12/dt=-290308-12-21/hour=19", "month=-7537-05/dt=-7537-05-18/hour=18", "month=1969-12/dt=1969-12-31/hour=23",
		"month=10000-01/dt=10000-01-01/hour=00", "month=294247-01/dt=294247-01-10/hour=04",
	}
	if diff := cmp.Diff(want, dirs); diff != "" {
		t.Error(diff)
	}
}

// want computes the directory of a row again, in another way.
func want(keys []string, row sinktest.Row) string {
	var dirs []string
	for _, key := range keys {
		k, _ := Parse(key)
		text := Null
		switch v := row[k.Column].(type) {
		case nil:
		case time.Time:
			text = v.Format(map[string]string{"": time.DateOnly, "date": time.DateOnly, "month": "2006-01", "hour": "15"}[k.Func])
		case []byte:
			text = string(appendEscaped(nil, v, maxValue, false))
		default:
			text = string(appendEscaped(nil, fmt.Append(nil, v), maxValue, false))
		}
		dirs = append(dirs, k.Name+"="+text)
	}
	return strings.Join(dirs, "/")
}

// Every row comes out once, in its directory, whole, and in the order that it had there; also rows of sliced records.
func TestSplit(t *testing.T) {
	s := sinktest.AllTypes()
	all := []string{"date(ts_us)", "month(ts_ms)", "u8", "hour(ts_ms)", "flag", "text", "i8", "u32", "large_text", "bytes", "day=day", "u16"}
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		defer mem.AssertSize(t, 0)
		texts := rapid.SliceOfNDistinct(rapid.SampledFrom(all), 1, 3, rapid.ID[string]).Draw(t, "keys")
		keys, err := ParseAll(texts)
		if err != nil {
			t.Fatal(err)
		}
		p, err := New(keys, s, 1000, false)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 3).Draw(t, "records") {
			n := rapid.IntRange(0, 60).Draw(t, "rows")
			whole := sinktest.Random(mem, s, n, 0, rapid.Uint64().Draw(t, "seed"), sinktest.Shape{Nulls: 0.3, Empty: 0.1, MaxText: 3})
			from := rapid.IntRange(0, n).Draw(t, "from")
			r := whole.NewSlice(int64(from), int64(rapid.IntRange(from, n).Draw(t, "to")))
			expected := map[string][]sinktest.Row{}
			for _, row := range sinktest.Rows(r) {
				dir := want(texts, row)
				expected[dir] = append(expected[dir], row)
			}
			got := map[string][]sinktest.Row{}
			for _, part := range p.Split(r) {
				got[part.Dir] = append(got[part.Dir], sinktest.Rows(part.Rows)...)
				part.Rows.Release()
			}
			r.Release()
			whole.Release()
			if diff := cmp.Diff(expected, got); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func TestBuckets(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "host", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for i := range 1000 {
		b.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("host%d", i%100))
	}
	keys, err := ParseAll([]string{"bucket(8, host)"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(keys, s, 1000, false)
	if err != nil {
		t.Fatal(err)
	}
	where := map[string]string{}
	for _, part := range p.Split(b.NewRecord()) {
		for _, row := range sinktest.Rows(part.Rows) {
			host := row["host"].(string)
			if before, ok := where[host]; ok && before != part.Dir {
				t.Fatalf("%s is in %s and %s", host, before, part.Dir)
			}
			where[host] = part.Dir
		}
	}
	dirs := slices.Sorted(maps.Values(where))
	if dirs = slices.Compact(dirs); len(dirs) != 8 || dirs[0] != "host_bucket=0" || dirs[7] != "host_bucket=7" {
		t.Errorf("directories %v", dirs)
	}
	// The assignment is for ever: files of different versions have to agree.
	if where["host0"] != "host_bucket=7" {
		t.Errorf("host0 is in %s", where["host0"])
	}
}
