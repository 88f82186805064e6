package psl

import (
	_ "embed"
	"sync"
	"sync/atomic"
)

//go:generate go run ./internal/gen -module github.com/weppos/publicsuffix-go@v0.50.3 -o list.txt

//go:embed list.txt
var embeddedText string

// embedded builds the list of this package once.
var embedded = sync.OnceValue(func() *List {
	l, err := parse(embeddedText)
	if err != nil {
		panic(err) // list.txt is part of the package and its tests parse it
	}
	return l
})

// current is the list put in place by Swap, or nil for the embedded one.
var current atomic.Pointer[List]

// Default returns the current list: the one given to [Swap] last, else the embedded one, which the first call
// builds. It is safe for concurrent use.
func Default() *List {
	if l := current.Load(); l != nil {
		return l
	}
	return embedded()
}

// Swap makes l the current list, or the embedded one again when l is nil, and returns the list that was current. It is
// safe for concurrent use: lookups under way finish on the list they began with.
func Swap(l *List) (old *List) {
	if old = current.Swap(l); old != nil {
		return old
	}
	return embedded()
}

// Embedded returns the list that is part of the package, whichever is current.
func Embedded() *List { return embedded() }

// Version returns the version of the current list; see [List.Version].
func Version() string { return Default().Version() }
