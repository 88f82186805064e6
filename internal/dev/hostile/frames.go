package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// repeat is a text so often that it has n bytes or a few more.
func repeat(text string, n int64) io.Reader {
	return &repeated{text: []byte(strings.Repeat(text, max(1, 1<<16/len(text)))), left: n}
}

type repeated struct {
	text []byte
	at   int
	left int64
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left <= 0 && r.at == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	r.left -= int64(n)
	return n, nil
}

// claimedWindow turns the window of a small frame into one of 512 MiB, which the compressor itself would have to hold.
func claimedWindow(frame []byte) []byte {
	const exponent = 19 // 2^(10+19) bytes
	out := bytes.Clone(frame)
	out[4] &^= 0x20 | 0xc0 // no single segment, no size
	if frame[4]&0x20 == 0 {
		out[5] = exponent << 3
		return out
	}
	size := 1 // the field that a single segment has in place of the window
	if n := frame[4] >> 6; n > 0 {
		size = 1 << n
	}
	return append(append(out[:5:5], exponent<<3), frame[5+size:]...)
}

// frameCases are compressed files: bombs, windows, and what is cut off or changed.
func frameCases() []*testCase {
	var all []*testCase
	k := ndjsonKind
	k.format = "frames"
	add := func(name, format string, bad func(w io.Writer) error) {
		k.ext = ".ndjson" // of the good file; what is compressed is known by its contents
		all = append(all, runOver(k, name, func(w *workplace, to string) error { return w.stream(to+"."+format, bad) }))
	}
	for _, format := range []string{"gz", "zst", "lz4", "sz"} {
		add("one-line-"+format, format, func(w io.Writer) error { return compress(w, format, repeat("a", 300<<20)) })
		add("commas-"+format, format, func(w io.Writer) error { return compress(w, format, repeat(",", 100<<20)) })
	}
	add("many-members", "gz", func(w io.Writer) error { // each takes a reader anew
		var b bytes.Buffer
		if err := compress(&b, "gz", strings.NewReader("")); err != nil {
			return err
		}
		for range 20_000 {
			if _, err := w.Write(b.Bytes()); err != nil {
				return err
			}
		}
		return nil
	})
	all = append(all, windows())
	for i := range 72 {
		format := frameFormats[i%len(frameFormats)]
		bad := func(w *workplace, to string) error { return mutated("bad.ndjson."+format)(w, to+"."+format) }
		name := fmt.Sprintf("mutated%02d-%s", i, format)
		if i/len(frameFormats)%2 == 0 {
			all = append(all, runOver(k, name, bad))
			continue
		}
		c := parseOver(k, name, bad)
		c.steps[0].args[6] += "." + format
		all = append(all, c)
	}
	for _, format := range frameFormats {
		all = append(all, runOver(k, "cut-"+format, func(w *workplace, to string) error {
			data, err := w.base("bad.ndjson." + format)
			if err != nil {
				return err
			}
			return w.write(to+"."+format, data[:len(data)*2/3])
		}))
	}
	bases := make([]string, len(frameFormats))
	for i, f := range frameFormats {
		bases[i] = "bad.ndjson." + f
	}
	return append(all, many(k, bases, []string{"run", "run.yaml"}),
		many(k, bases, append([]string{"parse", "--quiet", "--parallel", "1", "--to", "ndjson", "--columns", "url,host", "in"}, k.flags...)))
}

// windows are four files side by side that say that they look back 512 MiB.
func windows() *testCase {
	k := ndjsonKind
	k.format = "frames"
	c := runOver(k, "windows-512m", func(w *workplace, to string) error {
		var b bytes.Buffer
		if err := compress(&b, "zst", repeat("https://bad.example/\n", 4<<20)); err != nil {
			return err
		}
		for i := range 4 {
			if err := w.write(fmt.Sprintf("%s%d.zst", to, i), claimedWindow(b.Bytes())); err != nil {
				return err
			}
		}
		return nil
	})
	c.steps[0].before = func(w *workplace) error {
		return w.write("run.yaml", []byte(strings.Replace(configuration(k.codec), "paths: [in]", "paths: [in], parallel: 4", 1)))
	}
	return c
}
