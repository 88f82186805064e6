package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// archiveKind is how archives are read.
var archiveKind = kind{"archives", ".warc", "warc: {types: [all]}", []string{"--codec", "warc"}, "good.warc"}

// archive returns the records of an archive whose URLs are of a host.
func archive(host string) []byte {
	var b bytes.Buffer
	for i := range goodRows {
		block := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>%d</p>", i)
		b.WriteString(archiveRecord("response", fmt.Sprintf("https://%s.example/%d", host, i), int64(len(block)), block))
	}
	return b.Bytes()
}

func archiveRecord(kind, target string, length int64, block string) string {
	return fmt.Sprintf("WARC/1.0\r\nWARC-Type: %s\r\nWARC-Date: 2026-11-24T13:55:00Z\r\nWARC-Target-URI: %s\r\nContent-Type: application/http; msgtype=response\r\n"+
		"Content-Length: %d\r\n\r\n%s\r\n\r\n", kind, target, length, block)
}

// compressArchive compresses the records of an archive that is to be mutated, each on its own.
func (l *lab) compressArchive() error {
	for _, format := range []string{"gz", "zst"} {
		var b bytes.Buffer
		for r := range bytes.SplitSeq(archive("bad"), []byte("WARC/1.0")) {
			if len(r) == 0 {
				continue
			}
			if err := compress(&b, format, io.MultiReader(strings.NewReader("WARC/1.0"), bytes.NewReader(r))); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(l.good, "bad.warc."+format), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// archiveCases are WARC and WAT files that claim, nest and repeat too much, or are damaged.
func archiveCases() []*testCase {
	const gib = 1 << 30
	const page = `{"Envelope":{"WARC-Header-Metadata":{"WARC-Target-URI":"https://bad.example/"},"Payload-Metadata":{"HTTP-Response-Metadata":{"HTML-Metadata":{`
	head := func(length int64) string { return archiveRecord("response", "https://bad.example/", length, "") }
	var all []*testCase
	wat := archiveKind
	wat.format, wat.codec, wat.flags, wat.good = "wat", "wat: {}", []string{"--codec", "wat"}, "good.wat"
	add := func(k kind, name string, bad func(w io.Writer) error) {
		all = append(all, runOver(k, name, func(w *workplace, to string) error { return w.stream(to, bad) }))
	}
	text := func(parts ...io.Reader) func(w io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.Copy(w, io.MultiReader(parts...))
			return err
		}
	}
	str := func(s string) io.Reader { return strings.NewReader(s) }
	add(archiveKind, "claims", text(str(head(1<<60)+head(-1)+head(5))))
	add(archiveKind, "header-without-end", text(str("WARC/1.0\r\nX: "), repeat("a", 300<<20)))
	add(archiveKind, "many-headers", text(str("WARC/1.0\r\n"), repeat("WARC-Type: response\r\n", 100<<20)))
	add(archiveKind, "http-without-end", text(str(head(200<<20)), repeat("a: b\r\n", 200<<20)))
	add(archiveKind, "openings", text(repeat("WARC/1.0\r\n\r\n", 20<<20)))
	add(archiveKind, "body-of-a-gigabyte", func(w io.Writer) error {
		return compress(w, "gz", io.MultiReader(str(head(gib)), repeat("x", gib)))
	})
	add(archiveKind, "magics", func(w io.Writer) error { // each could be a member
		var b bytes.Buffer
		if err := compress(&b, "gz", str(head(0))); err != nil {
			return err
		}
		return text(&b, repeat("\x1f\x8b\x08\x00", 8<<20))(w)
	})
	add(archiveKind, "members-in-members", func(w io.Writer) error { // each is read on to the end before it turns out to be damaged
		var b bytes.Buffer
		if err := compress(&b, "gz", str(head(0))); err != nil {
			return err
		}
		stored := "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x00\xff\xff\x00\x00" + "WARC/1.0\r\n\r\n"
		return text(&b, repeat(stored+strings.Repeat("\x00", 70), 8<<20))(w)
	})
	add(archiveKind, "dictionary", text(str("\x5d\x2a\x4d\x18\xff\xff\xff\x7f"), repeat("a", 10<<20)))
	add(wat, "nested", text(str(watHead(100<<20)), repeat("[", 100<<20)))
	links := page + `"Links":[` + strings.Repeat(`{"path":"A@/href","url":""},`, 400_000) + `{"url":""}]}}}}}`
	add(wat, "links", text(str(watHead(len(links))+links)))
	long := strings.Repeat("https://bad.example/", 50_000)
	long = page + `"Head":{"Base":"` + long + `"},"Links":[` + strings.Repeat(`{"url":"a"},`, 2000) + `{"url":""}]}}}}}`
	add(wat, "long-base", text(str(watHead(len(long))+long)))
	for i := range 24 {
		base, k := []string{"bad.warc", "bad.warc.gz", "bad.warc.zst", "bad.wat"}[i%4], archiveKind
		if base == "bad.wat" {
			k = wat
		}
		all = append(all, runOver(k, fmt.Sprintf("mutated%02d", i), mutated(base)))
	}
	return all
}

func watHead(length int) string {
	head, _, _ := strings.Cut(archiveRecord("metadata", "https://bad.example/", int64(length), ""), "\r\n\r\n")
	return head + "\r\n\r\n"
}

// pages returns a WAT file with a page whose links are of a host.
func pages(host string) []byte {
	var links []string
	for i := range goodRows {
		links = append(links, fmt.Sprintf(`{"path":"A@/href","url":"https://%s.example/%d","text":"x"}`, host, i))
	}
	document := `{"Envelope":{"WARC-Header-Metadata":{"WARC-Target-URI":"https://page.example/"},"Payload-Metadata":{"HTTP-Response-Metadata":{"HTML-Metadata":{"Links":[` +
		strings.Join(links, ",") + `]}}}}}`
	return []byte(watHead(len(document)) + document + "\r\n\r\n")
}
