package iceberg

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/uuid"
	_ "modernc.org/sqlite" // the driver "sqlite", without cgo
)

// sqlite is a catalog in a file of SQLite, in the tables that Iceberg's JDBC catalog and pyiceberg's SqlCatalog use.
type sqlite struct {
	db    *sql.DB
	name  string
	files tableFiles
}

const sqliteTables = `
CREATE TABLE IF NOT EXISTS iceberg_tables (
	catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL,
	metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), iceberg_type VARCHAR(5),
	PRIMARY KEY (catalog_name, table_namespace, table_name));
CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (
	catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL,
	property_key VARCHAR(255) NOT NULL, property_value VARCHAR(1000),
	PRIMARY KEY (catalog_name, namespace, property_key));`

// openSQLite opens the catalog of the given name in a file, and makes the file if it is missing.
func openSQLite(ctx context.Context, file, name string, files tableFiles) (*sqlite, error) {
	if _, err := os.Stat(filepath.Dir(file)); err != nil {
		return nil, fmt.Errorf("the folder of the catalog: %w", err)
	}
	// A write waits for others; one that begins with reading must not be refused because it has read.
	dsn, err := sqliteName(file, "_txlock=immediate&_pragma=busy_timeout(20000)&_pragma=synchronous(full)")
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", dsn)
	if err == nil {
		_, err = db.ExecContext(ctx, sqliteTables)
	}
	if err != nil {
		if db != nil {
			_ = db.Close()
		}
		return nil, fmt.Errorf("the catalog %s: %w", file, err)
	}
	return &sqlite{db: db, name: name, files: files}, nil
}

// sqliteName returns the name of a file for the driver, with settings.
func sqliteName(file, settings string) (string, error) {
	abs, err := filepath.Abs(file)
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(abs), RawQuery: settings}).String(), err
}

func (c *sqlite) Close() error { return c.db.Close() }

func split(table []string) (namespace, name string) {
	return dotted(table[:len(table)-1]), table[len(table)-1]
}

func (c *sqlite) load(ctx context.Context, table []string) (*state, error) {
	namespace, name := split(table)
	var at sql.NullString
	err := c.db.QueryRowContext(ctx, `SELECT metadata_location FROM iceberg_tables
		WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?`, c.name, namespace, name).Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errNoTable
	}
	if err != nil {
		return nil, err
	}
	s := &state{location: at.String}
	if s.raw, err = c.files.read(ctx, at.String); err == nil {
		s.raw, err = uncompressed(at.String, s.raw)
	}
	if err != nil {
		return nil, fmt.Errorf("the metadata of the table %s, %s: %w", dotted(table), at.String, err)
	}
	s.meta, err = parseMetadata(s.location, s.raw)
	return s, err
}

func (c *sqlite) create(ctx context.Context, table []string, n creation) error {
	at, err := c.write(ctx, n.location, 0, newTable(n))
	if err != nil {
		return err
	}
	namespace, name := split(table)
	if _, err = c.db.ExecContext(ctx, `INSERT INTO iceberg_namespace_properties VALUES (?, ?, 'exists', 'true')
		ON CONFLICT DO NOTHING`, c.name, namespace); err != nil {
		return err
	}
	done, err := c.db.ExecContext(ctx, `INSERT INTO iceberg_tables
		(catalog_name, table_namespace, table_name, metadata_location, iceberg_type)
		VALUES (?, ?, ?, ?, 'TABLE') ON CONFLICT DO NOTHING`, c.name, namespace, name, at)
	return c.changed(ctx, done, err, at, errExists)
}

func (c *sqlite) commit(ctx context.Context, table []string, base *state, ch change) error {
	content, err := apply(base, ch)
	if err != nil {
		return err
	}
	at, err := c.write(ctx, base.meta.Location, versionOf(base.location)+1, content)
	if err != nil {
		return err
	}
	namespace, name := split(table)
	done, err := c.db.ExecContext(ctx, `UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ?
		WHERE catalog_name = ? AND table_namespace = ? AND table_name = ? AND metadata_location = ?`,
		at, base.location, c.name, namespace, name, base.location)
	if err := c.changed(ctx, done, err, at, errConflict); err != nil {
		return err
	}
	for _, old := range forgotten(base) {
		_ = c.files.remove(ctx, old) // costs space, and nothing else
	}
	return nil
}

// changed returns otherwise if nothing was changed; the metadata that was written for it is then of no use.
func (c *sqlite) changed(ctx context.Context, done sql.Result, err error, at string, otherwise error) error {
	if err != nil {
		return err
	}
	n, err := done.RowsAffected()
	if err != nil || n == 1 {
		return err
	}
	return errors.Join(otherwise, c.files.remove(ctx, at))
}

// write writes metadata under a new name.
func (c *sqlite) write(ctx context.Context, location string, version int, content []byte) (string, error) {
	at := fmt.Sprintf("%s/%s/%05d-%s.metadata.json", location, metadataDir, version, uuid.NewString())
	return at, c.files.create(ctx, at, content)
}

// versionOf returns the number that a metadata file's name begins with, 0 if there is none.
func versionOf(location string) int {
	number, _, _ := strings.Cut(path.Base(location), "-")
	n, _ := strconv.Atoi(number)
	return n
}
