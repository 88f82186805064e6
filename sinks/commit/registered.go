package commit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"

	"github.com/urlmill/urlmill/sinks/store"
)

// RegisteredKey is an object in the root of an output whose files a table names: none of them may be replaced behind its back.
// Versions that do not know of [ownerKey] look at it.
const RegisteredKey = "_iceberg/output.json"

// ownerKey is an object that says who deals with the files of commits: a table that names them, or compactions that replace
// them. The one that creates it first has them for ever: of two that begin at once one is refused, also when either dies on
// the way. Outputs that were compacted before there was such an object have none.
var ownerKey = path.Join(CompactionsDir, "owner.json")

// owner is what deals with the files of commits.
type owner string

const (
	byTable       owner = "table"
	byCompactions owner = "compactions"
)

// ErrRegistered says that a table names the files of an output, so that they cannot be replaced.
var ErrRegistered = errors.New("an Iceberg table names the files of this output, and would name files that are gone: " +
	"compact the table instead, with what maintains Iceberg tables, such as rewrite_data_files of Spark")

// ownership returns the content of the object.
func ownership(o owner) []byte {
	return encode(struct {
		Version int   `json:"version"`
		Owner   owner `json:"owner"`
	}{formatVersion, o})
}

// own makes who the owner, unless there is one, and returns the owner that there is now. Should a power failure take back
// what another process has just created, the object that follows it says the same: the first compaction, or [RegisteredKey].
func own(ctx context.Context, s store.Objects, who owner) (owner, error) {
	err := s.Create(ctx, ownerKey, ownership(who))
	if err == nil || !errors.Is(err, fs.ErrExist) {
		return who, err
	}
	there, err := s.Read(ctx, ownerKey)
	if err != nil {
		return "", err
	}
	for _, o := range []owner{byTable, byCompactions} {
		if bytes.Equal(there, ownership(o)) {
			return o, nil
		}
	}
	return "", &DamagedError{ownerKey, "it names no owner that this urlmill knows"}
}

// Register says that a table is about to name the files of an output. It refuses an output whose files have been compacted,
// because the commit records name files that are gone. Once it has returned nil, no file of a commit is ever replaced.
func Register(ctx context.Context, root store.Store) error {
	if err := checkUncompacted(ctx, root); err != nil { // before anything says that there is a table
		return err
	}
	who, err := own(ctx, root, byTable)
	if err != nil {
		return err
	}
	if who != byTable {
		return compacted(root)
	}
	if err := root.Create(ctx, RegisteredKey, encode(struct {
		Version int `json:"version"`
	}{formatVersion})); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return checkUncompacted(ctx, root) // by one of a version that does not ask for the owner
}

func checkUncompacted(ctx context.Context, root store.Store) error {
	last, _, err := numbersOf(ctx, root)
	if err == nil && last > 0 {
		err = compacted(root)
	}
	return err
}

func compacted(root store.Store) error {
	return fmt.Errorf("the files of %s have been compacted, and a table can only be made of those that the commits name: deliver to another folder", root.Location())
}

// CheckUnregistered returns [ErrRegistered] for an output whose files a table names, for those who replace files.
func CheckUnregistered(ctx context.Context, root store.Objects) error {
	for _, key := range []string{RegisteredKey, ownerKey} {
		content, err := root.Read(ctx, key)
		if errors.Is(err, fs.ErrNotExist) || err == nil && key == ownerKey && bytes.Equal(content, ownership(byCompactions)) {
			continue
		}
		if err == nil {
			err = ErrRegistered
		}
		return err
	}
	return nil
}

// replaceable returns nil when no table names the files of an output, and none ever will.
func replaceable(ctx context.Context, root store.Objects) error {
	if err := CheckUnregistered(ctx, root); err != nil {
		return err
	}
	who, err := own(ctx, root, byCompactions)
	if err == nil && who != byCompactions {
		err = ErrRegistered
	}
	return err
}

// goneLevel returns how loudly it is said that a file of the last commit of a lane is gone. What maintains a table removes
// the files that it has rewritten, and every start would warn of each; "urlmill verify" tells those from others.
func (c *Chain) goneLevel(ctx context.Context) slog.Level {
	if _, err := c.root.Read(ctx, RegisteredKey); err == nil {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}
