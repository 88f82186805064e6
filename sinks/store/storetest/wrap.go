package storetest

import (
	"io"
	"io/fs"
	"sync"

	"github.com/urlmill/urlmill/sinks/store"
)

// Call is a call to the system.
type Call struct {
	Op   string // the method of [store.FS] or [store.Handle] in lower case
	Path string // of what it is about; of two the new one
}

func (c Call) String() string { return c.Op + " " + c.Path }

// Changes reports whether the call can change what is stored.
func (c Call) Changes() bool {
	switch c.Op {
	case "stat", "readdir", "readfile", "open", "lock":
		return false
	}
	return true
}

// Wrap returns a file system that calls before ahead of every call to sys, never twice at a time. Its error, if there is one, is
// returned instead of making the call.
func Wrap(sys store.FS, before func(Call) error) store.FS {
	var one sync.Mutex // compactions are read side by side
	return wrapped{sys, func(c Call) error {
		one.Lock()
		defer one.Unlock()
		return before(c)
	}}
}

type wrapped struct {
	store.FS
	before func(Call) error
}

func (w wrapped) call(op, path string) error {
	if err := w.before(Call{op, path}); err != nil {
		return &fs.PathError{Op: op, Path: path, Err: err}
	}
	return nil
}

// run makes a call that returns nothing but an error.
func (w wrapped) run(op, path string, call func() error) error {
	if err := w.call(op, path); err != nil {
		return err
	}
	return call()
}

func (w wrapped) Create(path string) (store.Handle, error) {
	if err := w.call("create", path); err != nil {
		return nil, err
	}
	h, err := w.FS.Create(path)
	if err != nil {
		return nil, err
	}
	return wrappedHandle{w, h, path}, nil
}

type wrappedHandle struct {
	w    wrapped
	h    store.Handle
	path string
}

func (h wrappedHandle) Write(p []byte) (int, error) {
	if err := h.w.call("write", h.path); err != nil {
		return 0, err
	}
	return h.h.Write(p)
}

func (h wrappedHandle) Sync() error { return h.w.run("sync", h.path, h.h.Sync) }

// Close closes the file whatever before says, as an open file is nothing to be tested.
func (h wrappedHandle) Close() error {
	if err := h.w.call("close", h.path); err != nil {
		_ = h.h.Close()
		return err
	}
	return h.h.Close()
}

func (w wrapped) Link(from, to string) error {
	return w.run("link", to, func() error { return w.FS.Link(from, to) })
}

func (w wrapped) Rename(from, to string) error {
	return w.run("rename", to, func() error { return w.FS.Rename(from, to) })
}

func (w wrapped) Move(from, to string) error {
	return w.run("move", to, func() error { return w.FS.Move(from, to) })
}

func (w wrapped) Remove(path string) error {
	return w.run("remove", path, func() error { return w.FS.Remove(path) })
}

func (w wrapped) Mkdir(path string) error {
	return w.run("mkdir", path, func() error { return w.FS.Mkdir(path) })
}

func (w wrapped) SyncDir(path string) error {
	return w.run("syncdir", path, func() error { return w.FS.SyncDir(path) })
}

func (w wrapped) Stat(path string) (fs.FileInfo, error) {
	if err := w.call("stat", path); err != nil {
		return nil, err
	}
	return w.FS.Stat(path)
}

func (w wrapped) ReadDir(path string) ([]fs.DirEntry, error) {
	if err := w.call("readdir", path); err != nil {
		return nil, err
	}
	return w.FS.ReadDir(path)
}

func (w wrapped) ReadFile(path string) ([]byte, error) {
	if err := w.call("readfile", path); err != nil {
		return nil, err
	}
	return w.FS.ReadFile(path)
}

func (w wrapped) Open(path string) (store.Object, error) {
	if err := w.call("open", path); err != nil {
		return nil, err
	}
	return w.FS.Open(path)
}

func (w wrapped) NewLock(path string, content []byte) (io.Closer, error) {
	if err := w.call("newlock", path); err != nil {
		return nil, err
	}
	return w.FS.NewLock(path, content)
}

func (w wrapped) Lock(path string) (io.Closer, error) {
	if err := w.call("lock", path); err != nil {
		return nil, err
	}
	return w.FS.Lock(path)
}
