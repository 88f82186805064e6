"""What the tests share. A host that is missing skips its tests, and fails them with URLMILL_REQUIRE_HOSTS=1, as `make plugins` sets it,
or with URLMILL_REQUIRE_HOSTS=polars,wheel where it is one of those."""

from __future__ import annotations

import gc
import importlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import urlmill
from urlmill import _library, _parser

ROWS = 6000  # of the Parquet files for Spark

ROOT = Path(__file__).resolve().parents[3]

ODD = [
    "https://www.example.co.uk/a/../b?utm_source=x&q=a+b&q=%C3%BC#top", "http://1.2.3.300/", "no url", "", None, "mailto:a@b.c",
    "https://user:pw@bücher.example:8443/ü?ä=ö", "HTTPS://EXAMPLE.COM:443/%7e/%2e%2e", "http://[::1]:80/x?y", "//relative/x", "http://a b/",
    "https://x.github.io", "file:///C|/x", "http://example.com./", "data:text/plain,x#y", "  https://space.example/\t",
]  # fmt: skip


def missing(what: str, text: str) -> NoReturn:
    """Skips the test for want of something, or fails it where that has to be there."""
    required = os.environ.get("URLMILL_REQUIRE_HOSTS", "")
    if required == "1" or what in required.split(","):
        pytest.fail(text)
    pytest.skip(text)


def need(module: str, how: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError:
        missing(module, f"{module} is missing: {how}")


@pytest.fixture(scope="session")
def program() -> str:
    """Returns the path of the command urlmill."""
    given = os.environ.get("URLMILL_COMMAND") or shutil.which("urlmill") or str(ROOT / "bin" / "urlmill")
    if not Path(given).is_file():
        missing("command", "the command urlmill is missing: make build, or set URLMILL_COMMAND to its path")
    return given


@pytest.fixture(scope="session")
def command(program: str) -> Callable[..., list[dict[str, Any]]]:
    """Returns what runs `urlmill parse` on lines."""

    def run(urls: list[str], *flags: str) -> list[dict[str, Any]]:
        lines = "".join(json.dumps({"url": u}) + "\n" for u in urls)
        out = subprocess.run(
            [program, "parse", "-q", "--url-field", "/url", "--exclude", "file,record", *flags, "-"],
            input=lines.encode(), capture_output=True, check=True,
        )  # fmt: skip
        return [json.loads(line) for line in out.stdout.splitlines()]

    return run


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A cluster of two workers on this machine, whose Python workers are forked from a daemon."""
    need("pyspark", "pip install pyspark; it needs Java 17")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.executor.memory", "768m")
        # Nothing begins before both workers are there, however slow the machine.
        .config("spark.cores.max", "2")
        .config("spark.scheduler.minRegisteredResourcesRatio", "1.0")
        .config("spark.scheduler.maxRegisteredResourcesWaitingTime", "10m")
        .config("spark.network.timeout", "10m")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.executorEnv.PYTHONPATH", os.environ.get("PYTHONPATH", ""))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Parquet files of several row groups."""
    folder = tmp_path_factory.mktemp("in")
    for k in range(3):
        ids = range(k * ROWS // 3, (k + 1) * ROWS // 3)
        table = pa.table({"id": pa.array(ids), "page": pa.array([ODD[i % len(ODD)] for i in ids]), "day": pa.array(["2026-11-22"] * len(ids))})
        pq.write_table(table, folder / f"in-{k}.parquet", row_group_size=500)
    return folder


def expected(**options: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = urlmill.parse(pa.array([ODD[i % len(ODD)] for i in range(ROWS)]), **options).to_pylist()
    return rows


def dicts(rows: list[Any]) -> list[dict[str, Any]]:
    def plain(value: Any) -> Any:
        if isinstance(value, bytearray):
            return bytes(value)
        return [plain(v) for v in value] if isinstance(value, list) else value

    return [{k: plain(v) for k, v in r.asDict(recursive=True).items()} for r in rows]


@pytest.fixture(autouse=True)
def nothing_alive() -> Iterator[None]:
    """Checks that a test leaves no array and no stream behind. Threads of hosts may take a moment to let go of theirs."""
    yield
    if _library._loaded is None:
        return
    limit = time.monotonic() + 120
    gc.collect()
    while _library.library().urlmill_alive() != len(_parser._processors):
        assert time.monotonic() < limit, "a test has left arrays or streams behind"
        time.sleep(0.05)
        gc.collect()


__all__ = ["ODD", "ROOT", "ROWS", "dicts", "expected", "missing", "need", "urlmill"]
