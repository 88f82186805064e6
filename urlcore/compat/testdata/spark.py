"""Has Spark answer: spark.py URLS OUT EXPRESSION...

URLS has a URL a line, "x" and its bytes in hexadecimal digits; u is the URL in an expression. OUT gets a line for each: the
texts of the expressions with spaces between them, "." and the bytes, or "-" for NULL. Where the query fails, all that there is
of OUT is why."""

import os
import shutil
import sys
from pathlib import Path

os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")

from pyspark.sql import SparkSession  # noqa: E402

urls, out, *expressions = sys.argv[1:]
many = os.path.getsize(urls) > 10_000  # half of the URLs are exceptions; Spark needs their traces to say why a query fails
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.memory", "1g")
    .config("spark.driver.extraJavaOptions", "-XX:-StackTraceInThrowable" if many else "")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.ansi.enabled", "false")
    .config("spark.sql.files.maxPartitionBytes", str(1 << 32))  # one task, so that lines stay in order
    .config("spark.log.level", "OFF")
    .getOrCreate()
)
fields = [f"coalesce(concat('.', hex(cast({e} AS binary))), '-')" for e in expressions]
rows = spark.read.text(urls).selectExpr("cast(unhex(substring(value, 2)) AS string) AS u").selectExpr(f"concat_ws(' ', {', '.join(fields)})")
try:
    rows.write.mode("overwrite").text(out + ".parts")
except Exception as e:
    Path(out).write_text("failed: " + " ".join(str(e).split()))
    sys.exit()
(part,) = Path(out + ".parts").glob("part-*")
shutil.move(part, out)
shutil.rmtree(out + ".parts")
