"""Runs statements of SQL, a JSON list on standard input, in ClickHouse (the package chdb) or in Spark (pyspark, Java 17), where the
rows of a Parquet file are the table clicks, and prints the rows of the queries among them, a JSON list on each line."""

import json
import sys

engine, path = sys.argv[1:]
statements = json.load(sys.stdin)

if engine == "clickhouse":
    from chdb import session

    db = session.Session()
    db.query("CREATE DATABASE mill ENGINE = Atomic")
    db.query("USE mill")
    db.query(f"CREATE TABLE clicks ENGINE = Memory AS SELECT * FROM file('{path}', Parquet)")
    for statement in statements:
        sys.stdout.write(str(db.query(statement, "JSONCompactEachRow")))
else:
    from pyspark.sql import SparkSession

    settings = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC")
    spark = settings.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.read.parquet(path).createOrReplaceTempView("clicks")
    for statement in statements:
        for row in spark.sql(statement).collect():
            print(json.dumps(list(row)))
    spark.stop()
