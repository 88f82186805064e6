package udf

import (
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPipes looks at the sizes of a process's pipes when it has ended.
func TestPipes(t *testing.T) {
	var pipes [2][2]*os.File
	for i := range pipes {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		defer w.Close()
		pipes[i] = [2]*os.File{r, w}
	}
	f, err := New(Options{Format: Native, Columns: []string{"host"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(pipes[0][1], nativeBlock(1, "url", "String", values("http://a.b/"))); err != nil {
		t.Fatal(err)
	}
	pipes[0][1].Close()
	if err := f.Serve(pipes[0][0], pipes[1][1]); err != nil {
		t.Fatal(err)
	}
	for i, file := range []*os.File{pipes[0][0], pipes[1][1]} {
		if size, err := unix.FcntlInt(file.Fd(), unix.F_GETPIPE_SZ, 0); err != nil || size != pipeSize {
			t.Errorf("pipe %d holds %d bytes, %v", i, size, err)
		}
	}
}
