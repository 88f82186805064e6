"""What the functions cost in DuckDB, beside its regular expressions and ClickHouse's native functions, in one run and in turns.

    python bench/duckdb.py --extension urlmill.duckdb_extension [--rows 1000000] [--rounds 7] [--quick] [--out results.json]

A figure is the CPU time of all threads of the process for a row, in nanoseconds, the median of the rounds; reading the column alone is taken off
it. Every way makes the same four values of each URL: host, registrable domain, path, query. DuckDB's regular expressions know no public
suffixes: theirs is the last two labels of the host. ClickHouse's functions are not those of the URL Standard.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path = [p for p in sys.path if Path(p or ".").resolve() != Path(__file__).resolve().parent]  # which has a file of the same name

import chdb.session  # noqa: E402
import duckdb  # noqa: E402

OURS = ["url_host(u)", "url_registrable_domain(u)", "url_path(u)", "url_query(u)"]
WAYS = {
    "functions": OURS,
    "struct": [f"urlmill_parse(u).{c}" for c in ("host", "registrable_domain", "path", "query")],
    "host alone": OURS[:1],
    "regular expressions": [
        "regexp_extract(u, '^[^:]+://([^/:?#]*)', 1)", "regexp_extract(u, '^[^:]+://[^/:?#]*?([^/:?#.]+\\.[^/:?#.]+)[:/?#]', 1)",
        "regexp_extract(u, '^[^:]+://[^/?#]*([^?#]*)', 1)", "regexp_extract(u, '\\?([^#]*)', 1)",
    ],
}  # fmt: skip
CLICKHOUSE = ["domain(u)", "cutToFirstSignificantSubdomain(u)", "path(u)", "queryString(u)"]


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def make(path: Path, rows: int) -> None:
    """Writes URLs of the benchmarks' corpus, requests of browsers and web pages by turns."""
    root = Path(__file__).resolve().parents[3] / "benchmarks"
    kinds = [subprocess.run(["go", "run", "./urls", "-kind", kind, "-n", str(rows // 2)], cwd=root, capture_output=True, check=True).stdout.splitlines() for kind in ("browser", "web")]
    urls = [u.decode() for pair in zip(*kinds, strict=True) for u in pair]
    con = duckdb.connect()
    text = path.with_suffix(".txt")
    text.write_text("".join(u + "\n" for u in urls))
    con.execute(f"COPY (SELECT column0 AS u FROM read_csv('{text}', header = false, columns = {{'column0': 'VARCHAR'}}, delim = '\x01', quote = '', escape = '')) TO '{path}' (FORMAT parquet)")
    text.unlink()


def ways(extension: str, parquet: Path, threads: int, click: Any) -> dict[str, Callable[[], Any]]:
    con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    con.execute(f"LOAD '{extension}'")
    con.execute(f"SET threads = {threads}")
    con.execute(f"CREATE TABLE t AS FROM '{parquet}'")
    click.query("CREATE DATABASE IF NOT EXISTS b ENGINE = Atomic")
    click.query("DROP TABLE IF EXISTS b.t")
    click.query("CREATE TABLE b.t (u String) ENGINE = Memory")
    click.query(f"INSERT INTO b.t SELECT u FROM file('{parquet}', Parquet)")

    def duck(columns: list[str]) -> Callable[[], Any]:
        query = f"SELECT {', '.join(f'count({c})' for c in columns)} FROM t"
        return lambda: con.execute(query).fetchall()

    def house(columns: list[str]) -> Callable[[], Any]:
        query = f"SELECT {', '.join(f'sum(ignore({c}))' for c in columns)} FROM b.t SETTINGS max_threads = {threads}"
        return lambda: str(click.query(query))

    made = {name: duck(columns) for name, columns in WAYS.items()}
    made["column alone"] = lambda: con.execute("SELECT count(u), max(ascii(u)) FROM t").fetchall()
    made["ClickHouse"] = house(CLICKHOUSE)
    made["ClickHouse, column alone"] = house(["u"])
    return made


def measure(runs: dict[str, Callable[[], Any]], rows: int, rounds: int) -> dict[str, float]:
    rng, spent = random.Random(1), {name: [] for name in runs}
    for run in runs.values():
        run()
    for _ in range(rounds):
        for name in rng.sample(list(runs), len(runs)):
            before = cpu()
            runs[name]()
            spent[name].append((cpu() - before) / rows * 1e9)
    return {name: statistics.median(s) for name, s in spent.items()}


def border(extension: str, parquet: Path) -> dict[str, float]:
    """Returns the share of the functions' time that is not the library's, as the extension counts it for URLMILL_TIMED."""
    script = (
        "import duckdb, sys; con = duckdb.connect(config={'allow_unsigned_extensions': 'true'}); con.execute(f\"LOAD '{sys.argv[1]}'\"); con.execute('SET threads = 1'); "
        "con.execute(f\"CREATE TABLE t AS FROM '{sys.argv[2]}'\"); [con.execute(sys.argv[3]).fetchall() for _ in range(3)]; print(con.execute('SELECT urlmill_version()').fetchone()[0])"
    )
    query = f"SELECT {', '.join(f'count({c})' for c in OURS)} FROM t"
    out = subprocess.run([sys.executable, "-c", script, extension, str(parquet), query], env={**os.environ, "URLMILL_TIMED": "1"}, capture_output=True, text=True, check=True).stdout
    spent = json.loads(out)["spent"]
    return {"all_ns": spent["all"], "library_ns": spent["library"], "share": round(1 - spent["library"] / spent["all"], 3)}


def main() -> None:
    p = argparse.ArgumentParser()
    p.add_argument("--extension", required=True)
    p.add_argument("--rows", type=int, default=1_000_000)
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--quick", action="store_true")
    p.add_argument("--out")
    a = p.parse_args()
    if a.quick:
        a.rows, a.rounds = 200_000, 3
    parquet = Path(a.extension).resolve().parent / "bench.parquet"
    make(parquet, a.rows)
    report: dict[str, Any] = {
        "machine": {"cpu": platform.processor() or platform.machine(), "cores": os.cpu_count()}, "rows": a.rows, "rounds": a.rounds,
        "versions": {"duckdb": duckdb.__version__, "chdb": chdb.__version__, "python": platform.python_version()}, "results": [],
    }  # fmt: skip
    click = chdb.session.Session()  # there is one in a process
    for threads in (1, os.cpu_count() or 1):
        medians = measure(ways(a.extension, parquet, threads, click), a.rows, a.rounds)
        net = {n: v - medians["ClickHouse, column alone" if n.startswith("ClickHouse") else "column alone"] for n, v in medians.items() if not n.endswith("alone") or n == "host alone"}
        times = {n: round(net[n] / net["functions"], 2) for n in ("struct", "regular expressions", "ClickHouse")}
        report["results"].append({"threads": threads, "ns_per_row": {n: round(v, 1) for n, v in net.items()}, "column_alone_ns": round(medians["column alone"], 1), "times_the_functions": times})
        print(f"{threads} threads: " + ", ".join(f"{n} {v:.0f} ns" for n, v in net.items()) + f"; times the functions: {times}")
    report["border"] = border(a.extension, parquet)
    report["load_after"] = round(os.getloadavg()[0], 1)
    print("border:", report["border"], "load:", report["load_after"])
    parquet.unlink()
    if a.out:
        Path(a.out).write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
