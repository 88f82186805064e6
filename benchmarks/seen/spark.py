"""Spark's dropDuplicates: says the version, and then for each line LIST<tab>FOLDER what it took, a line of JSON.

Time of the CPU and memory are those of the Java machine, from /proc; Python only waits.
"""

import json
import os
import sys
import time

import pyspark
from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.master("local[*]")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.driver.memory", "2g")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.sql.parquet.compression.codec", "zstd")
    .config("spark.hadoop.parquet.compression.codec.zstd.level", "1")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
pid = spark.sparkContext._gateway.proc.pid


def proc(name):
    with open(f"/proc/{pid}/{name}") as text:
        return text.read()


def cpu():
    fields = proc("stat").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


print(pyspark.__version__, flush=True)
for line in sys.stdin:
    source, folder = line.rstrip("\n").split("\t")
    before, start = cpu(), time.monotonic()
    spark.read.text(source).withColumnRenamed("value", "url").dropDuplicates(["url"]).write.parquet(folder)
    took = {"seconds": time.monotonic() - start, "cpu": cpu() - before}
    status = dict(line.split(":", 1) for line in proc("status").splitlines())
    took["memory"] = int(status["VmHWM"].split()[0]) * 1024
    print(json.dumps(took), flush=True)
spark.stop()
