package machine

import (
	"os"
	"runtime"
	"testing"
)

func TestPeakMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells it")
	}
	before := PeakMemory(os.Getpid())
	const more = 64 << 20
	text := make([]byte, more)
	for i := range text {
		text[i] = byte(i)
	}
	after := PeakMemory(os.Getpid())
	if before < 1<<20 || after < more {
		t.Errorf("%d bytes, and with %d more %d", before, len(text), after)
	}
	runtime.KeepAlive(text)
	if n := PeakMemory(-1); n != 0 {
		t.Errorf("a process that there is not has had %d bytes", n)
	}
}

func TestField(t *testing.T) {
	file := t.TempDir() + "/f"
	if err := os.WriteFile(file, []byte("a : x y \nab: 2\n\nnone\na: z\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "x y", "ab": "2", "none": "", "b": ""} {
		if got := field(file, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
