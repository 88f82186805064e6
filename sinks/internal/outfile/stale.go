package outfile

import (
	"log/slog"
	"os"
	"path/filepath"
)

// removeStale removes the unfinished files of runs whose process has died. What goes wrong is only logged: it
// costs space, and nothing else.
func (d *Dir) removeStale(log *slog.Logger) {
	tmp := filepath.Join(d.path, tmpName)
	runs, err := os.ReadDir(tmp)
	if err != nil {
		return // usually because there is none
	}
	for _, run := range runs {
		if run.IsDir() {
			removeStaleRun(filepath.Join(tmp, run.Name()), log)
		}
	}
}

func removeStaleRun(dir string, log *slog.Logger) {
	lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR, 0)
	if err != nil {
		// A run that died before it made its lock has nothing in its directory; one that is alive and
		// has not made it yet notices and takes another. Remove spares a directory with files.
		_ = os.Remove(dir)
		return
	}
	defer func() { _ = lock.Close() }()
	if tryLock(lock) != nil {
		return // in use, or not to be told
	}
	files, bytes := 0, int64(0)
	entries, err := os.ReadDir(dir)
	if err != nil {
		log.Warn("cannot look for unfinished files of a process that died", "directory", dir, "error", err)
		return
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != tmpExt {
			continue
		}
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			log.Warn("cannot remove an unfinished file of a process that died", "error", err)
			continue
		}
		files++
	}
	_ = os.Remove(filepath.Join(dir, lockName))
	_ = os.Remove(dir)
	if files > 0 {
		log.Info("removed unfinished files of a process that died; their rows were never committed and are read again",
			"directory", dir, "files", files, "bytes", bytes)
	}
}
