package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/urlmill/urlmill/internal/wire"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/compact"
)

// replacePartitions runs c into a folder of its own below the output, and when all of it is there, has the files take the place of
// those of the partitions that they are in.
func (a *app) replacePartitions(ctx context.Context, c *wire.Config, setting wire.Setting, v view) (err error) {
	if err := wire.Check(c); err != nil {
		return err
	}
	if err := c.CheckMovable(); err != nil {
		return err
	}
	open := a.stores
	if open == nil {
		open = a.components.OpenStores(setting.Log)
	}
	root, err := open(c.Sink.Options.Asks().Place, setting.Log)
	if err != nil {
		return err
	}
	identity := sha256.Sum256([]byte(c.Identity() + " " + v.bound.until))
	r, err := compact.Begin(ctx, compact.ReplaceOptions{
		Root: root, Open: open, Identity: hex.EncodeToString(identity[:8]), Log: setting.Log,
		Provenance: commit.Provenance{Urlmill: setting.Version, Config: c.Hash()},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := c.MoveTo(r.Location(), r.Attempt()); err != nil {
		return err
	}
	v.replace = func(ctx context.Context) error {
		partitions, old, err := r.Commit(ctx)
		if err == nil {
			setting.Log.Info("replaced partitions", "partitions", partitions, "files", old)
		}
		return err
	}
	return a.runJob(ctx, c, setting, v)
}
