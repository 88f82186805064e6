package storetest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"syscall"
	"time"

	"github.com/urlmill/urlmill/sinks/store"
)

// ErrDead is the error of every call of a process that was stopped.
var ErrDead = errors.New("the process is dead")

// Process is a process that uses a [Disk]. It implements [store.FS].
type Process struct {
	disk     *Disk
	dead     bool
	links    bool // the file system has links
	renames  bool // it moves files to names that are not taken
	host     string
	failSync func(dir string) error // may be nil
}

var _ store.FS = (*Process)(nil)

// Process returns a new process.
func (d *Disk) Process() *Process {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := &Process{disk: d, links: true, renames: true}
	d.procs = append(d.procs, p)
	return p
}

// Kill stops the process: its calls have no effect from now on, and its locks are gone.
func (p *Process) Kill() {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	p.dead = true
	p.disk.root.unlock(p)
}

// WithoutLinks makes Link and Rename say that the file system does not have them.
func (p *Process) WithoutLinks() *Process {
	p.links, p.renames = false, false
	return p
}

func (n *inode) unlock(p *Process) {
	if n.locked == p {
		n.locked = nil
	}
	for _, e := range n.entries {
		e.unlock(p)
	}
}

// do makes a call.
func (p *Process) do(op, file string, call func() error) error {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	err := ErrDead
	if !p.dead {
		err = call()
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: file, Err: err}
	}
	return nil
}

// Create implements [store.FS].
func (p *Process) Create(file string) (store.Handle, error) {
	h := &handle{p: p, path: file}
	err := p.do("create", file, func() error {
		dir, name, err := p.disk.parent(file)
		if err != nil {
			return err
		}
		if dir.entries[name] != nil {
			return syscall.EEXIST
		}
		h.n = &inode{modified: time.Now(), device: dir.device}
		dir.set(name, h.n, nil)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

type handle struct {
	p    *Process
	path string
	n    *inode
}

func (h *handle) Write(b []byte) (int, error) {
	err := h.p.do("write", h.path, func() error {
		h.n.data = append(h.n.data, b...)
		h.n.modified = time.Now()
		return nil
	})
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

func (h *handle) Sync() error {
	return h.p.do("sync", h.path, func() error {
		h.n.durable = append([]byte(nil), h.n.data...)
		return nil
	})
}

func (h *handle) Close() error {
	return h.p.do("close", h.path, func() error { return nil })
}

// Link implements [store.FS].
func (p *Process) Link(from, to string) error {
	return p.do("link", to, func() error {
		if !p.links {
			return errors.ErrUnsupported
		}
		n, err := p.disk.find(from)
		if err != nil {
			return err
		}
		return p.add(n, to, nil)
	})
}

func (p *Process) add(n *inode, to string, c **change) error {
	dir, name, err := p.disk.parent(to)
	if err != nil {
		return err
	}
	if dir.entries[name] != nil {
		return syscall.EEXIST
	}
	if err := sameDevice(n, dir); err != nil {
		return err
	}
	added := dir.set(name, n, nil)
	if c != nil {
		*c = added
	}
	return nil
}

// Rename implements [store.FS].
func (p *Process) Rename(from, to string) error {
	return p.do("rename", to, func() error {
		if !p.renames {
			return errors.ErrUnsupported
		}
		return p.move(from, to)
	})
}

// Move implements [store.FS].
func (p *Process) Move(from, to string) error {
	return p.do("move", to, func() error {
		n, err := p.disk.find(from)
		if err != nil {
			return err
		}
		dir, name, err := p.disk.parent(to)
		if err == nil {
			err = sameDevice(n, dir)
		}
		if err != nil {
			return err
		}
		if there := dir.entries[name]; there == n {
			return nil // POSIX leaves both names of one file
		} else if there != nil {
			dir.set(name, nil, nil)
		}
		return p.move(from, to)
	})
}

func (p *Process) move(from, to string) error {
	dir, name, err := p.disk.parent(from)
	if err != nil {
		return err
	}
	n := dir.entries[name]
	if n == nil {
		return syscall.ENOENT
	}
	var added *change
	if err := p.add(n, to, &added); err != nil {
		return err
	}
	dir.set(name, nil, added)
	return nil
}

// Remove implements [store.FS].
func (p *Process) Remove(file string) error {
	return p.do("remove", file, func() error {
		dir, name, err := p.disk.parent(file)
		if err != nil {
			return err
		}
		n := dir.entries[name]
		if n == nil {
			return syscall.ENOENT
		}
		if len(n.entries) > 0 {
			return syscall.ENOTEMPTY
		}
		if err := p.disk.mountPoint(file, n); err != nil {
			return err
		}
		dir.set(name, nil, nil)
		return nil
	})
}

// Mkdir implements [store.FS].
func (p *Process) Mkdir(file string) error {
	return p.do("mkdir", file, func() error {
		n := newDir()
		if above, _, err := p.disk.parent(file); err == nil {
			n.device = above.device
		}
		return p.add(n, file, nil)
	})
}

// SyncDir implements [store.FS].
func (p *Process) SyncDir(file string) error {
	return p.do("syncdir", file, func() error {
		n, err := p.disk.find(file)
		if err != nil {
			return err
		}
		if p.failSync != nil {
			if err := p.failSync(file); err != nil {
				n.changes = nil
				return err
			}
		}
		n.sync()
		return nil
	})
}

// Refresh implements [store.FS].
func (p *Process) Refresh(dir string) error {
	return p.do("refresh", dir, func() error {
		_, err := p.disk.find(dir)
		return err
	})
}

// Stat implements [store.FS].
func (p *Process) Stat(file string) (out fs.FileInfo, err error) {
	err = p.do("stat", file, func() error {
		n, err := p.disk.find(file)
		if err == nil {
			out = info{path.Base(file), n, int64(len(n.data))}
		}
		return err
	})
	return out, err
}

// ReadDir implements [store.FS].
func (p *Process) ReadDir(file string) (out []fs.DirEntry, err error) {
	err = p.do("readdir", file, func() error {
		n, err := p.disk.find(file)
		if err != nil {
			return err
		}
		if !n.dir {
			return syscall.ENOTDIR
		}
		for _, name := range names(n.entries) {
			e := n.entries[name]
			out = append(out, info{name, e, int64(len(e.data))})
		}
		return nil
	})
	return out, err
}

// ReadFile implements [store.FS].
func (p *Process) ReadFile(file string) (out []byte, err error) {
	err = p.do("readfile", file, func() error {
		n, err := p.disk.find(file)
		if err != nil {
			return err
		}
		if n.dir {
			return syscall.EISDIR
		}
		out = bytes.Clone(n.data)
		return nil
	})
	return out, err
}

// Open implements [store.FS].
func (p *Process) Open(file string) (store.Object, error) {
	data, err := p.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return object{bytes.NewReader(data)}, nil
}

type object struct{ *bytes.Reader }

func (object) Close() error { return nil }

// NewLock implements [store.FS].
func (p *Process) NewLock(file string, content []byte) (io.Closer, error) {
	n := &inode{modified: time.Now(), data: bytes.Clone(content)}
	err := p.do("newlock", file, func() error {
		if above, _, err := p.disk.parent(file); err == nil {
			n.device = above.device
		}
		n.locked = p
		return p.add(n, file, nil)
	})
	if err != nil {
		return nil, err
	}
	return lock{p, n, file}, nil
}

// Lock implements [store.FS].
func (p *Process) Lock(file string) (io.Closer, error) {
	var n *inode
	err := p.do("lock", file, func() (err error) {
		if n, err = p.disk.find(file); err != nil {
			return err
		}
		if n.locked != nil && n.locked.host == p.host {
			return store.ErrLocked
		}
		n.locked = p
		return nil
	})
	if err != nil {
		return nil, err
	}
	return lock{p, n, file}, nil
}

type lock struct {
	p    *Process
	n    *inode
	path string
}

func (l lock) Close() error {
	return l.p.do("unlock", l.path, func() error {
		l.n.locked = nil
		return nil
	})
}

// Boot implements [store.FS].
func (p *Process) Boot() string {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	return p.boot()
}

// Alive reports whether the process was neither killed nor had its power cut.
func (p *Process) Alive() bool {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	return !p.dead
}
