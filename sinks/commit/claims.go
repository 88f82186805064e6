package commit

import (
	"context"
	"path"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store"
)

// claimsDir is the directory of what processes claim to read, with a directory for each stream.
const claimsDir = "_claims"

// Claims returns the claims on a stream.
func (c *Chain) Claims(stream string) pipeline.Claims {
	return &claims{root: c.root, dir: path.Join(claimsDir, escape(stream))}
}

// claims implements [pipeline.Claims] by objects.
type claims struct {
	root store.Store
	dir  string
}

// Self returns the run, by which commit records name the process too.
func (c *claims) Self() string { return c.root.Run() }

func (c *claims) Names(ctx context.Context) ([]string, error) {
	entries, err := c.root.List(ctx, c.dir, "")
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	return names, err
}

func (c *claims) Create(ctx context.Context, name, content string) error {
	return c.root.Create(ctx, path.Join(c.dir, name), []byte(content))
}

func (c *claims) Read(ctx context.Context, name string) (string, error) {
	content, err := c.root.Read(ctx, path.Join(c.dir, name))
	return string(content), err
}

func (c *claims) Delete(ctx context.Context, name string) error {
	return c.root.Delete(ctx, path.Join(c.dir, name))
}
