//go:build read

package main

/*
#include <errno.h>
#include <stdlib.h>
#include "border.h"
*/
import "C"

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/cgo"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/accesslog"
	"github.com/urlmill/urlmill/sources/file"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// The bounds of a batch of rows.
const (
	readRows  = 16_384
	readBytes = 8 << 20
)

// rowsOptions is the JSON that read.h describes.
type rowsOptions struct {
	Paths   []string `json:"paths"`
	Codec   string   `json:"codec"`
	Nginx   string   `json:"nginx"`
	Apache  string   `json:"apache"`
	BaseURL string   `json:"base_url"`
	Columns []string `json:"columns"`
	PSL     string   `json:"psl"`
}

// factory returns the codec.
func (o rowsOptions) factory() (codec.Factory, error) {
	lines := o.Codec == "" || o.Codec == codec.LinesKind.Name
	switch {
	case (o.Nginx != "" || o.Apache != "") && o.Codec != "":
		return nil, errors.New("give one of codec, nginx and apache")
	case o.Nginx != "" || o.Apache != "" || slices.Contains(accesslog.Formats(), o.Codec):
		return accesslog.New(accesslog.Options{Format: o.Codec, Nginx: o.Nginx, Apache: o.Apache, Base: o.BaseURL})
	case !lines:
		return nil, fmt.Errorf("there is no codec %q; there are lines, %s", o.Codec, strings.Join(accesslog.Formats(), ", "))
	case o.BaseURL != "":
		return nil, errors.New("base_url is for access logs: lines have whole URLs")
	}
	return codec.NewLines(codec.LinesOptions{}), nil
}

// rows reads files, and makes arrays of C of them.
type rows struct {
	source *file.Source
	plan   *urlcols.Plan
	model  *C.struct_urlmill_schema
	ctx    context.Context //nolint:containedctx // that of the stream, which has no caller with one
	cancel context.CancelFunc
	start  sync.Once
	ready  chan *C.struct_ArrowArray // malloc'd, closed at the end
	err    error                     // of the end
}

func openRows(text string) (*rows, error) {
	var o rowsOptions
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		return nil, fmt.Errorf("options: %w", err)
	}
	f, err := o.factory()
	if err != nil {
		return nil, err
	}
	columns := urlcols.Options{
		Include: o.Columns, OnError: pipeline.Keep, Provenance: urlcols.FileProvenance,
		HasBase: f.HasBase(), KeepsRecords: f.KeepsRecords(), Carried: f.Fields(),
	}
	if o.PSL != "" {
		list, err := os.ReadFile(o.PSL)
		if err == nil {
			columns.PSL, err = psl.Parse(bytes.NewReader(list))
		}
		if err != nil {
			return nil, fmt.Errorf("psl: %w", err)
		}
	}
	r := &rows{ready: make(chan *C.struct_ArrowArray)}
	if r.plan, err = urlcols.New(columns); err != nil {
		return nil, err
	}
	if r.source, err = file.New(file.Options{Paths: o.Paths}, f, nil); err != nil {
		return nil, err
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.model, err = newModel(r.plan.Schemas()[pipeline.Rows])
	return r, err
}

// run reads all files.
func (r *rows) run() {
	defer close(r.ready)
	r.err = r.source.Run(r.ctx, nil, r.lane)
}

// lane reads one file. A fault of ours is an error: it runs in a goroutine, where it would end the process of the host.
func (r *rows) lane(ctx context.Context, l pipeline.Lane) (err error) {
	defer func() {
		if fault := recovered(recover()); fault != nil {
			err = fault
		}
	}()
	if err := l.Start(ctx, pipeline.Unknown); err != nil {
		return err
	}
	transform, b := r.plan.NewTransform(), &pipeline.Batch{MaxRows: readRows, MaxBytes: readBytes}
	for {
		if w, ok := l.(pipeline.Waiter); ok {
			w.Wait(ctx)
		}
		err := l.Next(ctx, b)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil || b.Len() == 0 {
			if err != nil {
				return err
			}
			continue
		}
		out, err := transform.Apply(b)
		if err != nil {
			return err
		}
		if err := r.hand(ctx, out.Records[pipeline.Rows]); err != nil {
			return err
		}
	}
}

// hand copies a record, releases it, and waits for somebody who takes the copy.
func (r *rows) hand(ctx context.Context, record arrow.Record) error {
	defer record.Release()
	var columns []arrow.ArrayData
	for _, c := range record.Columns() {
		columns = append(columns, c.Data())
	}
	a := (*C.struct_ArrowArray)(C.calloc(1, C.sizeof_struct_ArrowArray))
	if a == nil {
		return errMemory
	}
	if err := (*lent)(nil).export(columns, int(record.NumRows()), nil, a); err != nil {
		C.free(unsafe.Pointer(a))
		return err
	}
	select {
	case r.ready <- a:
		return nil
	case <-ctx.Done():
		C.urlmill_free_array(a)
		return context.Cause(ctx)
	}
}

// close ends reading, and waits for that.
func (r *rows) close() {
	r.cancel()
	r.start.Do(func() { close(r.ready) })
	for a := range r.ready {
		C.urlmill_free_array(a)
	}
	C.free(unsafe.Pointer(r.model))
}

// failed is what C is told.
func failed(text **C.char) func(error) C.int {
	return func(err error) C.int {
		*text = C.CString(err.Error())
		return numberOf(err)
	}
}

func rowsOf(handle C.uintptr_t) *rows { return cgo.Handle(handle).Value().(*rows) }

//export urlmillReadOpen
func urlmillReadOpen(options *C.char, handle *C.uintptr_t, text **C.char) C.int {
	return guarded(failed(text), func() error {
		r, err := openRows(C.GoString(options))
		if err != nil {
			return err
		}
		*handle = C.uintptr_t(cgo.NewHandle(r))
		alive.Add(1)
		return nil
	})
}

//export urlmillReadSchema
func urlmillReadSchema(handle C.uintptr_t, out *C.struct_ArrowSchema, text **C.char) C.int {
	return guarded(failed(text), func() error { return newSchema(rowsOf(handle).model, nil, nil, kept, out) })
}

//export urlmillReadNext
func urlmillReadNext(handle C.uintptr_t, out *C.struct_ArrowArray, text **C.char) C.int {
	return guarded(failed(text), func() error {
		r := rowsOf(handle)
		r.start.Do(func() { go r.run() })
		a, ok := <-r.ready
		if !ok {
			return r.err
		}
		*out = *a
		C.free(unsafe.Pointer(a))
		return nil
	})
}

//export urlmillReadClose
func urlmillReadClose(handle C.uintptr_t) {
	h := cgo.Handle(handle)
	h.Value().(*rows).close()
	h.Delete()
	alive.Add(-1)
}
