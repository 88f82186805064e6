package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
)

// FuzzArrays gives the library arrays and schemas that break the interface, by a C program with the sanitizer of addresses where
// the compiler has it. One process takes all inputs, so that none may leave anything behind.
func FuzzArrays(f *testing.F) {
	const built = "URLMILL_FUZZ_ARRAYS" // the program, for workers of the process that has built it
	if os.Getenv(built) == "" {
		cc := compiler(f)
		var flags []string
		if sanitizes(f, cc) == nil {
			flags = append(flags, "-fsanitize=address")
		}
		f.Setenv(built, program(f, cc, library(f, "", true), "fuzz.c", flags...))
	}
	cmd := exec.Command(os.Getenv(built))
	var said bytes.Buffer
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		f.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		f.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			f.Errorf("%v\n%s", err, said.String())
		}
		// Inputs have at most a KiB. The sanitizer keeps 256 MiB of what was freed.
		if peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss; runtime.GOOS == "linux" && peak > 1<<20 {
			f.Errorf("the process took %d KiB", peak)
		}
	})
	for batch := range byte(7) {
		for streamed := range byte(2) {
			f.Add([]byte{batch, streamed})
			f.Add([]byte{batch, streamed, 0, 2, 1, 1, 44, 200, 2, 255})
			f.Add([]byte{batch, streamed, 34, 0, 36, 0, 20, 0, 14, 0})
		}
	}
	f.Fuzz(func(t *testing.T, changes []byte) {
		if len(changes) < 2 || len(changes) > 1<<10 {
			return
		}
		if _, err := in.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(changes))), changes...)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
			_ = cmd.Wait()
			t.Fatalf("%v: %v\n%s", changes, err, said.String())
		}
	})
}
