//go:build !crossing || !linux

package main

import "github.com/apache/arrow/go/v15/arrow"

// What the library calls of the Processor. The benchmark of the border has its own: all else is the border.

func (p *shared) parse(urls, bases arrow.Array) (arrow.Record, error) {
	return p.processor.Parse(urls, bases)
}

func (p *shared) view(urls, bases arrow.Array, see func([]arrow.ArrayData) error) error {
	return p.processor.View(urls, bases, see)
}

func giveBack(record arrow.Record) { record.Release() }
