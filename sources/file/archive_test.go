package file

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/framing"
	"github.com/urlmill/urlmill/sources/codec/warc"
)

// record returns a record of an archive as most tools write it.
func record(kind, target, block string, more ...string) string {
	head := "WARC/1.0\r\nWARC-Type: " + kind + "\r\nWARC-Date: 2026-11-24T13:55:00Z\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>\r\n"
	if target != "" {
		head += "WARC-Target-URI: " + target + "\r\n"
	}
	for _, m := range more {
		head += m + "\r\n"
	}
	if !strings.Contains(head, "Content-Length") {
		head += fmt.Sprintf("Content-Length: %d\r\n", len(block))
	}
	return head + "\r\n" + block + "\r\n\r\n"
}

const isResponse = "Content-Type: application/http; msgtype=response"

// pageRecord returns the record of a response.
func pageRecord(i int) string {
	body := strings.Repeat(fmt.Sprintf("<p>page %d</p>\n", i), 20+i)
	return record("response", fmt.Sprintf("http://www.example.com/%d", i), "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=UTF-8\r\n\r\n"+body, isResponse)
}

// gzipped compresses each record on its own, and returns where they begin.
func gzipped(records ...string) (data []byte, starts []int64) {
	for _, r := range records {
		starts = append(starts, int64(len(data)))
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(r))
		_ = w.Close()
		data = append(data, b.Bytes()...)
	}
	return data, append(starts, int64(len(data)))
}

// archived is a row of an archive.
type archived struct {
	url, kind, mime string
	status          int64
	offset, length  int64 // -1 for a null
	fault           string
	raw             string
	next            int64
}

// readArchive reads a file with a codec, from a position on.
func readArchive(tb testing.TB, f codec.Factory, data []byte, o Options, from int64) (rows []archived, err error) {
	tb.Helper()
	o.Paths = []string{write(tb, "file", data)}
	s, err := New(o, f, nil)
	if err != nil {
		tb.Fatal(err)
	}
	err = s.Run(tb.Context(), nil, func(ctx context.Context, l pipeline.Lane) error {
		if err := l.Start(ctx, from); err != nil {
			return err
		}
		b := &pipeline.Batch{MaxRows: 7, MaxBytes: 1 << 20}
		for {
			if err := l.Next(ctx, b); err != nil {
				if errors.Is(err, io.EOF) {
					return nil
				}
				return err
			}
			rows = append(rows, archivedOf(b)...)
		}
	})
	return rows, err
}

func archivedOf(b *pipeline.Batch) []archived {
	rows := make([]archived, b.Len())
	for i := range rows {
		raw, _ := b.Raw(i)
		rows[i] = archived{url: string(b.URLs.At(i)), offset: -1, length: -1, raw: string(raw), next: b.Offsets[i]}
		for j := range b.Carried {
			v := &b.Carried[j]
			if !v.Valid[i] {
				continue
			}
			switch v.Field.Name {
			case "warc_type":
				rows[i].kind = string(v.Text.At(i))
			case "content_mime_type":
				rows[i].mime = string(v.Text.At(i))
			case "fetch_status":
				rows[i].status = v.Ints[i]
			case "warc_offset":
				rows[i].offset = v.Ints[i]
			case "warc_length":
				rows[i].length = v.Ints[i]
			}
		}
	}
	for _, f := range b.Faults {
		rows[f.Row].fault = fmt.Sprint(f.Code, " ", f.Pos)
	}
	return rows
}

func warcCodec(tb testing.TB, types ...string) codec.Factory {
	tb.Helper()
	f, err := warc.New(warc.Options{Types: types})
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// urlsOf returns the URLs of rows, with the fault of those that have one.
func urlsOf(rows []archived) (urls []string) {
	for _, r := range rows {
		u := strings.TrimPrefix(r.url, "http://www.example.com/")
		if r.fault != "" {
			u += " " + r.fault
		}
		urls = append(urls, u)
	}
	return urls
}

// dictionary is one of zstd for records of pages.
func dictionary(tb testing.TB) []byte {
	tb.Helper()
	var samples [][]byte
	for i := range 200 {
		samples = append(samples, []byte(pageRecord(i)))
	}
	d, err := zstd.BuildDict(zstd.BuildDictOptions{ID: 7, Contents: samples, History: []byte(pageRecord(0)), Offsets: [3]int{1, 4, 8}})
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// zstandard compresses each record on its own with a dictionary, behind a frame that has it.
func zstandard(tb testing.TB, dict []byte, packed bool, records ...string) (data []byte, starts []int64) {
	tb.Helper()
	options := []zstd.EOption{zstd.WithEncoderConcurrency(1)}
	content := dict
	if packed {
		e, err := zstd.NewWriter(nil)
		if err != nil {
			tb.Fatal(err)
		}
		content = e.EncodeAll(dict, nil)
	}
	if dict != nil {
		options = append(options, zstd.WithEncoderDict(dict))
		data = binary.LittleEndian.AppendUint32([]byte(dictionaryMagic), uint32(len(content)))
		data = append(data, content...)
	}
	e, err := zstd.NewWriter(nil, options...)
	if err != nil {
		tb.Fatal(err)
	}
	for _, r := range records {
		starts = append(starts, int64(len(data)))
		data = e.EncodeAll([]byte(r), data)
	}
	return data, append(starts, int64(len(data)))
}

// TestArchivePlaces: a row leads back to its record, in every way in which archives are stored.
func TestArchivePlaces(t *testing.T) {
	var records []string
	for i := range 30 {
		records = append(records, pageRecord(i))
	}
	dict := dictionary(t)
	packed := func(d []byte, compress bool) func() ([]byte, []int64) {
		return func() ([]byte, []int64) { return zstandard(t, d, compress, records...) }
	}
	for name, archive := range map[string]func() ([]byte, []int64){
		"plain": func() (data []byte, starts []int64) {
			for _, r := range records {
				starts = append(starts, int64(len(data)))
				data = append(data, r...)
			}
			return data, append(starts, int64(len(data)))
		},
		"gzip":                          func() ([]byte, []int64) { return gzipped(records...) },
		"zstd":                          packed(nil, false),
		"zstd with a dictionary":        packed(dict, false),
		"zstd with a packed dictionary": packed(dict, true),
	} {
		data, starts := archive()
		for from := range int64(3) {
			rows, err := readArchive(t, warcCodec(t), data, Options{}, from*10)
			if err != nil || len(rows) != len(records)-int(from)*10 {
				t.Fatalf("%s: %d rows, %v", name, len(rows), err)
			}
			for i, r := range rows {
				i += int(from) * 10
				want := archived{
					fmt.Sprintf("http://www.example.com/%d", i), "response", "text/html", 200, starts[i], starts[i+1] - starts[i], "",
					records[i][:strings.Index(records[i], "<p>")], int64(i),
				}
				if r != want {
					t.Fatalf("%s: row %d\n%+v, want\n%+v", name, i, r, want)
				}
			}
		}
	}
}

// TestArchiveQuirks reads what tools write, and what the standard does not have.
func TestArchiveQuirks(t *testing.T) {
	gz := func(records ...string) string {
		data, _ := gzipped(records...)
		return string(data)
	}
	lf := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
	info := record("warcinfo", "", "software: x\r\n", "Content-Type: application/warc-fields")
	for _, c := range []struct {
		name, data string // the tool that has it
		types      []string
		want       []string
		places     bool // rows have one
	}{
		{name: "Heritrix: warcinfo, request and metadata beside the response", data: gz(info, record("request", "http://www.example.com/0", "GET / HTTP/1.0\r\n\r\n"), pageRecord(0), record("metadata", "http://www.example.com/0", "via: x\r\n")), want: []string{"0"}, places: true},
		{name: "Heritrix: dns", data: gz(record("response", "dns:www.example.com", "20261124135500\nwww.example.com. 300 IN A 192.0.2.1\n", "Content-Type: text/dns")), want: []string{"dns:www.example.com"}, places: true},
		{name: "all types", data: gz(info, pageRecord(1), record("revisit", "http://www.example.com/2", "HTTP/1.1 304 Not Modified\r\n\r\n", isResponse)), types: []string{"all"}, want: []string{" record-field-missing -1", "1", "2"}, places: true},
		{name: "wget: targets in angle brackets", data: gz(record("response", "<http://www.example.com/3>", "HTTP/1.1 200 OK\r\n\r\nx", isResponse)), want: []string{"3"}, places: true},
		{name: "WARC 1.1 and 0.18, names in any case", data: gz(strings.Replace(pageRecord(4), "WARC/1.0", "WARC/1.1", 1), strings.NewReplacer("WARC/1.0", "WARC/0.18", "WARC-Target-URI", "warc-target-uri", "Content-Length", "content-length").Replace(pageRecord(5))), want: []string{"4", "5"}, places: true},
		{name: "Content-Length too large, not compressed", data: lf(pageRecord(6)) + lf(pageRecord(7)) + pageRecord(35), want: []string{"6", "35"}, places: true},
		{name: "LF only", data: lf(record("resource", "http://www.example.com/8", "a\nb")) + lf(record("resource", "http://www.example.com/9", "c")), want: []string{"8", "9"}, places: true},
		{name: "no line ends behind the block", data: strings.TrimSuffix(pageRecord(10), "\r\n\r\n") + pageRecord(11), want: []string{"10", "11"}, places: true},
		{name: "more line ends than two, and before the first record", data: "\r\n\r\n" + pageRecord(12) + "\r\n\r\n\r\n" + pageRecord(13), want: []string{"12", "13"}, places: true},
		{name: "Content-Length too small", data: record("resource", "http://www.example.com/14", "0123456789\nmore", "Content-Length: 3") + pageRecord(15), want: []string{"14", "15"}, places: true},
		{name: "Content-Length too large, in members", data: gz(record("resource", "http://www.example.com/16", "0123", "Content-Length: 100"), pageRecord(17)), want: []string{"16 record-corrupt 0", "17"}, places: true},
		{name: "Content-Length too large, in the last member", data: gz(pageRecord(18), record("resource", "http://www.example.com/19", "0123", "Content-Length: 100")), want: []string{"18", "19 record-corrupt"}, places: true},
		{name: "no Content-Length", data: gz(record("resource", "http://www.example.com/20", "0123", "X-Content-Length: 4"), pageRecord(21)), want: []string{"20 record-corrupt 0", "21"}, places: true},
		{name: "gzip: a file that is one member", data: gz(pageRecord(22) + pageRecord(23) + pageRecord(24)), want: []string{"22", "23", "24"}},
		{name: "pigz, bgzip: members end within records", data: gz(pageRecord(25)[:100], pageRecord(25)[100:]+pageRecord(26)[:300], pageRecord(26)[300:]), want: []string{"25", "26"}},
		{name: "warcprox: chunked and encoded bodies", data: gz(record("response", "http://www.example.com/27", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n5\r\n\x1f\x8b\x08\x00\x00\r\n0\r\n\r\n", isResponse)), want: []string{"27"}, places: true},
		{name: "browsertrix: urn: and file: resources, pageinfo", data: gz(record("resource", "urn:pageinfo:https://www.example.com/", "{}", "Content-Type: application/json")), want: []string{"urn:pageinfo:https://www.example.com/"}, places: true},
		{name: "a block that is no HTTP although it says so", data: gz(record("response", "http://www.example.com/28", strings.Repeat("\x16\x03", 100000), isResponse), pageRecord(29)), want: []string{"28", "29"}, places: true},
		{name: "WET of Common Crawl", data: gz(record("conversion", "http://www.example.com/30", "text\n", "Content-Type: text/plain", "WARC-Identified-Content-Language: deu,eng")), want: []string{"30"}, places: true},
		{name: "headers that go on in another line", data: gz(record("resource", "http://www.example.com/31", "x", "X-Long: a\r\n WARC-Target-URI: no")), want: []string{"31"}, places: true},
		{name: "zeros behind the last member", data: gz(pageRecord(32)) + string(make([]byte, 500)), want: []string{"32"}, places: true},
		{name: "empty members", data: gz("", pageRecord(33), "", pageRecord(34), ""), want: []string{"33", "34"}, places: true},
		{name: "nothing", data: "", want: nil},
	} {
		rows, err := readArchive(t, warcCodec(t, c.types...), []byte(c.data), Options{}, 0)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := urlsOf(rows)
		ok := len(got) == len(c.want)
		for i := range min(len(got), len(c.want)) {
			ok = ok && (got[i] == c.want[i] || strings.HasSuffix(c.want[i], "corrupt") && strings.HasPrefix(got[i], c.want[i]))
			if p := rows[i]; (p.length > 0) != c.places || p.length > 0 && !placed(t, c.data[p.offset:p.offset+p.length], p) {
				t.Errorf("%s: row %d is at %d, %d bytes", c.name, i, p.offset, p.length)
			}
		}
		if !ok {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// placed reports whether the bytes of a file are the record of a row.
func placed(t *testing.T, data string, row archived) bool {
	t.Helper()
	if strings.HasPrefix(data, "\x1f\x8b") {
		z, err := gzip.NewReader(strings.NewReader(data))
		if err != nil {
			return false
		}
		all, err := io.ReadAll(z)
		if err != nil {
			return false
		}
		data = string(all)
	}
	return strings.HasPrefix(data, row.raw)
}

// TestArchiveErrors: what is no archive, or lacks its end, says so.
func TestArchiveErrors(t *testing.T) {
	whole, starts := gzipped(pageRecord(0), pageRecord(1), pageRecord(2))
	for _, c := range []struct {
		name, data, want string
		rows             int
	}{
		{"ARC", "filedesc://x.arc 0.0.0.0 20261124135500 text/plain 73\n1 0 x\n", "ARC file", 0},
		{"no archive", "https://www.example.com/\n", "no WARC file", 0},
		{"cut in a member", string(whole[:starts[2]+20]), "get the whole file and run again", 2},
		{"cut in a block", pageRecord(0) + pageRecord(1)[:300], "get the whole file and run again", 1},
		{"cut in a header", pageRecord(0) + pageRecord(1)[:30], "get the whole file and run again", 1},
	} {
		rows, err := readArchive(t, warcCodec(t), []byte(c.data), Options{}, 0)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(rows) != c.rows {
			t.Errorf("%s: %d rows, %v", c.name, len(rows), err)
		}
	}
}

// TestArchiveDamage damages a member anywhere. It is a row with its place, and all other records are there.
func TestArchiveDamage(t *testing.T) {
	var records []string
	for i := range 12 {
		records = append(records, pageRecord(i))
	}
	random := rand.New(rand.NewPCG(1, 2))
	for name, pack := range map[string]func() ([]byte, []int64){
		"gzip": func() ([]byte, []int64) { return gzipped(records...) },
		"zstd": func() ([]byte, []int64) { return zstandard(t, dictionary(t), false, records...) },
	} {
		whole, starts := pack()
		for range 150 {
			data := bytes.Clone(whole)
			hit := 2 + random.IntN(8)
			at := starts[hit] + random.Int64N(starts[hit+1]-starts[hit])
			data[at] ^= byte(1 + random.IntN(255))
			rows, err := readArchive(t, warcCodec(t), data, Options{}, 0)
			if err != nil {
				t.Fatalf("%s: byte %d of member %d: %v", name, at-starts[hit], hit, err)
			}
			seen := map[string]bool{}
			for _, r := range rows {
				if r.fault == "" {
					seen[r.url] = true
				} else if r.fault != fmt.Sprintf("record-corrupt %d", starts[hit]) || r.offset != starts[hit] {
					t.Errorf("%s: byte %d of member %d at %d: %+v", name, at-starts[hit], hit, starts[hit], r)
				}
			}
			for i := range records {
				if url := fmt.Sprintf("http://www.example.com/%d", i); i != hit && !seen[url] {
					t.Fatalf("%s: byte %d of member %d: no row of %d; %q", name, at-starts[hit], hit, i, urlsOf(rows))
				}
			}
		}
	}
}

// TestArchiveBodies: bodies take no memory, and do not count towards the longest record.
func TestArchiveBodies(t *testing.T) {
	const size = 64 << 20
	data, _ := gzipped(record("resource", "http://www.example.com/0", strings.Repeat("x", size)), pageRecord(1))
	f := warcCodec(t)
	alloctest.Bound(t, len(data), 1, 8<<20, func() {
		rows, err := readArchive(t, f, data, Options{MaxRecordBytes: 1 << 10}, 0)
		if err != nil || len(rows) != 2 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
	})
	long := record("resource", "http://www.example.com/2", "x", "X-Long: "+strings.Repeat("y", 2000))
	rows, err := readArchive(t, f, []byte(long+pageRecord(3)), Options{MaxRecordBytes: 1 << 10}, 0)
	if want := []string{"2 record-too-large 1024", "3"}; err != nil || fmt.Sprint(urlsOf(rows)) != fmt.Sprint(want) {
		t.Errorf("%q, %v", urlsOf(rows), err)
	}
}

// FuzzArchive gives the codecs of archives files of any kind.
func FuzzArchive(f *testing.F) {
	data, _ := gzipped(pageRecord(0), pageRecord(1), watRecord(`{"Envelope":{}}`))
	f.Add(data)
	f.Add([]byte(pageRecord(0) + pageRecord(1)))
	z, _ := zstandard(f, nil, false, pageRecord(0), pageRecord(1))
	f.Add(z)
	d, _ := zstandard(f, dictionary(f), true, pageRecord(0), pageRecord(1))
	f.Add(d)
	codecs := []codec.Factory{warcCodec(f, warc.All), warc.NewWAT()}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, c := range codecs {
			// A frame may ask for a window of 8 MiB, twice of it for its decoder, and that once more behind a damage.
			alloctest.Bound(t, len(data), 400, 64<<20, func() { fuzzArchive(t, c.New(), data) })
		}
	})
}

// fuzzArchive reads data as an archive, and checks that rows fit together.
func fuzzArchive(t *testing.T, c codec.Codec, data []byte) {
	framer := c.(codec.Framer)
	s := newStream(t.Context(), input{path: Stdin}, bytes.NewReader(data), nil, new(atomic.Int64), minWindow, framer.Opening())
	defer s.close()
	records, b := framer.Frame(s, 4<<10), &pipeline.Batch{}
	for {
		record, cut, err := records.Next()
		if errors.Is(err, framing.ErrAgain) {
			_ = s.await(t.Context())
			continue
		}
		if err != nil {
			return
		}
		b.Reset()
		c.Prepare(b)
		row := true
		if cut {
			codec.DecodeCut(c, b, record)
		} else {
			row = c.Decode(b, record)
		}
		if !row {
			continue
		}
		b.Offsets = append(b.Offsets, 0)
		if r := archivedOf(b)[0]; r.length >= 0 && (r.offset < 0 || r.offset+r.length > int64(len(data))) && b.Carried[0].Field.Name == "warc_type" {
			t.Fatalf("%+v of %d bytes", r, len(data))
		}
	}
}

func watRecord(document string) string {
	return record("metadata", "http://www.example.com/a/b", document, "Content-Type: application/json")
}

// TestWAT reads the links of pages.
func TestWAT(t *testing.T) {
	const document = `{"Container":{"Filename":"a.warc.gz","Compressed":true,"Offset":"477","Gzip-Metadata":{"Deflate-Length":"569"}},` +
		`"Envelope":{"WARC-Header-Metadata":{"WARC-Type":"response","WARC-Target-URI":"http://www.example.com/a/b","WARC-Date":"2026-11-24T13:55:00Z"},` +
		`"Payload-Metadata":{"HTTP-Response-Metadata":{"Response-Message":{"Status":"200"},"Headers":{"Content-Type":"text/html; charset=UTF-8"},` +
		`"HTML-Metadata":{"Head":{"Title":"x",%s"Link":[{"path":"LINK@/href","url":"s.css","rel":"stylesheet"}],"Scripts":[{"path":"SCRIPT@/src","url":"/j.js"}]},` +
		`"Links":[{"path":"A@/href","url":"../c?q=\"1\"","text":"a \"b\", [c]"},{"path":"IMG@/src","alt":"no url"},{"path":"A@/href","url":"//x.example/\u00fc"}]}}}}}`
	for base, want := range map[string]string{
		"":                               "http://www.example.com/a/b",
		`"Base":"http://b.example/x/y",`: "http://b.example/x/y",
		`"Base":"z/\"q",`:                "http://www.example.com/a/z/%22q",
		`"Base":"data:text/html,x",`:     "http://www.example.com/a/b",
		`"Base":"http://[",`:             "http://www.example.com/a/b",
	} {
		data, _ := gzipped(record("warcinfo", "", "x"), watRecord(fmt.Sprintf(document, base)), watRecord(`{"Envelope":{}}`), watRecord("{"), pageRecord(1))
		s, err := New(Options{Paths: []string{write(t, "a.wat", data)}}, warc.NewWAT(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := s.Run(t.Context(), nil, func(ctx context.Context, l pipeline.Lane) error {
			if err := l.Start(ctx, 0); err != nil {
				return err
			}
			b := &pipeline.Batch{MaxRows: 2, MaxBytes: 1 << 20}
			for {
				if err := l.Next(ctx, b); err != nil {
					return nil
				}
				for i := range b.Len() {
					line := fmt.Sprintf("%d %s %s", b.Offsets[i], b.URLs.At(i), b.Bases.At(i))
					for j := range b.Carried {
						if v := &b.Carried[j]; !v.Valid[i] {
							line += " -"
						} else if v.Text.Len() > 0 {
							line += " " + string(v.Text.At(i))
						} else {
							line += fmt.Sprint(" ", v.Ints[i])
						}
					}
					got = append(got, line)
				}
				for _, f := range b.Faults {
					got = append(got, fmt.Sprint(f.Code, f.Pos))
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
		const page = " http://www.example.com/a/b "
		const rest = " 1795528500000000 200 text/html a.warc.gz 477 569"
		all := []string{
			"0 s.css " + want + page + "LINK@/href 0 stylesheet -" + rest,
			"1 /j.js " + want + page + "SCRIPT@/src 1 - -" + rest,
			`2 ../c?q="1" ` + want + page + `A@/href 2 - a "b", [c]` + rest,
			"3 //x.example/ü " + want + page + "A@/href 3 - -" + rest,
			"4   - - - - - - - - - - -", "record-malformed 1",
		}
		if fmt.Sprint(got) != fmt.Sprint(all) {
			t.Errorf("%s\n%s\nwant\n%s", base, strings.Join(got, "\n"), strings.Join(all, "\n"))
		}
	}
}
