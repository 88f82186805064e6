// Package clickhouse loads rows into ClickHouse, each load as one block that has the position after it in its rows.
package clickhouse

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/database"
)

// Options are how to reach the server, and its table.
type Options struct {
	database.Options
	// URL is the address of its HTTP interface, http://user:password@host:8123/database, with settings as a query.
	URL config.Secret
}

// Validate returns what is wrong with the options, as a [*pipeline.FieldError].
func (o Options) Validate() error {
	_, err := newClient(o)
	return pipeline.Under("url", err)
}

// The columns that every row has beside its own: the lane, the position after its load, and the load.
const (
	laneColumn = "_urlmill_lane"
	nextColumn = "_urlmill_next"
	loadColumn = "_urlmill_load"
	// positionsTable has the positions of loads as well, for when they had no rows, or have none any more.
	positionsTable = "urlmill_positions"
	// window is how many blocks a server compares tokens with.
	window = 10_000
)

// Driver implements [database.Driver].
type Driver struct {
	opts      Options
	client    *client
	version   version
	table     string
	columns   []column
	positions string
}

// New returns a driver, without connecting yet.
func New(o Options) *Driver { return &Driver{opts: o} }

var _ database.Driver = (*Driver)(nil)

// Limits implements [database.Driver].
func (d *Driver) Limits() database.Limits { return limitsOf(d.version) }

// tokens reports whether the server refuses a second block with a token that it has seen.
func (d *Driver) tokens() bool { return d.version.atLeast(22, 3) }

// Start implements [database.Driver].
func (d *Driver) Start(ctx context.Context, tables [pipeline.NumTables]*database.Target) (err error) {
	if tables[pipeline.DeadLetters] != nil {
		return errors.New(oneTable + ", so that dead letters are not possible: choose another on_error, such as keep")
	}
	if d.client, err = newClient(d.opts); err != nil {
		return err
	}
	text, err := d.client.query(ctx, "SELECT version()", nil, nil)
	if err != nil {
		return err
	}
	d.version = parseVersion(text)
	rows := tables[pipeline.Rows]
	if d.columns, err = columnsOf(rows.Schema, d.version); err != nil {
		return err
	}
	d.table, d.positions = tableName(rows.Name), tableName(positionsTable)
	if database, _, ok := strings.Cut(rows.Name, "."); ok {
		d.positions = tableName(database + "." + positionsTable)
	}
	settings := ""
	if d.tokens() {
		settings = fmt.Sprintf(" SETTINGS non_replicated_deduplication_window = %d", window)
	}
	var defs []string
	for _, c := range d.columns {
		defs = append(defs, name(c.name)+" "+c.kind)
	}
	own := name(laneColumn) + " String, " + name(nextColumn) + " Int64, " + name(loadColumn) + " String"
	order := ") ENGINE = MergeTree ORDER BY (" + name(laneColumn) + ", " + name(nextColumn) + ")"
	for _, create := range []string{
		"CREATE TABLE IF NOT EXISTS " + d.table + " (" + strings.Join(defs, ", ") + ", " + own + order + settings,
		"CREATE TABLE IF NOT EXISTS " + d.positions + " (target String, " + own + order,
	} {
		if _, err := d.client.query(ctx, create, nil, nil); err != nil {
			return err
		}
	}
	if err := d.check(ctx, rows.Name); err != nil {
		return fmt.Errorf("table %s: %w", rows.Name, err)
	}
	return nil
}

// check refuses a table that the rows do not fit into, with what would make them fit.
func (d *Driver) check(ctx context.Context, target string) error {
	where := " WHERE database = currentDatabase() AND "
	if database, rest, ok := strings.Cut(target, "."); ok {
		where, target = " WHERE database = "+quote(database)+" AND ", rest
	}
	if err := d.checkEngine(ctx, where, target); err != nil {
		return err
	}
	found, err := d.client.query(ctx, "SELECT name, type FROM system.columns"+where+"table = "+quote(target)+" FORMAT TSVRaw", nil, nil)
	if err != nil {
		return err
	}
	types := map[string]string{}
	for line := range strings.Lines(found + "\n") {
		column, kind, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		types[column] = kind
	}
	want := append([]column{}, d.columns...)
	want = append(want, column{name: laneColumn, kind: "String"}, column{name: nextColumn, kind: "Int64"}, column{name: loadColumn, kind: "String"})
	var problems []error
	for _, c := range want {
		kind, ok := types[c.name]
		if inner, low := strings.CutPrefix(kind, "LowCardinality("); low && d.version.atLeast(19, 0) { // older ones do not convert texts
			kind = strings.TrimSuffix(inner, ")")
		}
		switch {
		case !ok:
			problems = append(problems, fmt.Errorf("it has no column %s: ALTER TABLE %s ADD COLUMN %s %s", c.name, d.table, name(c.name), c.kind))
		case kind != c.kind:
			problems = append(problems, fmt.Errorf("its column %s is of type %s, and the rows need %s: ALTER TABLE %s MODIFY COLUMN %s %s, or give another table",
				c.name, types[c.name], c.kind, d.table, name(c.name), c.kind))
		}
	}
	return errors.Join(problems...)
}

// own are the columns that are the same in all rows of a load.
var own = []string{laneColumn, nextColumn, loadColumn}

// checkEngine refuses tables that do not take a load whole.
func (d *Driver) checkEngine(ctx context.Context, where, target string) error {
	text, err := d.client.query(ctx, "SELECT engine, partition_key FROM system.tables"+where+"name = "+quote(target)+" FORMAT TSVRaw", nil, nil)
	if err != nil {
		return err
	}
	engine, key, _ := strings.Cut(text, "\t")
	if !strings.HasSuffix(engine, "MergeTree") {
		return fmt.Errorf("its engine is %s, which does not say when a load is there as a whole: give a table with a MergeTree engine, of one shard", engine)
	}
	if key == "" || key == "tuple()" {
		return nil
	}
	text, err = d.client.query(ctx, "SELECT name FROM system.columns"+where+"table = "+quote(target)+" AND is_in_partition_key FORMAT TSVRaw", nil, nil)
	if err != nil {
		return err
	}
	for column := range strings.Lines(text) {
		if !slices.Contains(own, strings.TrimSuffix(column, "\n")) {
			return fmt.Errorf("it is partitioned by %s, and a load of several partitions is not all or nothing in ClickHouse: give a table without PARTITION BY, or with one of %s alone, "+
				"which are the same in all rows of a load", key, strings.Join(own, ", "))
		}
	}
	return nil
}

// key is what a lane is called in the rows.
func key(l database.Lane) string {
	return l.Stream + "/" + strconv.Itoa(int(l.Partition)) + "/" + l.Session
}

// prefix is what the identifiers of a lane's queries begin with.
func (d *Driver) prefix(lane string) string {
	return fmt.Sprintf("urlmill-%016x-", xxh3.HashString(d.table+"\x00"+lane))
}

// Position implements [database.Driver].
func (d *Driver) Position(ctx context.Context, l database.Lane) (next int64, load string, err error) {
	return d.settled(ctx, key(l))
}

// Lanes implements [database.Driver]. Names may have any character, and come in hexadecimal.
func (d *Driver) Lanes(ctx context.Context) (lanes []database.Lane, err error) {
	column := name(laneColumn)
	text, err := d.client.query(ctx, "SELECT DISTINCT hex("+column+") FROM (SELECT DISTINCT "+column+" FROM "+d.table+" UNION ALL SELECT "+column+
		" FROM "+d.positions+" WHERE target = "+quote(d.table)+") WHERE NOT endsWith("+column+", '/') FORMAT TSVRaw", nil, nil)
	if err != nil {
		return nil, err
	}
	for _, line := range strings.Fields(text) {
		key, err := hex.DecodeString(line)
		if err != nil {
			return nil, fmt.Errorf("ClickHouse: the answer %q is not understood", config.Clip(line))
		}
		if l, ok := laneOf(string(key)); ok {
			lanes = append(lanes, l)
		}
	}
	return lanes, nil
}

// laneOf returns the lane that a key is of.
func laneOf(key string) (l database.Lane, ok bool) {
	parts := strings.Split(key, "/")
	if len(parts) < 3 {
		return l, false
	}
	n := len(parts)
	partition, err := strconv.ParseInt(parts[n-2], 10, 32)
	return database.Lane{Stream: strings.Join(parts[:n-2], "/"), Session: parts[n-1], Partition: int32(partition)}, err == nil
}

// settled returns the position of a lane, and the load that has set it, once the server has no insert into the lane any more:
// one that a dead process or a broken connection has left there may still come true.
func (d *Driver) settled(ctx context.Context, lane string) (next int64, load string, err error) {
	for {
		running, err := d.client.query(ctx, "SELECT count() FROM system.processes WHERE startsWith(query_id, "+quote(d.prefix(lane))+")", nil, nil)
		if err != nil {
			return 0, "", err
		}
		if running == "0" {
			return d.position(ctx, lane)
		}
		select {
		case <-ctx.Done():
			return 0, "", context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// position returns the position of a lane as it is now, and the load that has set it.
func (d *Driver) position(ctx context.Context, lane string) (next int64, load string, err error) {
	next = pipeline.Unknown
	for _, from := range []string{
		d.table + " WHERE " + name(laneColumn) + " = " + quote(lane),
		d.positions + " WHERE target = " + quote(d.table) + " AND " + name(laneColumn) + " = " + quote(lane),
	} {
		text, err := d.client.query(ctx, "SELECT max("+name(nextColumn)+"), argMax("+name(loadColumn)+", "+name(nextColumn)+"), count() FROM "+from+" FORMAT TSVRaw", nil, nil)
		if err != nil {
			return 0, "", err
		}
		parts := strings.Split(text, "\t")
		if len(parts) != 3 {
			return 0, "", fmt.Errorf("ClickHouse: the answer %q is not understood", config.Clip(text))
		}
		if n, err := strconv.ParseInt(parts[0], 10, 64); err == nil && parts[2] != "0" && n > next {
			next, load = n, parts[1]
		}
	}
	return next, load, nil
}

// Load implements [database.Driver].
func (d *Driver) Load(ctx context.Context, l database.Load) error {
	lane := key(l.Lane)
	next, load, err := d.settled(ctx, lane)
	switch {
	case err != nil:
		return err
	case load == l.ID:
		return d.note(ctx, lane, l) // the answer was lost
	case next != l.First:
		return database.ErrFenced
	case l.Empty():
		return d.note(ctx, lane, l)
	}
	settings := map[string]string{}
	if d.tokens() {
		settings["insert_deduplication_token"] = fmt.Sprintf("%s@%d", lane, l.First)
		settings["async_insert"] = "0"
	}
	rows, names := 0, []string{}
	for _, r := range l.Rows[pipeline.Rows] {
		rows += int(r.NumRows())
	}
	for _, c := range d.columns {
		names = append(names, name(c.name))
	}
	body := func() io.Reader { return newBlock(rows, d.columns, l.Rows[pipeline.Rows], place(lane, l)) }
	if err := d.insert(ctx, d.table, names, body, d.prefix(lane)+l.ID, settings); err != nil {
		return err
	}
	if d.tokens() {
		// A block whose token was there before is left out without an error.
		if _, load, err = d.position(ctx, lane); err != nil {
			return err
		}
		if load != l.ID {
			return database.ErrFenced
		}
	}
	return d.note(ctx, lane, l)
}

// note writes the position of a load beside the rows, once they are there: rows may be taken away, by a TTL or by somebody, and
// a position must not go back with them.
func (d *Driver) note(ctx context.Context, lane string, l database.Load) error {
	body := func() io.Reader {
		return newBlock(1, nil, nil, append([]same{{"target", "String", putText(nil, d.table)}}, place(lane, l)...))
	}
	return d.insert(ctx, d.positions, []string{"target"}, body, d.prefix(lane)+l.ID+"-position", map[string]string{})
}

// insert adds a block of columns, after which come those of the place.
func (d *Driver) insert(ctx context.Context, into string, columns []string, body func() io.Reader, query string, settings map[string]string) error {
	most := strconv.Itoa(1 << 30)
	// One block, whatever its size: that is what makes it all or nothing.
	settings["max_insert_block_size"], settings["min_insert_block_size_rows"] = most, most
	settings["min_insert_block_size_bytes"] = strconv.FormatInt(1<<40, 10)
	settings["query_id"] = query
	columns = append(columns, name(laneColumn), name(nextColumn), name(loadColumn))
	_, err := d.client.query(ctx, "INSERT INTO "+into+" ("+strings.Join(columns, ", ")+") FORMAT Native", body, settings)
	return err
}

// Close implements [database.Driver].
func (d *Driver) Close() error {
	if d.client != nil {
		d.client.close()
	}
	return nil
}
