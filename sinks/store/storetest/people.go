package storetest

import (
	"fmt"
	"path"
	"syscall"
)

// RemoveAll removes a directory with all that is in it, as retention does, and returns the content of the files. It does
// nothing if there is none.
func (d *Disk) RemoveAll(dir string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find(dir)
	if err != nil {
		return nil
	}
	removed := n.clear()
	above, name, _ := d.parent(dir)
	above.set(name, nil, nil)
	return removed
}

func (n *inode) clear() (removed []string) {
	for _, name := range names(n.entries) {
		if e := n.entries[name]; e.dir {
			removed = append(removed, e.clear()...)
		} else {
			removed = append(removed, string(e.data))
		}
		n.set(name, nil, nil)
	}
	return removed
}

// Mount puts an empty directory of another file system over a name, or in the place of a directory, which can be seen again
// when unmount is called. What was put into the other file system meanwhile is lost to this one. What is hidden is made durable
// before: syncs do not get to it any more.
func (d *Disk) Mount(dir string) (unmount func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	above, name, err := d.parent(dir)
	if err != nil {
		return nil, err
	}
	d.devices++
	hidden, mounted := above.entries[name], newDir()
	if hidden != nil {
		hidden.sync()
		above.sync()
	}
	mounted.device = d.devices
	above.entries[name] = mounted // no change that a sync or a power failure knows of
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if above.entries[name] != mounted {
			return // a power failure has unmounted it
		}
		delete(above.entries, name)
		if hidden != nil {
			above.entries[name] = hidden
		}
	}, nil
}

// sameDevice returns the error of a file that is to get a name in a directory of another file system.
func sameDevice(n *inode, dir *inode) error {
	if n.device != dir.device {
		return syscall.EXDEV
	}
	return nil
}

// mountPoint returns an error if something is mounted at a path: such a directory cannot be removed.
func (d *Disk) mountPoint(p string, n *inode) error {
	if above, _, err := d.parent(path.Clean(p)); err == nil && n.dir && above.device != n.device {
		return syscall.EBUSY
	}
	return nil
}

// OnHost has the process run on a machine that others than those of the same name do not share locks with, as it is with
// some network file systems.
func (p *Process) OnHost(name string) *Process {
	p.host = name
	return p
}

// WithoutRename makes Rename say that the file system cannot move a file to a name that must not be taken.
func (p *Process) WithoutRename() *Process {
	p.renames = false
	return p
}

// FailSync has syncs of directories fail for which failed returns an error. What was to be synced is then forgotten: later
// syncs succeed and make nothing of it durable, as with a kernel that drops what it could not write.
func (p *Process) FailSync(failed func(dir string) error) *Process {
	p.failSync = failed
	return p
}

// boot identifies the kernel that the process runs under.
func (p *Process) boot() string { return fmt.Sprintf("boot %d%s", p.disk.boots, p.host) }
