"""What a call costs by the rows that it is given, in every host of one process: few rows pay for the call, many for the parsing.

    python bench/calls.py [--rows 1,100,...] [--only parse,...] [--go ../../bin/bench/processor.test] [--out results.json]

CPU time is that of all threads of the process, and instructions are those that they ran outside of the kernel, where Linux lets a
program count them: they hardly depend on what else the machine does. Both are of a call, the least of several rounds; "times" is how many times as much
a row takes as in the largest batch.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import resource
import statistics
import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa

import urlmill
import urlmill.duckdb
import urlmill.pandas
import urlmill.polars

ROWS = [1, 100, 1000, 2048, 10_000, 65_536]
COLUMNS: dict[str, dict[str, Any]] = {"three": {"columns": ["host", "path", "url_error"]}, "all": {}}
ROUNDS = 5
BATCHES = 20  # of a stream or of a table


class Counter:
    """Counts the instructions of this process, of its threads, and of processes that have ended; always 0 where it may not."""

    def __init__(self) -> None:
        attr = (ctypes.c_char * 120)()
        inherit, no_kernel, no_hypervisor = 1 << 1, 1 << 5, 1 << 6
        struct.pack_into("IIQ", attr, 0, 0, len(attr), 1)  # PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS
        struct.pack_into("Q", attr, 40, inherit | no_kernel | no_hypervisor)
        call = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
        libc = ctypes.CDLL(None)
        tasks = os.listdir("/proc/self/task") if call else []
        self._files = [libc.syscall(call, ctypes.byref(attr), int(task), -1, -1, 0) for task in tasks]
        if min(self._files, default=-1) < 0:
            self._files = []

    def read(self) -> int:
        return sum(int(struct.unpack("Q", os.read(f, 8))[0]) for f in self._files)


def cpu() -> float:
    """Seconds of CPU time of this process and of those that it has waited for."""
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def urls(rows: int) -> list[str]:
    return [f"https://www.example{i % 1000}.com/some/path/{i}?x=1&y={i}#f" for i in range(rows)]


Run = Callable[[], object]


def of_list(rows: int, options: dict[str, Any]) -> tuple[Run, int]:
    given = urls(rows)
    return lambda: urlmill.parse(given, **options), 1


def of_array(rows: int, options: dict[str, Any]) -> tuple[Run, int]:
    given = pa.array(urls(rows))
    return lambda: urlmill.parse(given, **options), 1


def batches(rows: int, options: dict[str, Any]) -> tuple[Run, int]:
    batch, mapped = pa.record_batch([pa.array(urls(rows))], names=["url"]), urlmill.map_batches("url", **options)

    def run() -> None:
        for _ in mapped(iter([batch] * BATCHES)):
            pass

    return run, BATCHES


def table(rows: int, options: dict[str, Any]) -> tuple[Run, int]:
    """All batches are there at the end."""
    given, parser = pa.table({"url": urls(rows * BATCHES)}), urlmill.Parser(batch_rows=rows, **options)
    return lambda: parser.table(given), BATCHES


def of_polars(rows: int, options: dict[str, Any]) -> tuple[Run, int]:
    given, parsed = pl.DataFrame({"url": urls(rows)}), pl.col("url").urlmill.parse(**options)
    return lambda: given.select(parsed), 1


def of_pandas(rows: int, options: dict[str, Any]) -> tuple[Run, int]:
    given = pd.Series(urls(rows), dtype=pd.ArrowDtype(pa.string()))
    return lambda: given.urlmill.parse(**options), 1


def of_duckdb(rows: int, options: dict[str, Any]) -> tuple[Run, int]:
    """A query, whose function is called for 2,048 rows at a time."""
    connection = duckdb.connect(config={"threads": 1})
    urlmill.duckdb.register(connection, "parse", **options)
    given = pa.table({"url": urls(rows)})
    connection.register("given", given)
    connection.execute("CREATE TABLE urls AS SELECT url FROM given")
    return lambda: connection.execute("SELECT count(parsed) FROM (SELECT parse(url) AS parsed FROM urls)").fetchall(), 1


HOSTS: dict[str, Callable[[int, dict[str, Any]], tuple[Run, int]]] = {
    "urlmill.parse of a list": of_list,
    "urlmill.parse of an array": of_array,
    "map_batches, a batch": batches,
    "table, a batch of batch_rows": table,
    "Polars, an expression": of_polars,
    "pandas, a series": of_pandas,
    "DuckDB, a query": of_duckdb,
}

GO = {"Go, Process or Parse": "Calls", "Go, View": "View"}


def measured(run: Run, calls: int, count: int, counter: Counter) -> tuple[float, float]:
    """Returns the instructions and the nanoseconds of CPU time of one of so many calls, of which run does count."""
    for _ in range(max(2, calls // 5)):
        run()
    least = (float("inf"), float("inf"))
    for _ in range(ROUNDS):
        began, instructions = time.process_time_ns(), counter.read()
        for _ in range(calls):
            run()
        least = (
            min(least[0], (counter.read() - instructions) / calls / count),
            min(least[1], (time.process_time_ns() - began) / calls / count),
        )
    return least


def measured_go(program: str, benchmark: str, calls: int, counter: Counter) -> tuple[float, float]:
    """What measured returns, of the benchmarks of the Go package, which run in a process of their own: three times the calls less once."""

    def run(n: int) -> tuple[float, float]:
        began, instructions = cpu(), counter.read()
        arguments = [program, "-test.run", "^$", "-test.bench", f"^Benchmark{benchmark}$", "-test.benchtime", f"{n}x"]
        out = subprocess.run(arguments, check=True, capture_output=True, text=True, env={**os.environ, "GOMAXPROCS": "2"}).stdout
        if "ns/op" not in out:
            raise SystemExit(f"{program} has no Benchmark{benchmark}")
        return counter.read() - instructions, (cpu() - began) * 1e9

    rounds = [(run(calls), run(3 * calls)) for _ in range(ROUNDS)]
    instructions, nanoseconds = (statistics.median((more[i] - less[i]) / (2 * calls) for less, more in rounds) for i in (0, 1))
    return instructions, nanoseconds


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rows", default=",".join(map(str, ROWS)), help="rows of a call")
    options.add_argument("--only", default="", help="hosts whose name has one of these texts, with commas between")
    options.add_argument("--go", help="the tests of pipeline/processor, as go test -c makes them; without, Go is left out")
    options.add_argument("--calls", type=int, help="calls of a round; as many as there is time for by default")
    options.add_argument("--out", help="JSON file for the result")
    given = options.parse_args()
    rows = [int(n) for n in given.rows.split(",")]
    counter, results = Counter(), []
    for name in [*(GO if given.go else {}), *HOSTS]:
        if given.only and not any(part in name for part in given.only.split(",")):
            continue
        print(name)
        for columns, chosen in COLUMNS.items():
            found = []
            for n in rows:
                calls = given.calls or max(3, min(2000, 400_000 // (n + 150)))
                if name in GO:
                    figures = measured_go(given.go, f"{GO[name]}/{columns}/{n}", given.calls or 3_000_000 // (n + 30), counter)
                else:
                    run, count = HOSTS[name](n, chosen)
                    figures = measured(run, max(2, calls // count), count, counter)
                found.append({"rows": n, "instructions": round(figures[0]), "cpu_ns": round(figures[1]), "cpu_s_per_million": round(figures[1] / n / 1000, 4)})
            last = found[-1]
            by = "instructions" if last["instructions"] else "cpu_ns"
            for f in found:
                f["times"] = round(f[by] / f["rows"] / (last[by] / last["rows"]), 2)
                print(
                    f"  {columns:5} columns, {f['rows']:6} rows: {f['instructions']:11,} instructions, {f['cpu_ns'] / 1000:9,.1f} us a call;"
                    f" {f['cpu_s_per_million']:9.4f} s a million rows, {f['times']:8.2f} times"
                )
            results.append({"host": name, "columns": columns, "calls": found})
    if given.out:
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
        names = [line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
        head = {"cpu": names[0] if names else "unknown", "cores": os.cpu_count(), "os": "linux", "arch": platform.machine(), "go": urlmill.version()["go"]}
        versions = {m.__name__: m.__version__ for m in (pa, pd, pl, duckdb)} | {"python": platform.python_version()}
        report = {"machine": head, "commit": commit or "unknown", "versions": versions, "load_after": round(os.getloadavg()[0], 1), "results": results}
        Path(given.out).write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
