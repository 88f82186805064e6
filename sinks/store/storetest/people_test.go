package storetest

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
	"testing"
)

func TestMount(t *testing.T) {
	d := NewDisk()
	p := d.Process()
	must(t, p.Mkdir("/dir"))
	write(t, p, "/dir/hidden", "1", true)
	write(t, p, "/file", "2", true)
	unmount, err := d.Mount("/dir")
	must(t, err)
	if _, err := p.Stat("/dir/hidden"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("seen through: %v", err)
	}
	must(t, p.Mkdir("/dir/below"))
	for name, err := range map[string]error{
		"link": p.Link("/file", "/dir/file"), "rename": p.Rename("/file", "/dir/below/file"), "move": p.Move("/file", "/dir/file"),
	} {
		if !errors.Is(err, syscall.EXDEV) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, p.Remove("/dir/below"))
	if err := p.Remove("/dir"); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("removed: %v", err)
	}
	unmount()
	must(t, p.Rename("/file", "/dir/file"))
	if got := d.RemoveAll("/dir"); !slices.Equal(got, []string{"2", "1"}) || d.Tree() != "" {
		t.Errorf("removed %q, left %q", got, d.Tree())
	}
}

// A sync that has failed is not healed by the next one.
func TestFailSync(t *testing.T) {
	d, fault := NewDisk(), error(syscall.EIO)
	p := d.Process().FailSync(func(string) error { return fault })
	write(t, p, "/dropped", "1", true)
	if err := p.SyncDir("/"); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v", err)
	}
	fault = nil
	write(t, p, "/kept", "2", true)
	must(t, p.SyncDir("/"))
	d.PowerFailure(never)
	if got := d.Tree(); got != "/kept (1 bytes)\n" {
		t.Errorf("left %s", got)
	}
}

func TestStale(t *testing.T) {
	p := NewDisk().Process()
	s := Stale(p)
	missing := func() bool {
		_, err := s.ReadFile("/dir/file")
		return errors.Is(err, fs.ErrNotExist)
	}
	if !missing() {
		t.Error("it is there")
	}
	must(t, p.Mkdir("/dir"))
	write(t, p, "/dir/file", "1", true)
	if !missing() {
		t.Error("it is known to be there")
	}
	if s.Refresh("/dir") == nil {
		t.Error("the directory is known to be there")
	}
	must(t, s.Refresh("/"))
	if missing() {
		t.Error("it is taken for missing")
	}
}

// Locks of another host are not seen.
func TestOnHost(t *testing.T) {
	d := NewDisk()
	one, two := d.Process().OnHost("one"), d.Process().OnHost("two")
	_, err := one.NewLock("/lock", nil)
	must(t, err)
	if _, err := d.Process().OnHost("one").Lock("/lock"); err == nil {
		t.Error("locked twice")
	}
	if _, err := two.Lock("/lock"); err != nil || one.Boot() == two.Boot() {
		t.Errorf("%v, %s", err, one.Boot())
	}
}
