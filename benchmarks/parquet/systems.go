package main

import (
	"debug/buildinfo"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/benchmarks/parquet/pass"
	"github.com/urlmill/urlmill/sinks/parquet"
)

// system writes the table as one file.
type system struct {
	name, version string
	pass          func(codec string) (pass.Result, error)
	codec         string // the only one that it is measured with, "" for all
	aside         bool   // it does something else than the others: ratios do not count it
}

// programs are those that other systems run in. Python and Rust may be "", and their systems are left out then.
type programs struct{ v18, rust, python, peers string }

// systems returns the systems whose names are in the list only, or all if that is empty, with urlmill as the first. Rows of
// parquet-go are structures for the full profile.
func systems(t *table, p programs, only string) (all []system, done func() error, err error) {
	v15, err := newArrow15(t.schema, t.records)
	if err != nil {
		return nil, nil, err
	}
	file, err := writeTable(t)
	if err != nil {
		return nil, nil, err
	}
	ends := []func() error{func() error { return os.Remove(file) }}
	done = func() error {
		for _, end := range ends {
			err = errors.Join(err, end())
		}
		return err
	}
	here := func(encode func(w io.Writer, codec string) error) func(codec string) (pass.Result, error) {
		return func(codec string) (pass.Result, error) { return pass.Run(encode, codec) }
	}
	u := &urlmill{table: t, files: map[string]*parquet.File{}}
	chosen := func(name string) bool { return only == "" || slices.Contains(strings.Split(only, ","), name) }
	all = []system{{name: "urlmill", pass: here(u.encode)}}
	if chosen("urlmill_by_host") {
		u := &urlmill{table: t, sortBy: []string{"host"}, files: map[string]*parquet.File{}}
		all = append(all, system{name: "urlmill_by_host", pass: here(u.encode), aside: true})
	}
	if chosen("arrow_v15") {
		all = append(all, system{name: "arrow_v15", version: version("github.com/apache/arrow/go/v15"), pass: here(v15.encode)})
	}
	if chosen("parquet_go") && t.profile == full {
		all = append(all, system{name: "parquet_go", version: version("github.com/parquet-go/parquet-go"), pass: here(newParquetGo(t.records).encode)})
	}
	add := func(name, version, program string, args ...string) error {
		if !chosen(name) {
			return nil
		}
		c, err := startChild(program, args...)
		if err == nil {
			ends = append(ends, c.close)
			s := system{name: name, version: version, pass: c.pass}
			if name == "arrow_cpp_zstd2" { // at level 2, where its files are about as small as those of klauspost's level 1
				s.codec, s.aside = "zstd", true
			}
			all = append(all, s)
		}
		return err
	}
	info, err := buildinfo.ReadFile(p.v18)
	if err == nil {
		err = add("arrow_v18", versionIn(info, "github.com/apache/arrow-go/v18"), p.v18, file)
	}
	if p.rust != "" {
		err = errors.Join(err, add("arrow_rs", rustVersion, p.rust, file), add("arrow_rs_views", rustVersion, p.rust, file, "views"))
	}
	if p.python != "" {
		for _, name := range []string{"arrow_cpp", "arrow_cpp_zstd2", "polars", "duckdb", "clickhouse"} {
			out, failed := exec.Command(p.python, p.peers, "version", name).Output()
			err = errors.Join(err, failed, add(name, strings.TrimSpace(string(out)), p.python, p.peers, name, file))
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	return all, done, nil
}

// rustVersion is that of Cargo.toml.
const rustVersion = "60.1.0"

func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	return versionIn(info, module)
}

func versionIn(info *debug.BuildInfo, module string) string {
	for _, d := range info.Deps {
		if d.Path == module {
			return d.Version
		}
	}
	return ""
}

// urlmill writes one file after the other, as the sink does.
type urlmill struct {
	table  *table
	sortBy []string
	files  map[string]*parquet.File
}

func (u *urlmill) encode(w io.Writer, codec string) error {
	f := u.files[codec]
	var err error
	if f == nil {
		f, err = parquet.NewFile(w, u.table.schema, parquet.Options{Compression: codec, RowGroupRows: groupRows, RowGroupBytes: 512 << 20, SortBy: u.sortBy})
		u.files[codec] = f
	} else {
		err = f.Reset(w)
	}
	if err != nil {
		return err
	}
	for _, r := range u.table.records {
		if err := f.Write(r); err != nil {
			return err
		}
	}
	return f.Close()
}
