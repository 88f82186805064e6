package storetest

import (
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Disk is a file system in memory. It promises no more than POSIX does: what was written to a file survives a power
// failure only if the file was synced, and a name that was given or taken away only if its directory was. A file
// that was moved is never lost, but may be found under both names.
//
// What people do to a disk that processes work on is done by its methods: [Disk.RemoveAll], [Disk.Mount].
type Disk struct {
	mu      sync.Mutex
	root    *inode
	boots   int
	devices int // that were mounted
	procs   []*Process
}

// inode is a file or directory.
type inode struct {
	dir      bool
	data     []byte
	durable  []byte // data as of the last sync
	modified time.Time
	locked   *Process
	device   int // moves and links do not lead from one to another

	entries   map[string]*inode // of a directory, as seen now
	surviving map[string]*inode // as after a power failure
	changes   []*change         // not yet synced, in order
	given     *change           // that has given a directory its name
}

// change is a name that was given (to) or taken away (nil).
type change struct {
	name  string
	to    *inode
	gone  *inode  // the directory that was removed, nil for anything else
	after *change // does not become durable before this one, may be nil
	in    *inode
	done  bool
}

// NewDisk returns an empty disk.
func NewDisk() *Disk { return &Disk{root: newDir()} }

func newDir() *inode {
	return &inode{dir: true, entries: map[string]*inode{}, surviving: map[string]*inode{}, modified: time.Now()}
}

// set changes an entry of a directory.
func (n *inode) set(name string, to *inode, after *change) *change {
	c := &change{name: name, to: to, after: after, in: n}
	if was := n.entries[name]; to == nil && was != nil && was.dir {
		c.gone = was
	}
	if to == nil {
		delete(n.entries, name)
	} else {
		n.entries[name] = to
	}
	n.modified = time.Now()
	n.changes = append(n.changes, c)
	if to != nil && to.dir {
		to.given = c
	}
	return c
}

// persist makes a change durable. The old name of a file that was moved goes only when the new one can be found: its
// directory, and those above it, were there before it; and a directory goes only after what was in it.
func (c *change) persist() {
	if c.done {
		return
	}
	c.done = true
	if c.after != nil {
		c.after.in.syncName(c.after)
		for n := c.after.in; n.given != nil; n = n.given.in {
			if !n.given.done {
				n.given.in.syncName(n.given)
			}
		}
	}
	if c.gone != nil {
		c.gone.sync()
	}
	if c.to == nil {
		delete(c.in.surviving, c.name)
	} else {
		c.in.surviving[c.name] = c.to
	}
}

// syncName makes a change durable, and those of the same name that came before it.
func (n *inode) syncName(last *change) {
	for _, c := range n.changes {
		if c.name == last.name {
			c.persist()
		}
		if c == last {
			return
		}
	}
}

func (n *inode) sync() {
	for _, c := range n.changes {
		c.persist()
	}
	n.changes = nil
}

// find returns the inode at a path.
func (d *Disk) find(p string) (*inode, error) {
	n := d.root
	for _, name := range strings.Split(strings.Trim(path.Clean(p), "/"), "/") {
		if name == "" || name == "." {
			continue
		}
		if !n.dir {
			return nil, syscall.ENOTDIR
		}
		next, ok := n.entries[name]
		if !ok {
			return nil, syscall.ENOENT
		}
		n = next
	}
	return n, nil
}

// parent returns the directory that p is in.
func (d *Disk) parent(p string) (*inode, string, error) {
	dir, err := d.find(path.Dir(path.Clean(p)))
	if err == nil && !dir.dir {
		err = syscall.ENOTDIR
	}
	return dir, path.Base(p), err
}

// Change is a kind of change that a power failure can undo.
type Change int

// The kinds of changes.
const (
	NameGiven Change = iota // the file is not there
	NameTaken               // the file is there again
	Content                 // the file has the content of its last sync
)

// PowerFailure stops all processes. Of what was not synced, keep decides change by change what survives anyway.
func (d *Disk) PowerFailure(keep func(Change) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.procs {
		p.dead = true
	}
	d.boots++
	d.root.settle(keep, map[*inode]bool{})
	d.root.fail(keep, map[*inode]bool{})
}

// settle decides which changes survive, in n and all below.
func (n *inode) settle(keep func(Change) bool, seen map[*inode]bool) {
	if seen[n] {
		return
	}
	seen[n] = true
	for _, c := range n.changes {
		kind := NameGiven
		if c.to == nil {
			kind = NameTaken
		}
		if keep(kind) {
			c.persist()
		}
	}
	for _, below := range []map[string]*inode{n.surviving, n.entries} {
		for _, name := range names(below) {
			below[name].settle(keep, seen)
		}
	}
}

// fail makes what survives the present state, of n and all below.
func (n *inode) fail(keep func(Change) bool, seen map[*inode]bool) {
	if seen[n] {
		return
	}
	seen[n] = true
	n.locked = nil
	if !n.dir {
		if !keep(Content) {
			n.data = n.durable
		}
		n.data = append([]byte(nil), n.data...)
		n.durable = n.data
		return
	}
	n.changes = nil
	n.entries = map[string]*inode{}
	for _, name := range names(n.surviving) {
		n.entries[name] = n.surviving[name]
		n.surviving[name].fail(keep, seen)
	}
}

func names(entries map[string]*inode) []string {
	out := make([]string, 0, len(entries))
	for name := range entries {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// Tree returns all paths, for the messages of failing tests.
func (d *Disk) Tree() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var b strings.Builder
	var walk func(prefix string, n *inode)
	walk = func(prefix string, n *inode) {
		for _, name := range names(n.entries) {
			e := n.entries[name]
			if e.dir {
				walk(prefix+name+"/", e)
			} else {
				fmt.Fprintf(&b, "%s%s (%d bytes)\n", prefix, name, len(e.data))
			}
		}
	}
	walk("/", d.root)
	return b.String()
}

// info implements fs.FileInfo and fs.DirEntry.
type info struct {
	name string
	n    *inode
	size int64
}

func (i info) Name() string               { return i.name }
func (i info) IsDir() bool                { return i.n.dir }
func (i info) Size() int64                { return i.size }
func (i info) ModTime() time.Time         { return i.n.modified }
func (i info) Sys() any                   { return i.n }
func (i info) Info() (fs.FileInfo, error) { return i, nil }
func (i info) Type() fs.FileMode          { return i.Mode().Type() }
func (i info) Mode() fs.FileMode {
	if i.n.dir {
		return fs.ModeDir | 0o777
	}
	return 0o644
}
