"""Makes passes with libraries of Python for bench-parquet: "peers.py SYSTEM TABLE", with a table as an Arrow IPC stream, reads
names of codecs, one a line, and answers each with a pass as JSON. "peers.py version SYSTEM" prints the version.

Each has the table in the form that is its own before the clock starts, one thread, the settings that are fastest for this
table of those that were tried, and an output that drops what is written. The bytes are those of a file that is written once.
"""

import json
import os
import sys
import tempfile
import time

os.environ["POLARS_MAX_THREADS"] = "1"
GROUP_ROWS = 128 << 10
# Columns whose values hardly repeat: a dictionary of theirs would be given up in the end, which costs time.
UNIQUE = {"href", "path", "query", "params.list.element.value", "fragment", "offset", "timestamp", "key"}


def arrow_cpp(table, level=1):
    import pyarrow as pa
    import pyarrow.ipc
    import pyarrow.parquet as pq

    with pa.OSFile(table) as f:
        t = pa.ipc.open_stream(f).read_all().combine_chunks()
    pa.set_cpu_count(1)
    dictionaries = [name for name in leaves_of(pa, t.schema) if name not in UNIQUE]

    def write(codec, out):
        pq.write_table(
            t, out, row_group_size=GROUP_ROWS, compression=codec, compression_level=level if codec == "zstd" else None,
            use_dictionary=dictionaries, column_encoding={"offset": "DELTA_BINARY_PACKED"}, version="2.6",
        )

    return lambda codec: write(codec, pa.MockOutputStream()), write


def arrow_cpp_zstd2(table):
    return arrow_cpp(table, 2)


def leaves_of(pa, schema):
    """The paths of the leaves, as they are in the file."""
    for f in schema:
        if pa.types.is_list(f.type):
            for i in range(f.type.value_type.num_fields):
                yield f"{f.name}.list.element.{f.type.value_type.field(i).name}"
        else:
            yield f.name


def polars(table):
    import polars as pl

    df = pl.read_ipc_stream(table).rechunk()

    def write(codec, path):
        df.write_parquet(
            path, row_group_size=GROUP_ROWS, compression=dict(none="uncompressed").get(codec, codec),
            compression_level=1 if codec == "zstd" else None,
        )

    return lambda codec: write(codec, "/dev/null"), write


def duckdb(table):
    import duckdb
    import pyarrow as pa
    import pyarrow.ipc

    with pa.OSFile(table) as f:
        t = pa.ipc.open_stream(f).read_all()
    db = duckdb.connect()
    db.execute("SET threads = 1")
    db.execute("CREATE TABLE clicks AS FROM t")
    del t

    def write(codec, path):
        level = ", COMPRESSION_LEVEL 1" if codec == "zstd" else ""
        codec = dict(none="uncompressed").get(codec, codec)
        db.execute(f"COPY clicks TO '{path}' (FORMAT parquet, COMPRESSION {codec}{level}, ROW_GROUP_SIZE {GROUP_ROWS}, USE_TMP_FILE false)")

    return lambda codec: write(codec, "/dev/null"), write


def clickhouse(table):
    import chdb.session

    db = chdb.session.Session()
    db.query(f"CREATE TABLE clicks ENGINE = Memory AS SELECT * FROM file('{table}', ArrowStream)")

    def write(codec, path):
        db.query(
            f"SELECT * FROM clicks INTO OUTFILE '{path}' TRUNCATE FORMAT Parquet SETTINGS max_threads = 1, output_format_parallel_formatting = 0, "
            f"output_format_parquet_parallel_encoding = 0, output_format_parquet_row_group_size = {GROUP_ROWS}, "
            f"output_format_parquet_row_group_size_bytes = 1073741824, "
            f"output_format_parquet_compression_method = '{codec}', output_format_compression_level = 1"
        )

    return lambda codec: write(codec, "/dev/null"), write


SYSTEMS = {f.__name__: f for f in (arrow_cpp, arrow_cpp_zstd2, polars, duckdb, clickhouse)}


def version(system):
    from importlib.metadata import version as of

    print(of({"arrow_cpp": "pyarrow", "arrow_cpp_zstd2": "pyarrow", "clickhouse": "chdb-core"}.get(system, system)))


def main():
    system, table = sys.argv[1:]
    if system == "version":
        return version(table)
    cpus = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cpus[-1:])
    write, to_file = SYSTEMS[system](table)
    sizes = {}
    for line in sys.stdin:
        codec = line.strip()
        if codec not in sizes:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "table.parquet")
                to_file(codec, path)
                sizes[codec] = os.path.getsize(path)
        cpu, wall = time.process_time_ns(), time.monotonic_ns()
        write(codec)
        cpu, wall = time.process_time_ns() - cpu, time.monotonic_ns() - wall
        print(json.dumps({"CPU": cpu, "Wall": wall, "Bytes": sizes[codec]}), flush=True)


main()
