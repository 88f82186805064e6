"""Has ClickHouse answer: clickhouse.py URLS OUT EXPRESSION..., as spark.py does. An expression that begins with "[" and is not
closed is a list: "[" and its texts with commas between them."""

import sys

import chdb

urls, out, *expressions = sys.argv[1:]
fields = [
    f"concat('[', arrayStringConcat(arrayMap(x -> concat('.', hex(x)), {e[1:]}), ','))" if e.startswith("[") else f"concat('.', hex({e}))"
    for e in expressions
]
chdb.query(
    f"SELECT arrayStringConcat([{', '.join(fields)}], ' ') FROM (SELECT unhex(substring(line, 2)) AS u FROM file('{urls}', 'LineAsString', 'line String'))"
    f" INTO OUTFILE '{out}' TRUNCATE FORMAT LineAsString SETTINGS max_threads = 1, max_memory_usage = 2000000000"
)
