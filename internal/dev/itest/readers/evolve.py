"""Reads Parquet files whose columns have changed as one table.

Usage: evolve.py READER FOLDER COLUMNS, with COLUMNS a JSON list of names. READER is a library, as it reads by itself, or with a dash and
"merged" as the documentation says.

Prints a line of JSON: {"version", "rows"}, the rows in the order of the column record; or {"refused"}; or {"unavailable"} without the library.
"""

import glob
import json
import sys


def pyarrow(files, merged):
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    schema = pa.unify_schemas([pq.read_schema(f) for f in files], promote_options="permissive") if merged else None
    return pa.__version__, ds.dataset(files, schema=schema).to_table().to_pylist()


def polars(files, merged):
    import polars as pl

    if not merged:
        return pl.__version__, pl.scan_parquet(files).collect().to_dicts()
    return pl.__version__, pl.concat([pl.scan_parquet(f) for f in files], how="diagonal_relaxed").collect().to_dicts()


def datafusion(files, merged):
    import datafusion
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.unify_schemas([pq.read_schema(f) for f in files], promote_options="permissive") if merged else None
    return datafusion.__version__, datafusion.SessionContext().read_parquet(folder, schema=schema).to_pylist()


def clickhouse(files, merged):
    import chdb

    settings = " SETTINGS schema_inference_mode = 'union'" if merged else ""
    text = str(chdb.query(f"SELECT * FROM file('{folder}/*.parquet', 'Parquet'){settings}", "JSONEachRow"))
    return chdb.__version__, [json.loads(line) for line in text.splitlines()]


def spark(files, merged):
    import pyspark
    from pyspark.sql import SparkSession

    s = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    s.sparkContext.setLogLevel("OFF")
    reader = s.read
    if merged:
        # mergeSchema takes columns that are missing, and refuses those that are wider.
        reader = reader.schema("record bigint, host string, hostname string, n bigint, f double, campaign string, tags array<string>")
    return pyspark.__version__, [r.asDict(True) for r in reader.parquet(folder).collect()]


reader, folder, columns = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
name, _, how = reader.partition("-")
try:
    version, rows = globals()[name](sorted(glob.glob(folder + "/*.parquet")), how == "merged")
    rows = sorted(rows, key=lambda r: int(r["record"]))
    for r in rows:
        for c in ("record", "n"):
            if r.get(c) is not None:
                r[c] = int(r[c])  # ClickHouse gives integers of 64 bits as texts
        if r.get("tags") == [] and name == "clickhouse":
            r["tags"] = None  # an array cannot be null there
    print(json.dumps({"version": version, "rows": [[r.get(c) for c in columns] for r in rows]}))
except ImportError as e:
    print(json.dumps({"unavailable": str(e)}))
except Exception as e:
    print(json.dumps({"refused": f"{type(e).__name__}: {e}"[:300]}))
