"""Runs what "urlmill sql" prints in an engine, and compares two tables of it row by row.

Usage: sql.py ENGINE SQL... -- TABLE VIEW, with ENGINE one of clickhouse, polars, spark, and files of statements. TABLE has what VIEW
has to have. With "trino", "bigquery" or "snowflake", the statements are parsed by sqlglot instead.

Prints a line of JSON: {"version", "rows", "columns", "lacks", "more"}: the numbers of rows, the columns, how many rows of TABLE the VIEW lacks,
and the first that it has instead; or {"version", "statements", "unknown"}, where unknown are those whose syntax sqlglot does not know; or
{"unavailable"} without the library.
"""

import json
import sys


def compare(query, table, view, minus, key="record"):
    columns = [c for c in query(f"SELECT * FROM {table} LIMIT 1", True)]
    names = ", ".join(columns)
    count = lambda q: query(f"SELECT count(*) FROM ({q}) AS q")[0][0]
    both = f"SELECT {names} FROM {table}", f"SELECT {names} FROM {view}"
    more = query(f"SELECT {key} FROM ({both[1]} {minus} {both[0]}) AS q ORDER BY 1 LIMIT 5")
    return {
        "rows": [int(count(q)) for q in both], "columns": columns, "lacks": int(count(f"{both[0]} {minus} {both[1]}")),
        "more": [str(r[0]) for r in more],
    }


def clickhouse(files, table, view):
    from chdb import session

    import chdb

    s = session.Session()
    for f in files:
        for statement in open(f, encoding="utf-8").read().split(";\n"):
            if statement.strip():
                s.query(statement)

    def query(text, names=False):
        lines = str(s.query(text, "JSONCompactEachRowWithNames")).splitlines()
        return json.loads(lines[0]) if names else [json.loads(line) for line in lines[1:]]

    return {"version": chdb.__version__, **compare(query, table, view, "EXCEPT")}


def polars(files, table, view):
    import polars as pl

    modules = []
    for f in files:
        module = {}
        exec(compile(open(f, encoding="utf-8").read(), f, "exec"), module)
        modules.append(module)
    want, got = modules[0]["table"].collect().sort("record"), modules[1]["full"].collect().sort("record")
    got = got.select(want.columns)
    lacks = [i for i, (a, b) in enumerate(zip(want.iter_rows(), got.iter_rows())) if a != b]
    same_types = want.schema == got.schema
    return {
        "version": pl.__version__, "rows": [want.height, got.height], "columns": want.columns, "lacks": len(lacks) + (not same_types),
        "more": [str(i) for i in lacks[:5]] + ([] if same_types else [str(want.schema), str(got.schema)]),
    }


def spark(files, table, view):
    import pyspark
    from pyspark.sql import SparkSession

    s = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.catalogImplementation", "in-memory")
        .getOrCreate()
    )
    s.sparkContext.setLogLevel("ERROR")
    for f in files:
        for statement in open(f, encoding="utf-8").read().split(";\n"):
            if statement.strip():
                s.sql(statement)

    def query(text, names=False):
        frame = s.sql(text)
        return frame.columns if names else [tuple(r) for r in frame.collect()]

    return {"version": pyspark.__version__, **compare(query, table, view, "EXCEPT ALL")}


def parse(dialect, files):
    import logging

    import sqlglot
    from sqlglot import expressions

    logging.disable(logging.WARNING)
    known, unknown = 0, []
    for f in files:
        for statement in sqlglot.parse(open(f, encoding="utf-8").read(), dialect=dialect, error_level=sqlglot.ErrorLevel.RAISE):
            if isinstance(statement, expressions.Command):
                unknown.append(statement.sql()[:30])
            elif statement is not None:
                known += 1
    return {"version": sqlglot.__version__, "statements": known, "unknown": unknown}


engine, rest = sys.argv[1], sys.argv[2:]
try:
    if engine in ("trino", "bigquery", "snowflake"):
        print(json.dumps(parse(engine, rest)))
    else:
        at = rest.index("--")
        print(json.dumps(globals()[engine](rest[:at], *rest[at + 1 :])))
except ImportError as e:
    print(json.dumps({"unavailable": str(e)}))
