package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets this program stand in for urlmill: it does what its first argument says.
func TestMain(m *testing.M) {
	if os.Getenv(envSecret) == "" {
		os.Exit(m.Run())
	}
	switch what := os.Args[1]; what {
	case "crash":
		panic("on purpose")
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "code":
		os.Exit(77)
	case "slowly":
		if _, err := os.Stat("busy"); err == nil {
			time.Sleep(time.Hour)
		}
	case "hang":
		time.Sleep(time.Hour)
	case "memory":
		b := make([]byte, memoryLimit*3/2)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
	case "tell":
		fmt.Println("the password is", os.Getenv(envSecret))
	case "files":
		var open []*os.File
		for range 20 {
			f, err := os.Open("in/bad")
			if err != nil {
				panic(err)
			}
			open = append(open, f)
		}
		time.Sleep(time.Second)
		for _, f := range open {
			_ = f.Close()
		}
	case "rows":
		for i := range goodRows {
			fmt.Printf("{\"url\":\"https://good.example/%d\"}\n", i)
		}
	case "fewer":
		fmt.Println(`{"url":"https://good.example/0"}`)
	}
	os.Exit(0)
}

// TestJudge: each kind of fault is seen, and a process that does well has none.
func TestJudge(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	code, err := mappedCode(self)
	if err != nil {
		t.Skip("not an ELF file, so not a system that this program runs on")
	}
	for what, want := range map[string]string{
		"crash": "crashed", "kill": "crashed", "code": "crashed", "hang": "hung", "memory": "over_limit", "tell": "leaked", "files": "leaked", "fewer": "poisoned", "rows": "",
	} {
		t.Run(what, func(t *testing.T) {
			l := &lab{binary: self, code: code, dir: t.TempDir(), limit: 30 * time.Second}
			if what == "hang" {
				l.limit = time.Second
			}
			s := step{args: []string{what}, codes: []int{0}}
			switch what {
			case "fewer", "rows":
				s.good = rowsPrinted
			case "files":
				s.watch = watchFiles
			}
			c := &testCase{name: what, format: "test", steps: []step{s}, files: func(w *workplace) error { return w.write("in/bad", nil) }}
			v := l.runCase(context.Background(), c)
			var kinds []string
			for _, f := range v.faults {
				kinds = append(kinds, f.kind)
			}
			if got := strings.Join(kinds, ","); got != want {
				t.Errorf("%q, want %q: %v", got, want, v.faults)
			}
			sum := newSums()
			sum.add(c, v, false)
			if sum.passed() != (want == "") || want != "" && !strings.Contains(sum.closing(), want+"=1") {
				t.Errorf("passed %t: %s", sum.passed(), sum.closing())
			}
			if _, err := os.Stat(filepath.Join(l.dir, "cases", what)); (err == nil) != (want != "") {
				t.Errorf("the folder of the case: %v", err)
			}
		})
	}
}

// TestOnceMore: a case that took long is tried again, and only that counts.
func TestOnceMore(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, busy := range map[string]int{"busy machine": 1, "hung": 2} {
		attempts := 0
		c := &testCase{name: name, format: "test", steps: []step{{args: []string{"slowly"}, codes: []int{0}}}, files: func(w *workplace) error {
			if attempts++; attempts <= busy {
				return w.write("busy", nil)
			}
			return nil
		}}
		l := &lab{binary: self, code: 1 << 30, dir: t.TempDir(), limit: 2 * time.Second}
		passed, err := l.runAll(context.Background(), []*testCase{c}, 2)
		if err != nil || passed != (busy == 1) || attempts != 2 {
			t.Errorf("%s: passed %t after %d attempts: %v", name, passed, attempts, err)
		}
	}
}

// TestKnown: what is known is not counted, and has to go on failing.
func TestKnown(t *testing.T) {
	s := newSums()
	s.add(&testCase{format: "a"}, verdict{}, false)
	s.add(&testCase{format: "a"}, verdict{faults: []fault{{kind: "hung"}}}, true)
	if want := "cases=1 crashed=0 over_limit=0 hung=0 leaked=0 poisoned=0"; !s.passed() || s.closing() != want {
		t.Errorf("%s", s.closing())
	}
	s.add(&testCase{format: "a"}, verdict{}, true)
	if s.passed() {
		t.Error("a known case that is well passes")
	}
	all := allCases()
	for name := range knownCases {
		if !slices.ContainsFunc(all, func(c *testCase) bool { return c.name == name }) {
			t.Errorf("there is no case %s", name)
		}
	}
}

// TestCases: names are there once, and a seed makes the same input again.
func TestCases(t *testing.T) {
	all := allCases()
	made := 0
	for i, c := range all {
		if i > 0 && all[i-1].name == c.name {
			t.Errorf("%s is there twice", c.name)
		}
		if strings.Contains(c.name, "/mutated") {
			made++
		}
	}
	for seed := range uint64(20) {
		formats, left := map[string]bool{}, 0
		some := (&lab{seed: seed}).fewer(slices.Clone(all))
		for _, c := range some {
			if strings.Contains(c.name, "/mutated") {
				formats[c.format] = true
				left++
			}
		}
		if left < 300 || len(some)-left != len(all)-made {
			t.Errorf("seed %d: %d mutated cases, want 300, and %d others of %d", seed, left, len(some)-left, len(all)-made)
		}
		for _, c := range all {
			if strings.Contains(c.name, "/mutated") && !formats[c.format] {
				t.Errorf("seed %d: no mutated case of %s", seed, c.format)
			}
		}
	}
	for range 100 {
		a, b := (&lab{seed: 7}).random("x"), (&lab{seed: 7}).random("x")
		if one, two := string(mutate(a, records("bad"))), string(mutate(b, records("bad"))); one != two {
			t.Fatal("the same seed makes something else")
		}
	}
	n, err := io.Copy(io.Discard, repeat("ab", 1<<20))
	if err != nil || n < 1<<20 || n > 1<<21 {
		t.Errorf("repeat: %d bytes, %v", n, err)
	}
}
