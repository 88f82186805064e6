"""A backfill of Parquet files by Spark: compared row by row with the command urlmill, and measured beside the SQL functions of the jar, Spark's
own parse_url and a Python UDF on tldextract.

    python bench/spark.py --urlmill ../../bin/urlmill --jar ../../bin/jvm/urlmill-spark_2.13.jar [--rows 10000000] [--quick] [--out results.json]

CPU time is that of the JVM and of all Python workers together, in seconds a million rows, so that a Python worker beside the
JVM counts as what it is: another core. Systems take turns, several times; the median counts. The first four rounds are not
counted: the JVM compiles then.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import urlmill
import urlmill.spark

GROUP = 100_000
WARM = 4  # rounds that are not counted
PARTS = ["host", "path", "query"]


def urls(rows: int, seed: int = 1) -> Iterator[pa.Array]:
    """URLs of a clickstream, of 100 bytes on average; a hundredth is none, and as many need IDNA, percent-encoding or a port."""
    r = random.Random(seed)
    words = ["item", "list", "catalogue", "review", "account", "search", "article", "images", "2026", "de", "offer", "help"]
    tails = ["com", "co.uk", "de", "com.br", "org", "io", "github.io", "ac.jp", "net", "shop"]
    hosts = [f"{r.choice(['www.', '', 'm.', 'shop.'])}{r.choice(words)}{r.randrange(5000)}.{r.choice(tails)}" for _ in range(20_000)]
    odd = [
        "http://1.2.3.%d/", "no url %d", "https://bücher%d.example/ü?ä=ö", "HTTPS://Example.COM:8443/%d/../x y?a b#c d", "mailto:a%d@b.example",
        "//no.scheme/%d", "http://[::1]:80/%d", "https://user:pw@host%d.example/", "http://a b/%d", "http:///x%d", "",
    ]  # fmt: skip
    for first in range(0, rows, GROUP):
        out = []
        for i in range(first, min(first + GROUP, rows)):
            if i % 50 == 0:
                form = odd[i // 50 % len(odd)]
                out.append(form % i if "%d" in form else form)
            else:
                path = "/".join(r.choices(words, k=3))
                out.append(f"https://{hosts[r.randrange(20_000)]}/{path}/{i}.html?utm_source=mail&id={i * 7919}&q=a+b%20c")
        yield pa.array(out, pa.string())


def make(folder: Path, rows: int, file_rows: int) -> None:
    """Writes the Parquet files of the input, and the same URLs as lines."""
    folder.mkdir()
    with open(folder.parent / "urls.txt", "wb") as text:
        writer: pq.ParquetWriter | None = None
        written = 0
        for batch in urls(rows):
            if writer is None:
                writer = pq.ParquetWriter(folder / f"in-{written // file_rows:05}.parquet", pa.schema([("url", pa.string())]))
            writer.write_table(pa.table([batch], names=["url"]), row_group_size=GROUP)
            text.write("\n".join(batch.to_pylist()).encode() + b"\n")
            written += len(batch)
            if written % file_rows == 0:
                writer.close()
                writer = None
        if writer is not None:
            writer.close()


_used: dict[tuple[int, int], int] = {}  # ticks of every process that was seen, by its number and start


def cpu_seconds() -> float:
    """CPU time of this process and of all below it. The time of those that have ended since the last call counts up to then:
    Spark's daemon lets its workers go without adding up theirs."""
    parents: dict[int, int] = {}
    seen: dict[int, tuple[tuple[int, int], int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as f:
                    fields = f.read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            pid = int(name)
            parents[pid] = int(fields[1])
            seen[pid] = ((pid, int(fields[19])), int(fields[11]) + int(fields[12]))
    family = {os.getpid()}
    while more := {p for p, parent in parents.items() if parent in family and p not in family}:
        family |= more
    _used.update(seen[p] for p in family)
    return sum(_used.values()) / os.sysconf("SC_CLK_TCK")


def same(ours: Path, theirs: Path, rows: int) -> int:
    """Compares all values of two folders, in order, and returns how many rows there are."""

    def chunks(folder: Path, columns: list[str]) -> Iterator[pa.Table]:
        held: list[pa.Table] = []
        for file in sorted(folder.rglob("*.parquet")):
            for batch in pq.ParquetFile(file).iter_batches(65_536, columns=columns):
                held.append(pa.Table.from_batches([batch]))
                while sum(t.num_rows for t in held) >= GROUP:
                    whole = pa.concat_tables(held)
                    yield whole.slice(0, GROUP)
                    held = [whole.slice(GROUP)]
        rest = pa.concat_tables(held)
        if rest.num_rows:
            yield rest

    columns = pq.read_schema(next(ours.rglob("*.parquet"))).names
    command = pq.read_schema(next(theirs.rglob("*.parquet"))).names
    if [c for c in command if c not in ("file", "record")] != columns:
        raise SystemExit(f"the columns differ: {columns} here, {command} by urlmill parse")
    compared = 0
    for a, b in zip(chunks(ours, columns), chunks(theirs, columns), strict=True):
        for name in columns:
            x, y = a.column(name).combine_chunks(), b.column(name).combine_chunks()
            if not x.cast(y.type).equals(y):
                bad = next(i for i in range(len(x)) if x[i].as_py() != y[i].as_py())
                raise SystemExit(f"row {compared + bad}, column {name}: {x[bad]} here, {y[bad]} by urlmill parse")
        compared += a.num_rows
    if compared != rows:
        raise SystemExit(f"{compared} rows were compared, and there are {rows}")
    return compared


def session(memory: str, jar: str, settings: dict[str, str]) -> Any:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", memory)
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "65536")
        .config("spark.jars", jar)
        .config("spark.sql.extensions", "io.github.urlmill.spark.UrlmillExtensions")
    )
    for key, value in settings.items():
        builder = builder.config(key, value)
    s = builder.getOrCreate()
    s.dataSource.register(urlmill.spark.Source)
    s.sparkContext.setLogLevel("ERROR")
    return s


def with_tldextract(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What people write: urllib and tldextract, row by row, in a function of Arrow batches."""
    from urllib.parse import urlsplit

    import tldextract

    extract = tldextract.TLDExtract(suffix_list_urls=())
    for batch in batches:
        rows = []
        for url in batch.column(0).to_pylist():
            try:
                u = urlsplit(url)
                rows.append((u.hostname, u.path, u.query, extract(url).top_domain_under_public_suffix))
            except ValueError:
                rows.append((None, None, None, None))
        yield pa.RecordBatch.from_arrays([pa.array(c, pa.string()) for c in zip(*rows, strict=True)], ["host", "path", "query", "registrable_domain"])


def copied(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Three columns that cost nothing to make: what remains is Spark's own."""
    for batch in batches:
        yield pa.RecordBatch.from_arrays([batch.column(0)] * 3, PARTS)


def systems(spark: Any, source: Path, few: Path, work: Path) -> dict[str, tuple[Path, Callable[[], Any]]]:
    """What is measured: the input, and what does it."""
    df = spark.read.parquet(str(source))
    own = df.selectExpr("try_parse_url(url, 'HOST') host", "try_parse_url(url, 'PATH') path", "try_parse_url(url, 'QUERY') query")
    functions = ["url_host(url) host", "url_path(url) path", "url_query(url) query"]
    domain = "url_registrable_domain(url) registrable_domain"
    filtered = df.where("length(url) > 0")  # rows, where the scan gives columns otherwise
    tld = spark.read.parquet(str(few)).mapInArrow(with_tldextract, "host string, path string, query string, registrable_domain string")
    three: dict[str, Any] = {"columns": PARTS, "carry": []}

    def noop(frame: Any) -> Callable[[], Any]:
        return lambda: frame.write.format("noop").mode("overwrite").save()

    def parquet(frame: Any, name: str) -> Callable[[], Any]:
        return lambda: frame.write.mode("overwrite").parquet(str(work / name))

    def filled(name: str, **options: Any) -> Callable[[], Any]:
        return lambda: urlmill.spark.backfill(spark, str(source), str(work / name), "url", overwrite=True, **options)

    return {
        "read, nothing else": (source, noop(df)),
        "parse_url, three times": (source, noop(own)),
        "urlmill, SQL functions": (source, noop(df.selectExpr(*functions))),
        "urlmill, SQL functions, registrable domain as well": (source, noop(df.selectExpr(*functions, domain))),
        "read and filter, nothing else": (source, noop(filtered)),
        "urlmill, SQL functions behind a filter, registrable domain as well": (source, noop(filtered.selectExpr(*functions, domain))),
        "the column three times, mapInArrow": (source, noop(df.mapInArrow(copied, "host string, path string, query string"))),
        "urlmill, mapInArrow": (source, noop(urlmill.spark.parse(df, "url", **three))),
        "urlmill, read_parquet": (source, noop(urlmill.spark.read_parquet(spark, str(source), "url", **three))),
        "urlmill, data source": (source, noop(spark.read.format("urlmill").option("columns", ",".join(PARTS)).load(str(source)))),
        "parse_url to Parquet": (source, parquet(own, "own")),
        "urlmill, SQL functions to Parquet": (source, parquet(df.selectExpr(*functions), "functions")),
        "urlmill, mapInArrow to Parquet": (source, parquet(urlmill.spark.parse(df, "url", **three), "mapped")),
        "urlmill, backfill": (source, filled("three", **three)),
        "urlmill, backfill, registrable domain as well": (source, filled("four", columns=[*PARTS, "registrable_domain"], carry=[])),
        "tldextract, mapInArrow": (few, noop(tld)),
    }


def measure(spark: Any, source: Path, few: Path, work: Path, rows: dict[Path, int], rounds: int, only: str) -> dict[str, dict[str, float]]:
    todo = {name: system for name, system in systems(spark, source, few, work).items() if re.search(only, name)}
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in todo}
    for turn in range(-WARM, rounds):
        for name, (given, run) in todo.items():
            cpu, wall = cpu_seconds(), time.monotonic()
            run()
            millions = rows[given] / 1e6
            taken[name].append(((cpu_seconds() - cpu) / millions, (time.monotonic() - wall) / millions))
            print(f"  round {turn}: {name}: {taken[name][-1][0]:.3f} s of CPU a million rows", file=sys.stderr, flush=True)
    return {name: {"cpu": statistics.median(t[0] for t in ts[WARM:]), "wall": statistics.median(t[1] for t in ts[WARM:])} for name, ts in taken.items()}


def report(result: dict[str, dict[str, float]]) -> str:
    lines = ["| system | CPU seconds a million rows | parse_url takes |", "| --- | ---: | ---: |"]
    for name, r in result.items():
        against = result.get("parse_url to Parquet" if "Parquet" in name or "backfill" in name else "parse_url, three times")
        ratio = f"{against['cpu'] / r['cpu']:.2f} times as long" if against else ""
        lines.append(f"| {name} | {r['cpu']:.3f} | {ratio} |")
    return "\n".join(lines)


def main() -> None:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--urlmill", required=True, help="the command, to compare with")
    flags.add_argument("--jar", required=True, help="urlmill-spark_2.13.jar")
    flags.add_argument("--rows", type=int, default=10_000_000)
    flags.add_argument("--measured", type=int, default=2_000_000, help="rows of the input that are measured")
    flags.add_argument("--rounds", type=int, default=3)
    flags.add_argument("--quick", action="store_true", help="300,000 rows, one round")
    flags.add_argument("--only", default="", help="a regular expression: the systems that are measured")
    flags.add_argument("--conf", action="append", default=[], metavar="KEY=VALUE", help="a setting of Spark")
    flags.add_argument("--out", help="file for the figures, as JSON")
    flags.add_argument("--work", help="folder for some gigabytes, default: a temporary one")
    args = flags.parse_args()
    rows, rounds = (300_000, 1) if args.quick else (args.rows, args.rounds)
    measured = min(rows, args.measured)
    few_rows = min(rows, 200_000)
    work = Path(tempfile.mkdtemp(prefix="urlmill-spark-", dir=args.work))
    try:
        print(f"making {rows:,} rows", file=sys.stderr, flush=True)
        source, part, few = work / "in", work / "part" / "in", work / "few" / "in"
        for folder, number in [(few, few_rows), (part, measured), (source, rows)]:
            folder.parent.mkdir(exist_ok=True)
            make(folder, number, 1_000_000)
        spark = session("4g", args.jar, dict(c.split("=", 1) for c in args.conf))
        options: dict[str, Any] = {"batch_rows": 65_536}
        done = urlmill.spark.backfill(spark, str(source), str(work / "all"), "url", **options)
        print(f"backfilled {done}", file=sys.stderr, flush=True)
        subprocess.run([args.urlmill, "parse", "-q", "--parallel", "1", str(work / "urls.txt"), "--to", "parquet", "-o", str(work / "command")], check=True)
        compared = same(work / "all", work / "command", rows)
        print(f"{compared:,} rows are those of urlmill parse, in every column; {done.invalid:,} of them are no URL", flush=True)
        for folder in ("all", "command"):
            shutil.rmtree(work / folder)
        result = measure(spark, part, few, work, {part: measured, few: few_rows}, rounds, args.only)
        spark.stop()
        print(report(result))
        if args.out:
            Path(args.out).write_text(json.dumps({"compared": compared, "measured": measured, "rounds": rounds, "conf": args.conf, "systems": result}, indent=1) + "\n")
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
