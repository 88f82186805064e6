package iceberg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	iceberg "github.com/apache/iceberg-go"

	"github.com/urlmill/urlmill/sinks/store"
)

// Properties of the table and of its snapshots.
const (
	// positionsKey is a JSON object: for each lane, by the name that it has in the chain, the position up to which the
	// table has its rows. In the summary of a snapshot it has the lanes that the snapshot moved.
	positionsKey = "urlmill.positions"
	// outputKey is the folder whose chain the positions are those of.
	outputKey   = "urlmill.output"
	mappingKey  = "schema.name-mapping.default"
	pruneKey    = "write.metadata.delete-after-commit.enabled"
	previousKey = "write.metadata.previous-versions-max"
	metadataKey = "write.metadata.path"
	dataKey     = "write.data.path"
)

// metadataDir is where the metadata is in the output folder, and dataDir where others are to put data files, when they rewrite
// ours for example: those who read the folder's Parquet files do not look there, and would see rows twice.
const (
	metadataDir = "_iceberg"
	dataDir     = metadataDir + "/data"
)

// tableOf is the table of an output folder.
type tableOf struct {
	id      []string
	catalog Catalog
	store   store.Store
	base    string // location of the folder, which is the table's too

	// entries are those of the manifests that were read, by location, for who reads them again and again. Nil: they are not kept.
	entries map[string][]iceberg.ManifestEntry
}

// metadata returns the location of the metadata that is written here.
func (t *tableOf) metadata() string { return t.base + "/" + metadataDir }

func (t *tableOf) read(ctx context.Context, location string) ([]byte, error) {
	key, err := keyOf(t.base, location)
	if err != nil {
		return nil, err
	}
	return t.store.Read(ctx, key)
}

func (t *tableOf) create(ctx context.Context, location string, content []byte) error {
	key, err := keyOf(t.base, location)
	if err != nil {
		return err
	}
	return t.store.Create(ctx, key, content)
}

func (t *tableOf) remove(ctx context.Context, location string) error {
	key, err := keyOf(t.base, location)
	if err != nil {
		return err
	}
	return t.store.Delete(ctx, key)
}

// openTable connects to the catalog, and makes the table if it is missing.
func openTable(ctx context.Context, o Options, s store.Store, rows *arrow.Schema) (*tableOf, error) {
	base, err := locationOf(s)
	if err != nil {
		return nil, err
	}
	t := &tableOf{id: o.identifier(), store: s, base: base}
	if err := t.connect(ctx, o); err != nil {
		return nil, err
	}
	if err := t.prepare(ctx, o, rows); err != nil {
		return nil, errors.Join(fmt.Errorf("table %s: %w", o.Table, err), t.catalog.Close())
	}
	return t, nil
}

// connect opens the catalog.
func (t *tableOf) connect(ctx context.Context, o Options) (err error) {
	switch file := o.CatalogFile; {
	case o.Connect != nil:
		t.catalog, err = o.Connect()
	case o.REST != nil:
		t.catalog, err = openREST(ctx, *o.REST)
	default:
		if file == "" && strings.Contains(t.store.Location(), "://") {
			return errors.New("the catalog cannot be a file in an output that is in a bucket: give the path of one on a disk, or a REST catalog")
		}
		if file == "" {
			file = filepath.Join(t.store.Location(), catalogFile)
		}
		t.catalog, err = openSQLite(ctx, file, o.CatalogName, t)
	}
	return err
}

// prepare makes the table if it is missing, and otherwise the columns that it does not have.
func (t *tableOf) prepare(ctx context.Context, o Options, rows *arrow.Schema) error {
	schema, err := schemaOf(rows)
	if err != nil {
		return err
	}
	for range maxAttempts {
		now, err := t.load(ctx)
		if errors.Is(err, errNoTable) {
			if err := t.make(ctx, o, schema); err != nil && !errors.Is(err, errExists) {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		if !samePlace(now.meta.Location, t.base) {
			return fmt.Errorf("it is at %s, and the files are in %s: a table has the files of one output folder; give another name", now.meta.Location, t.base)
		}
		c, err := widened(now.meta, rows)
		if err != nil {
			return err
		}
		if now.meta.Properties[dataKey] == "" { // somebody else has made the table
			if c == nil {
				c = &change{properties: map[string]string{}}
			}
			c.properties[dataKey] = t.base + "/" + dataDir
		}
		if c == nil {
			return nil
		}
		if err := t.catalog.commit(ctx, t.id, now, *c); !errors.Is(err, errConflict) {
			return err
		}
	}
	return errConflict
}

func (t *tableOf) load(ctx context.Context) (*state, error) { return t.catalog.load(ctx, t.id) }

func (t *tableOf) make(ctx context.Context, o Options, schema *iceberg.Schema) error {
	spec, err := specOf(o.PartitionBy, schema)
	if err != nil {
		return err
	}
	return t.catalog.create(ctx, t.id, creation{
		location: t.base, schema: schema, lastColumn: schema.HighestFieldID(), spec: spec,
		properties: map[string]string{
			outputKey: t.base, mappingKey: string(encode(schema.NameMapping())), pruneKey: "true", previousKey: fmt.Sprint(maxLog),
			metadataKey: t.metadata(), dataKey: t.base + "/" + dataDir, "write.format.default": "parquet",
		},
	})
}

// shape writes a type without the identifiers in it.
func shape(t iceberg.Type) string {
	switch t := t.(type) {
	case *iceberg.ListType:
		return "list<" + shape(t.Element) + ">"
	case *iceberg.MapType:
		return "map<" + shape(t.KeyType) + ", " + shape(t.ValueType) + ">"
	case *iceberg.StructType:
		var b strings.Builder
		for i, f := range t.FieldList {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(f.Name + " " + shape(f.Type))
		}
		return "struct<" + b.String() + ">"
	}
	return t.String()
}

// positions returns how far the table has each lane. Should somebody have removed the property, the summaries of the
// snapshots tell.
func (t *tableOf) positions(m *metadata) (map[string]int64, error) {
	if out, ok := m.Properties[outputKey]; ok && !samePlace(out, t.base) {
		return nil, fmt.Errorf("it has the files of %s: give another table, as positions of two outputs would be mixed up", out)
	}
	held := map[string]int64{}
	if text, ok := m.Properties[positionsKey]; ok {
		if err := json.Unmarshal([]byte(text), &held); err != nil {
			return nil, m.damaged("its property %s: %w", positionsKey, err)
		}
		if held == nil {
			return nil, m.damaged("its property %s is null", positionsKey)
		}
		return held, nil
	}
	history, err := m.history()
	if err != nil {
		return nil, err
	}
	for _, s := range history {
		moved := map[string]int64{}
		if text, ok := s.Summary[positionsKey]; !ok {
			continue
		} else if err := json.Unmarshal([]byte(text), &moved); err != nil {
			return nil, fmt.Errorf("%s in the summary of its snapshot %d: %w", positionsKey, s.ID, err)
		}
		for lane, next := range moved {
			if _, newer := held[lane]; !newer {
				held[lane] = next
			}
		}
	}
	return held, nil
}
