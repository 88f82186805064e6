package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// goodRows is how many rows a good file has.
const goodRows = 50

// record is a row of a good file, whose URL is of this host.
func record(host string, i int) string {
	return fmt.Sprintf(`{"url":"https://%s.example/%d?q=%d#f","n":%d,"f":%d.5,"b":%t,"at":"2026-11-21T07:%02d:00Z","tags":["x","y%d"],"in":{"s":"é%d","l":[%d,null]}}`,
		host, i, i*i, i*1000, i, i%2 == 0, i%60, i, i, i) + "\n"
}

func records(host string) []byte {
	var b bytes.Buffer
	for i := range goodRows {
		b.WriteString(record(host, i))
	}
	return b.Bytes()
}

func delimitedRows(host string) []byte {
	b := bytes.NewBufferString("n,url,text\n")
	for i := range goodRows {
		fmt.Fprintf(b, "%d,https://%s.example/%d,\"a \"\"text\"\", %d\"\n", i, host, i, i)
	}
	return b.Bytes()
}

func accessLog(host string) []byte {
	var b bytes.Buffer
	for i := range goodRows {
		fmt.Fprintf(&b, "192.0.2.%d - - [21/Nov/2026:07:%02d:00 +0000] \"GET https://%s.example/%d HTTP/1.1\" 200 %d \"https://r.example/\" \"curl/8\\\"x\"\n", i, i, host, i, i)
	}
	return b.Bytes()
}

// makeGood writes files that are as they have to be: what is mutated, of the host "bad", and what is beside it, of "good".
func (l *lab) makeGood(ctx context.Context) error {
	l.good = filepath.Join(l.dir, "base")
	if err := os.MkdirAll(l.good, 0o755); err != nil {
		return err
	}
	for _, host := range []string{"good", "bad"} {
		files := map[string][]byte{".ndjson": records(host), ".csv": delimitedRows(host), ".log": accessLog(host), ".warc": archive(host), ".wat": pages(host)}
		for name, data := range files {
			if err := os.WriteFile(filepath.Join(l.good, host+name), data, 0o644); err != nil {
				return err
			}
		}
		if err := l.convertAll(ctx, host); err != nil {
			return err
		}
	}
	if err := l.compressArchive(); err != nil {
		return err
	}
	return l.compressAll()
}

// convertAll has the binary write Parquet and Arrow.
func (l *lab) convertAll(ctx context.Context, host string) error {
	for name, compression := range map[string]string{
		"-none.parquet": "none", "-snappy.parquet": "snappy", "-gzip.parquet": "gzip", "-zstd.parquet": "zstd",
		"-none.arrow": "none", "-lz4.arrow": "lz4", "-none.arrows": "none", "-zstd.arrows": "zstd", "-lz4.arrows": "lz4",
	} {
		to := filepath.Ext(name)[1:]
		if to == "arrows" {
			to = "arrow-stream"
		}
		cmd := exec.CommandContext(ctx, l.binary, "convert", host+".ndjson", host+name, "--to", to, "--compression", compression)
		cmd.Dir = l.good
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
		}
	}
	return nil
}

// compressAll compresses the records that are to be mutated.
func (l *lab) compressAll() error {
	for _, name := range frameFormats {
		var b bytes.Buffer
		if err := compress(&b, name, bytes.NewReader(records("bad"))); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(l.good, "bad.ndjson."+name), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

var frameFormats = []string{"gz", "zst", "lz4", "sz", "xz", "bz2"}

// compress writes what is read as frames of a format. What xz and bzip2 have is always the same, as there is no compressor for them here.
func compress(to io.Writer, format string, from io.Reader) error {
	var w io.WriteCloser
	switch format {
	case "gz":
		w = gzip.NewWriter(to)
	case "zst":
		z, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		w = z
	case "lz4":
		w = lz4.NewWriter(to)
	case "sz":
		w = snappy.NewBufferedWriter(to)
	case "xz", "bz2":
		data, err := base64.StdEncoding.DecodeString(map[string]string{"xz": xzRecords, "bz2": bzip2Records}[format])
		if err == nil {
			_, err = to.Write(data)
		}
		return err
	}
	_, err := io.Copy(w, from)
	if e := w.Close(); err == nil {
		err = e
	}
	return err
}

// Lines {"url":"https://bad.example/N"} for N from 0 to 49.
const (
	xzRecords = "/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4AZnAIhdAD2Iiqdj4HYGdNkYRDPrCQWyzx4/ynDlTqaw4VsEwe5uPJQPSBEmISaAio6ycx6SSHmh7/Gj2/5klud7" +
		"p2517lt8usV8BuB0u/2PTaG+bd9O0tbZwUFRYFFbvAIiwckzPYyASGMNDd5T/aLw2rpJ//ii4z/e/1Azcf8yJJkk4NSeH+aKMVYN2QAAwBdnliyklH8AAaQB" +
		"6AwAACY+aWaxxGf7AgAAAAAEWVo="
	bzip2Records = "QlpoOTFBWSZTWV36c0UAAwJZgAAQEAH/8DZGXkowAMWBJUj9UH/qqekMhpkMhCmf6qpkzUaBiNAClVE/1Seo0A0YJ6nqbECZECYECbECYt13S1/Xt3wx5LuV" +
		"VeKu9VXgq0qtVVV6IEvIEyIE8yBLWtaoViYKFImBVdEwCZgABmZmZm7dmZyRfqLoi2RaIuqL8RdUWiLVFqi4ItUX8i2RYi3otkWiLki2Rb0X+LuSKcKEgu/T" +
		"mig="
)
