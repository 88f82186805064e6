"""Reads Parquet files with another library and compares every value with what has to be there.

Usage: matrix.py READER MANIFEST, with READER one of pyarrow, polars, datafusion, spark. The manifest is a list of
{"name", "files", "expected"}, where "expected" is a file of the form that neutral.go describes.

Prints a line of JSON: {"version", "tables", "values", "wrong": [...]}, or {"unavailable"} without the library.
"""

import decimal
import json
import struct
import sys


def neutral(v):
    """Returns a Python value in the form of neutral.go. Times are integers by now, tagged by the reader."""
    if v is None or isinstance(v, (bool, str)):
        return v
    if isinstance(v, Nanos):
        return {"n": str(v)}
    if isinstance(v, int):
        return {"i": str(v)}
    if isinstance(v, decimal.Decimal):
        return {"i": str(int(v))}
    if isinstance(v, float):
        return {"f": struct.pack(">d", v).hex()}
    if isinstance(v, (bytes, bytearray)):
        return {"b": bytes(v).hex()}
    if isinstance(v, dict):
        return {"s": [[name, neutral(e)] for name, e in v.items()]}
    if isinstance(v, list):
        return [neutral(e) for e in v]
    raise TypeError(f"no neutral form of {type(v)}")


class Nanos(int):
    """Nanoseconds since 1970."""


def nanos(values, per_unit):
    return [None if v is None else Nanos(v * per_unit) for v in values]


def from_arrow(table):
    """Returns the columns of an Arrow table as lists."""
    import pyarrow as pa

    table.validate(full=True)
    out = {}
    for name, column in zip(table.column_names, table.columns):
        kind = column.type
        if pa.types.is_timestamp(kind):
            out[name] = nanos(column.cast(pa.int64()).to_pylist(), {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[kind.unit])
        elif pa.types.is_date32(kind):
            out[name] = nanos(column.cast(pa.int32()).to_pylist(), 86400 * 10**9)
        else:
            out[name] = column.to_pylist()
    return out


def pyarrow_reader():
    import pyarrow as pa
    import pyarrow.parquet as pq

    def read(files):
        return from_arrow(pa.concat_tables([pq.ParquetFile(f, page_checksum_verification=True).read() for f in files]))

    return pa.__version__, read


def polars_reader():
    import polars as pl

    def read(files):
        out = {}
        for column in pl.concat([pl.read_parquet(f, glob=False) for f in files]):
            kind = column.dtype
            if isinstance(kind, pl.Datetime):
                out[column.name] = nanos(column.to_physical().to_list(), {"ms": 10**6, "us": 10**3, "ns": 1}[kind.time_unit])
            elif kind == pl.Date:
                out[column.name] = nanos(column.to_physical().to_list(), 86400 * 10**9)
            else:
                out[column.name] = column.to_list()
        return out

    return pl.__version__, read


def datafusion_reader():
    import datafusion
    import pyarrow as pa

    config = datafusion.SessionConfig().set("datafusion.execution.parquet.schema_force_view_types", "false")

    def read(files):
        context = datafusion.SessionContext(config)
        tables = [pa.Table.from_batches(f.collect(), f.schema()) for f in map(context.read_parquet, files)]
        return from_arrow(pa.concat_tables(tables).sort_by("id"))

    return datafusion.__version__, read


def spark_reader():
    import pyspark
    from pyspark.sql import SparkSession, functions as f, types as t

    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "2g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.parquet.datetimeRebaseModeInRead", "CORRECTED")
        .config("spark.sql.shuffle.partitions", "1")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")

    def read(files):
        frame = spark.read.parquet(*files).orderBy("id")
        units, columns = {}, []
        for field in frame.schema.fields:
            column = f.col(field.name)
            if isinstance(field.dataType, t.TimestampType):
                column, units[field.name] = f.unix_micros(column), 10**3
            elif isinstance(field.dataType, t.DateType):
                column, units[field.name] = f.unix_date(column), 86400 * 10**9
            columns.append(column.alias(field.name))
        rows = [row.asDict(recursive=True) for row in frame.select(*columns).collect()]
        out = {}
        for name in frame.columns:
            values = [row[name] for row in rows]
            out[name] = nanos(values, units[name]) if name in units else values
        return out

    return pyspark.__version__, read


def compare(name, want, got):
    """Returns what differs first in every column, and the number of values."""
    wrong, count = [], 0
    if list(got) != list(want) and set(got) != set(want):
        wrong.append(f"{name}: columns {list(got)}, want {list(want)}")
    for column in want:
        a, b = want[column], [neutral(v) for v in got.get(column, [])]
        count += len(b)
        if a == b:
            continue
        if len(a) != len(b):
            wrong.append(f"{name}: {column}: {len(b)} values, want {len(a)}")
            continue
        at = next(i for i in range(len(a)) if a[i] != b[i])
        wrong.append(f"{name}: {column}: row {at} is {str(b[at])[:200]}, want {str(a[at])[:200]}")
    return wrong, count


def main():
    reader, manifest = sys.argv[1:]
    try:
        version, read = globals()[reader + "_reader"]()
    except ImportError as e:
        print(json.dumps({"unavailable": str(e)}))
        return
    with open(manifest) as f:
        tables = json.load(f)
    wrong, values, cache = [], 0, {}
    for table in tables:
        if table["expected"] not in cache:
            with open(table["expected"]) as f:
                cache = {table["expected"]: json.load(f)}
        try:
            got = read(table["files"])
        except Exception as e:  # the reader's own words
            wrong.append(f"{table['name']}: {type(e).__name__}: {str(e)[:500]}")
            continue
        differences, count = compare(table["name"], cache[table["expected"]], got)
        wrong += differences
        values += count
    print(json.dumps({"version": version, "tables": len(tables), "values": values, "wrong": wrong}))


main()
