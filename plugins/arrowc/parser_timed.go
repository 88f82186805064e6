//go:build crossing && linux

package main

/*
#include "border.h"
#include "crossing.h"
*/
import "C"

import "github.com/apache/arrow/go/v15/arrow"

// What the calls of the Processor have cost the thread of test/crossing.c, with what it costs to know.
var (
	inside         C.struct_cost
	insideCounters C.int = -1
)

// urlmillInside sets *was to what was inside since the last time. counters is that of urlmillDirect, for the time to come.
//
//export urlmillInside
func urlmillInside(counters C.int, was *C.struct_cost) {
	*was = inside
	inside, insideCounters = C.struct_cost{}, counters
}

func (p *shared) parse(urls, bases arrow.Array) (record arrow.Record, err error) {
	enter(func() { record, err = p.processor.Parse(urls, bases) })
	return record, err
}

func (p *shared) view(urls, bases arrow.Array, see func([]arrow.ArrayData) error) (err error) {
	enter(func() {
		err = p.processor.View(urls, bases, func(columns []arrow.ArrayData) (err error) {
			leave(func() { err = see(columns) })
			return err
		})
	})
	return err
}

func giveBack(record arrow.Record) { enter(record.Release) }

// enter calls f, and adds its cost to what is inside.
func enter(f func()) {
	var cost, measuring C.struct_cost
	timed(insideCounters, &cost, &measuring, f)
	add(&inside, cost)
	add(&inside, measuring)
}

// leave calls f within what enter calls, and takes its cost out of what is inside.
func leave(f func()) {
	var cost, measuring C.struct_cost
	timed(insideCounters, &cost, &measuring, f)
	inside = less(inside, cost)
}

// timed sets what f costs, and what measuring that has cost.
func timed(counters C.int, cost, measuring *C.struct_cost, f func()) {
	idle := now(counters)
	began := now(counters)
	f()
	ended := now(counters)
	once := less(began, idle)
	*cost = less(less(ended, began), once)
	for range 3 {
		add(measuring, once)
	}
}

func add(to *C.struct_cost, c C.struct_cost) {
	to.nanoseconds += c.nanoseconds
	to.cycles += c.cycles
	to.instructions += c.instructions
}

func less(a, b C.struct_cost) C.struct_cost {
	return C.struct_cost{a.nanoseconds - b.nanoseconds, a.cycles - b.cycles, a.instructions - b.instructions}
}
