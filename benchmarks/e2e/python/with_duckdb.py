"""DuckDB's approximation of the job: with_duckdb.py IN OUT CODEC THREADS. Prints the outcome, a line of JSON."""

import json
import os
import sys

import duckdb

from common import Meter

source, out, codec, threads = sys.argv[1:]
os.mkdir(out)
db = duckdb.connect()
db.execute(f"SET threads = {threads}")
db.execute("SET preserve_insertion_order = false")
level = ", COMPRESSION_LEVEL 1" if codec == "zstd" else ""
codec = "uncompressed" if codec == "none" else codec
# One expression takes a URL apart. No record has the separator that keeps read_csv from splitting lines.
pattern = r"^([A-Za-z][A-Za-z0-9+.-]*)://(?:[^/?#@]*@)?([^/?#:]*)(?::([0-9]{0,5}))?([^?#]*)(?:\?([^#]*))?"
domain = r"[^.]+\.(?:(?:com?|net|org|gov|ac|edu)\.[a-z]{2}|[^.]+)$"
meter = Meter()
db.execute(
    f"""COPY (
        SELECT url, lower(p.scheme) AS scheme, lower(p.host) AS host, try_cast(p.port AS USMALLINT) AS port,
            regexp_extract(lower(p.host), '{domain}') AS registrable_domain, p.path AS path, p.query AS query
        FROM (
            SELECT url, regexp_extract(url, '{pattern}', ['scheme', 'host', 'port', 'path', 'query']) AS p
            FROM read_csv('{source}/*.txt', columns = {{'url': 'VARCHAR'}}, delim = '\x01', quote = '', escape = '',
                header = false, auto_detect = false, ignore_errors = true, strict_mode = false)
        )
    ) TO '{out}' (FORMAT parquet, COMPRESSION {codec}{level}, PER_THREAD_OUTPUT true)"""
)
outcome = meter.outcome(f"DuckDB {duckdb.__version__}")
outcome["rows"] = db.execute(f"SELECT count(*) FROM '{out}/*.parquet'").fetchone()[0]
print(json.dumps(outcome))
