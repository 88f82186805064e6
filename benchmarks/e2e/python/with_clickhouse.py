"""ClickHouse's approximation of the job: with_clickhouse.py IN OUT CODEC THREADS. Prints the outcome, a line of JSON."""

import json
import os
import sys

import chdb

from common import Meter

source, out, codec, threads = sys.argv[1:]
os.mkdir(out)
meter = Meter()
# Every thread writes to the same file, with columns encoded side by side.
chdb.query(
    f"""INSERT INTO FUNCTION file('{out}/part.parquet', 'Parquet')
        SELECT line AS url, protocol(line) AS scheme, domain(line) AS host, nullIf(port(line), 0) AS port,
            cutToFirstSignificantSubdomain(line) AS registrable_domain, path(line) AS path, queryString(line) AS query
        FROM file('{source}/*.txt', 'LineAsString', 'line String')
        SETTINGS max_threads = {threads}, max_insert_threads = {threads}, output_format_parquet_compression_method = '{codec}',
            output_format_compression_level = 1, output_format_parquet_parallel_encoding = 1"""
)
outcome = meter.outcome(f"ClickHouse {chdb.engine_version} (chdb {chdb.__version__})")
rows = chdb.query(f"SELECT count() FROM file('{out}/part.parquet', 'Parquet')", "CSV")
outcome["rows"] = int(str(rows))
print(json.dumps(outcome))
