"""What "urlmill udf clickhouse" costs in ClickHouse beside its native functions, in one run and in turns.

    python benchmarks/udf/clickhouse.py --urlmill bin/urlmill [--rows 1000000] [--rounds 7] [--quick] [--out results.json]

A figure is CPU time for a row in nanoseconds, of all threads of ClickHouse (chdb) and of the processes that it has started, the median of the
rounds; reading the column alone is taken off it. Every way makes four values of each URL: scheme, host, registrable domain, path. ClickHouse's
functions are not those of the URL Standard.
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
import tempfile
from collections.abc import Callable
from pathlib import Path

import chdb
import chdb.session

NATIVE = ["protocol(u)", "domain(u)", "cutToFirstSignificantSubdomain(u)", "path(u)"]
COLUMNS = ["scheme", "host", "registrable_domain", "path"]
FORMATS = {"Native": [], "RowBinary": ["--chunk-header"], "ArrowStream": []}
CORES = len(os.sched_getaffinity(0))


def children() -> float:
    """Returns the seconds of CPU of processes that this one has started: those that have ended, and all threads of those that live."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = used.ru_utime + used.ru_stime
    for tasks in Path("/proc/self/task").glob("*/children"):
        for pid in tasks.read_text().split():
            for spent in Path(f"/proc/{pid}/task").glob("*/schedstat"):
                total += int(spent.read_text().split()[0]) / 1e9
    return total


def cpu() -> tuple[float, float]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime, children()


def urls(path: Path, rows: int) -> None:
    """Writes URLs of the benchmarks' corpus, requests of browsers and web pages by turns, one a line."""
    root = Path(__file__).resolve().parents[1]
    kinds = [subprocess.run(["go", "run", "./urls", "-kind", kind, "-n", str(rows // 2)], cwd=root, capture_output=True, check=True).stdout.splitlines() for kind in ("browser", "web")]
    path.write_bytes(b"".join(u + b"\n" for pair in zip(*kinds, strict=True) for u in pair))


def definitions(program: str, folder: Path) -> None:
    """Writes the definitions that the command prints, of the four columns together and of the host alone."""
    texts = []
    for form, flags in FORMATS.items():
        for name, columns in ((form, COLUMNS), (f"{form}_host", COLUMNS[1:2])):
            command = [program, "udf", "clickhouse", "--definition", "xml", "--name", name, "--program", program, "--format", form, "--columns", ",".join(columns), *flags]
            text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            texts.append(text.replace("<functions>", "").replace("</functions>", ""))
    (folder / "udf_config.xml").write_text("<functions>" + "".join(texts) + "</functions>")


def ways(session: chdb.session.Session, threads: int, block: int) -> dict[str, Callable[[], object]]:
    def query(columns: str) -> Callable[[], object]:
        text = f"SELECT sum(ignore({columns})) FROM b.t SETTINGS max_threads = {threads}, max_block_size = {block}"
        return lambda: str(session.query(text))

    made = {"column alone": query("u"), "native": query(", ".join(NATIVE)), "native, host alone": query(NATIVE[1])}
    for form in FORMATS:
        made[form] = query(f"{form}(u)")
        made[f"{form}, host alone"] = query(f"{form}_host(u)")
    return made


def measure(runs: dict[str, Callable[[], object]], rows: int, rounds: int) -> dict[str, dict[str, float]]:
    rng, spent = random.Random(1), {name: [] for name in runs}
    for run in runs.values():
        run()
    for _ in range(rounds):
        for name in rng.sample(list(runs), len(runs)):
            before = cpu()
            runs[name]()
            spent[name].append(tuple((b - a) / rows * 1e9 for a, b in zip(before, cpu(), strict=True)))
    column = statistics.median(sum(s) for s in spent["column alone"])
    return {
        name: {"ns_per_row": round(statistics.median(sum(x) for x in s) - column, 1), "of_processes": round(statistics.median(x[1] for x in s), 1)}
        for name, s in spent.items() if name != "column alone"
    }  # fmt: skip


def main() -> None:
    p = argparse.ArgumentParser()
    p.add_argument("--urlmill", required=True)
    p.add_argument("--rows", type=int, default=1_000_000)
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--quick", action="store_true")
    p.add_argument("--out")
    a = p.parse_args()
    if a.quick:
        a.rows, a.rounds = 200_000, 3
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        definitions(str(Path(a.urlmill).resolve()), folder)
        urls(folder / "urls.txt", a.rows)
        session = chdb.session.Session(f"{folder}/data?udf_path={folder}")
        session.query("CREATE DATABASE IF NOT EXISTS b ENGINE = Atomic")
        session.query("CREATE TABLE b.t (u String) ENGINE = Memory")
        session.query(f"INSERT INTO b.t SELECT line FROM file('{folder}/urls.txt', LineAsString)")
        version = str(session.query("SELECT version()")).strip().strip('"')
        report = {"machine": {"cpu": platform.machine(), "cores": CORES}, "rows": a.rows, "rounds": a.rounds, "versions": {"clickhouse": version, "chdb": chdb.__version__}, "results": []}
        for threads in (1, CORES):
            for block in (65_409, 1 << 19):
                got = measure(ways(session, threads, block), a.rows, a.rounds)
                for name, figures in got.items():
                    figures["times_native"] = round(figures["ns_per_row"] / got["native, host alone" if name.endswith("alone") else "native"]["ns_per_row"], 2)
                    print(f"{threads} threads, blocks of {block}: {name}: {figures}", flush=True)
                report["results"].append({"threads": threads, "block": block, "ways": got})
        report["load_after"] = round(os.getloadavg()[0], 1)
    if a.out:
        Path(a.out).write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
