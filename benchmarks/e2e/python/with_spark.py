"""Spark's approximation of the job: with_spark.py IN OUT CODEC THREADS. Prints the outcome, a line of JSON.

The Java machine is warmed up by the first file. Its time of the CPU and memory are taken from /proc, that of Python,
which only waits, is not counted.
"""

import glob
import json
import os
import sys
import time

import pyspark
from pyspark.sql import SparkSession, functions as f

source, out, codec, threads = sys.argv[1:]
spark = (
    SparkSession.builder.master(f"local[{threads}]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.memory", "2g")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.sql.ansi.enabled", "false")
    .config("spark.sql.parquet.compression.codec", "uncompressed" if codec == "none" else codec)
    .config("spark.hadoop.parquet.compression.codec.zstd.level", "1")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
pid = spark.sparkContext._gateway.proc.pid
domain = r"[^.]+\.(?:(?:com?|net|org|gov|ac|edu)\.[a-z]{2}|[^.]+)$"


def proc(name):
    with open(f"/proc/{pid}/{name}") as text:
        return text.read()


def cpu():
    fields = proc("stat").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(files, folder):
    url = f.col("value")

    def part(name):
        return f.expr(f"parse_url(value, '{name}')")

    host = f.lower(part("HOST"))
    spark.read.text(files).select(
        url.alias("url"), f.lower(part("PROTOCOL")).alias("scheme"), host.alias("host"),
        f.regexp_extract(part("AUTHORITY"), r":([0-9]+)$", 1).cast("int").alias("port"),
        f.regexp_extract(host, domain, 0).alias("registrable_domain"),
        part("PATH").alias("path"), part("QUERY").alias("query"),
    ).write.parquet(folder)


files = sorted(glob.glob(f"{source}/*.txt"))
run(files[:1], out + ".warm")
before, start = cpu(), time.monotonic()
run(files, out)
outcome = {"seconds": time.monotonic() - start, "cpu": cpu() - before}
status = dict(line.split(":", 1) for line in proc("status").splitlines())
outcome["rss"] = int(status["VmHWM"].split()[0]) * 1024 / 1e6
outcome["version"] = f"Spark {pyspark.__version__}, warm"
outcome["rows"] = spark.read.parquet(out).count()
print(json.dumps(outcome), flush=True)
spark.stop()
