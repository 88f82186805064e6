"""What the tests share. A host that is missing skips its tests, and fails them with URLMILL_REQUIRE_HOSTS=1, as `make plugins` sets it."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import duckdb
import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CASES = ROOT / "plugins" / "testdata" / "functions.ndjson"
HOSTS = Path(os.environ.get("URLMILL_HOSTS") or ROOT / "bin" / "hosts")


def missing(text: str) -> NoReturn:
    if os.environ.get("URLMILL_REQUIRE_HOSTS"):
        pytest.fail(text)
    pytest.skip(text)


def built() -> Path:
    """Returns the extension that `make duckdb` has built."""
    return Path(os.environ.get("URLMILL_DUCKDB_EXTENSION") or ROOT / "bin" / "duckdb" / "urlmill.duckdb_extension")


def connect(extension: Path | None = None, **config: str) -> duckdb.DuckDBPyConnection:
    con = duckdb.connect(config={"allow_unsigned_extensions": "true", **config})
    con.execute("SET enable_progress_bar = false")  # which goes to standard output where a query takes long
    con.execute(f"LOAD '{extension or built()}'")
    return con


@pytest.fixture(scope="session")
def extension() -> Path:
    if not built().is_file():
        missing(f"{built()} is missing: make duckdb")
    return built()


@pytest.fixture
def con(extension: Path) -> duckdb.DuckDBPyConnection:
    return connect(extension)


@pytest.fixture(scope="session")
def program() -> str:
    """Returns the path of the command urlmill."""
    given = os.environ.get("URLMILL_COMMAND") or shutil.which("urlmill") or str(ROOT / "bin" / "urlmill")
    if not Path(given).is_file():
        missing("the command urlmill is missing: make build, or set URLMILL_COMMAND to its path")
    return given


def module(name: str, how: str) -> Any:
    if importlib.util.find_spec(name) is None:
        missing(f"{name} is missing: {how}")
    return importlib.import_module(name)


Rows = list[tuple[Any, ...]]
Query = Callable[[str], Rows]
