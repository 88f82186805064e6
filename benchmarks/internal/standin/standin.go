// Package standin lets a program use what is made for tests.
package standin

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"
)

// TB stands in for the test that helpers such as those of kafkatest want. What it does not implement panics.
type TB struct {
	testing.TB
	name     string
	cleanups []func()
	failed   bool
}

// New returns a stand-in whose folders have name in their names. Helpers may ask for flags of "go test", which
// have their defaults then.
func New(name string) *TB {
	testing.Init()
	if !flag.Parsed() {
		_ = flag.CommandLine.Parse(nil) // none are given
	}
	return &TB{name: name}
}

// failure is what a fatal error panics with.
type failure struct{ error }

func (*TB) Helper()                            {}
func (p *TB) Name() string                     { return p.name }
func (*TB) Context() context.Context           { return context.Background() }
func (p *TB) Failed() bool                     { return p.failed }
func (p *TB) Cleanup(f func())                 { p.cleanups = append(p.cleanups, f) }
func (*TB) Logf(format string, args ...any)    { fmt.Fprintf(os.Stderr, format+"\n", args...) }
func (*TB) Log(args ...any)                    { fmt.Fprintln(os.Stderr, args...) }
func (p *TB) Fatal(args ...any)                { p.fatal(errors.New(fmt.Sprint(args...))) }
func (p *TB) Fatalf(format string, a ...any)   { p.fatal(fmt.Errorf(format, a...)) }
func (p *TB) Skip(args ...any)                 { p.fatal(errors.New(fmt.Sprint(args...))) }
func (p *TB) Skipf(format string, args ...any) { p.fatal(fmt.Errorf(format, args...)) }
func (p *TB) Error(args ...any)                { p.failed = true; p.Log(args...) }
func (p *TB) Errorf(format string, a ...any)   { p.failed = true; p.Logf(format, a...) }

func (p *TB) fatal(err error) {
	p.failed = true
	panic(failure{err})
}

func (p *TB) TempDir() string {
	dir, err := os.MkdirTemp("", "urlmill-"+p.name+"-")
	if err != nil {
		p.fatal(err)
	}
	p.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// End runs the cleanups, last first, and returns the fatal error, if there was one. Its argument is what was
// recovered.
func (p *TB) End(recovered any) error {
	for i := len(p.cleanups) - 1; i >= 0; i-- {
		p.cleanups[i]()
	}
	switch r := recovered.(type) {
	case nil:
		return nil
	case failure:
		return r.error
	default:
		panic(r)
	}
}
