package storetest

import (
	"errors"
	"io/fs"
	"testing"
)

func write(t *testing.T, p *Process, path, content string, synced bool) {
	t.Helper()
	h, err := p.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if synced {
		if err := h.Sync(); err != nil {
			t.Fatal(err)
		}
	}
}

func never(Change) bool  { return false }
func always(Change) bool { return true }

func TestPowerFailureForgets(t *testing.T) {
	d := NewDisk()
	p := d.Process()
	write(t, p, "/synced", "1", true)
	if err := p.SyncDir("/"); err != nil {
		t.Fatal(err)
	}
	write(t, p, "/content", "2", false)
	if err := p.SyncDir("/"); err != nil {
		t.Fatal(err)
	}
	write(t, p, "/name", "3", true)
	d.PowerFailure(never)
	if _, err := p.ReadFile("/synced"); !errors.Is(err, ErrDead) {
		t.Errorf("the process lives: %v", err)
	}
	p = d.Process()
	if got, err := p.ReadFile("/synced"); string(got) != "1" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := p.ReadFile("/content"); string(got) != "" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := p.ReadFile("/name"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// A moved file is under its old name, its new one, or both.
func TestPowerFailureDuringMove(t *testing.T) {
	for name, tc := range map[string]struct {
		syncs    []string
		keep     func(Change) bool
		old, new bool
	}{
		"nothing kept": {nil, never, true, false},
		"all kept":     {nil, always, false, true},
		"new synced":   {[]string{"/b"}, never, true, true},
		"old synced":   {[]string{"/a"}, never, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDisk()
			p := d.Process()
			if err := errors.Join(p.Mkdir("/a"), p.Mkdir("/b"), p.SyncDir("/")); err != nil {
				t.Fatal(err)
			}
			write(t, p, "/a/x", "1", true)
			if err := errors.Join(p.SyncDir("/a"), p.Rename("/a/x", "/b/x")); err != nil {
				t.Fatal(err)
			}
			for _, dir := range tc.syncs {
				if err := p.SyncDir(dir); err != nil {
					t.Fatal(err)
				}
			}
			d.PowerFailure(tc.keep)
			p = d.Process()
			_, errOld := p.ReadFile("/a/x")
			_, errNew := p.ReadFile("/b/x")
			if (errOld == nil) != tc.old || (errNew == nil) != tc.new {
				t.Errorf("old: %v, new: %v", errOld, errNew)
			}
		})
	}
}
