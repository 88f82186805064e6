package main

import (
	"io"
	"runtime/debug"

	"github.com/urlmill/urlmill/benchmarks/parquet/pass"
	"github.com/urlmill/urlmill/sinks/parquet"
)

// system writes the table as one file.
type system struct {
	name, version string
	pass          func(codec string) (pass.Result, error)
}

// systems returns all systems, with urlmill as the first. arrow v18 is the program v18.
func systems(t *table, v18 string) (all []system, done func() error, err error) {
	v15, err := newArrow15(t.schema, t.records)
	if err != nil {
		return nil, nil, err
	}
	here := func(encode func(w io.Writer, codec string) error) func(codec string) (pass.Result, error) {
		return func(codec string) (pass.Result, error) { return pass.Run(encode, codec) }
	}
	c, err := startChild(v18, t)
	if err != nil {
		return nil, nil, err
	}
	u := &urlmill{table: t, files: map[string]*parquet.File{}}
	return []system{
		{"urlmill", "", here(u.encode)},
		{"arrow_v15", version("github.com/apache/arrow/go/v15"), here(v15.encode)},
		{"arrow_v18", version("github.com/apache/arrow-go/v18"), c.pass},
		{"parquet_go", version("github.com/parquet-go/parquet-go"), here(newParquetGo(t.records).encode)},
	}, c.close, nil
}

func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, d := range info.Deps {
		if d.Path == module {
			return d.Version
		}
	}
	return ""
}

// urlmill writes one file after the other, as the sink does.
type urlmill struct {
	table *table
	files map[string]*parquet.File
}

func (u *urlmill) encode(w io.Writer, codec string) error {
	f := u.files[codec]
	var err error
	if f == nil {
		f, err = parquet.NewFile(w, u.table.schema, parquet.Options{Compression: codec, RowGroupRows: groupRows, RowGroupBytes: 512 << 20})
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
