"""What is in the package, and what its documents say."""

from __future__ import annotations

import importlib.metadata
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, missing, need

import urlmill
from urlmill import _library

PROJECT = ROOT / "plugins" / "python"
# Without a cache: mypy 2 crashes now and then while it makes one (python/mypy#21769).
MYPY = [sys.executable, "-m", "mypy", "--cache-dir", os.devnull, "--show-traceback"]


@pytest.mark.parametrize("system", ["linux", "win32"])
def test_types(system: str) -> None:
    need("mypy", "pip install mypy")
    done = subprocess.run([*MYPY, "--platform", system], cwd=PROJECT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


USER = """
from collections.abc import Iterable, Iterator

import pandas as pd
import polars as pl
import pyarrow as pa
import urlmill
import urlmill.pandas
import urlmill.polars
from urlmill import Canonical, Parser, Promote

parser = Parser(url="page", columns=["host"], promote=["a", Promote("b", also=["c"], take="last")], canonical=Canonical("dedupe"))
table: pa.Table = parser.table(pa.table({"page": ["http://a/"]}))
parts: pa.StructArray = urlmill.parse(["http://a/", b"http://b/", None], columns=["host"])
frame: pl.DataFrame = pl.DataFrame({"page": ["http://a/"]}).select(urlmill.polars.parse("page", columns=["host"]))
other: pd.DataFrame = urlmill.pandas.parse(pd.Series(["http://a/"]))


def mapped(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from urlmill.map_batches("page")(batches)


Parser(take="all")  # E
urlmill.Promote("q", take="any")  # E
urlmill.parse(7)  # E, with types of pyarrow
"""


def test_types_for_users(tmp_path: Path) -> None:
    """A program of a user passes a strict check, and its mistakes do not."""
    need("mypy", "pip install mypy")
    for host in ("polars", "pandas"):
        need(host, f"pip install {host}")
    (tmp_path / "user.py").write_text(USER, "utf-8")
    (tmp_path / "mypy.ini").write_text("[mypy]\nstrict = True\ndisable_error_code = import-untyped\n")
    code = [*MYPY, "user.py"]
    done = subprocess.run(code, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    wrong = {n for n, line in enumerate(USER.split("\n"), 1) if line.endswith("# E")}
    found = {int(m.group(1)) for m in re.finditer(r"^user.py:(\d+): error", done.stdout, re.MULTILINE)}
    perhaps = {n for n, line in enumerate(USER.split("\n"), 1) if "# E, " in line}
    assert found - perhaps == wrong, done.stdout + done.stderr


def test_wheel() -> None:
    """The wheel has the library and is for every Python of its platform. It is what is tested here, where make plugins runs."""
    package = Path(urlmill.__file__).parent
    assert (package / "py.typed").is_file()
    if not (package / _library.NAME).is_file():
        missing("wheel", "the package is not installed from a wheel; make plugins does that")
    wheel = importlib.metadata.distribution("urlmill").read_text("WHEEL")
    assert wheel is not None and re.search(r"Tag: py3-none-(manylinux_2_\d+_\w+|win_amd64)", wheel)
    assert importlib.metadata.version("urlmill") == urlmill.__version__
    licences = [f for f in importlib.metadata.files("urlmill") or () if f.name == "LICENSE"]
    assert [f.read_text("utf-8") for f in licences] == [(ROOT / "LICENSE").read_text("utf-8")], "the wheel goes without its licence"
    assert "github.com/apache/arrow/go/v15 v" in (package / "THIRD_PARTY_LICENSES.txt").read_text("utf-8"), "the library goes without the licences of others"


@pytest.mark.parametrize(
    ("machine", "asks", "tag"),
    [
        (62, b"GLIBC_2.2.5 GLIBC_2.14", "py3-none-manylinux_2_17_x86_64"),
        (183, b"GLIBC_2.17", "py3-none-manylinux_2_17_aarch64"),
        (62, b"GLIBC_2.9 GLIBC_2.34 GLIBC_2.4", "py3-none-manylinux_2_34_x86_64"),
        (40, b"", None),  # arm
        (b"\x64\x86", b"", "py3-none-win_amd64"),
        (b"\x64\xaa", b"", None),  # arm64
    ],
)
def test_tag(machine: int | bytes, asks: bytes, tag: str | None) -> None:
    """A wheel says what machine and what glibc its library needs. Machines of Windows are bytes here."""
    need("hatchling", "pip install hatchling")
    hook = runpy.run_path(str(PROJECT / "hatch_build.py"))
    if isinstance(machine, bytes):
        library = b"MZ".ljust(60, b"\0") + (80).to_bytes(4, "little") + bytes(16) + b"PE\0\0" + machine
    else:
        library = b"\x7fELF\2\1".ljust(18, b"\0") + machine.to_bytes(2, "little") + asks
    if tag:
        assert hook["tag"](library) == tag
    else:
        with pytest.raises(SystemExit):
            hook["tag"](library)


def test_from_a_clone(tmp_path: Path) -> None:
    """What pip makes of a clone with Go and a C compiler; it takes the library from make arrowc."""
    need("hatchling", "pip install hatchling")
    if not shutil.which("go") or not (ROOT / "plugins" / "arrowc").is_dir():
        missing("go", "Go, or the clone, is missing")
    env = {k: v for k, v in os.environ.items() if k != "URLMILL_BUILD_LIBRARY"}
    install = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--no-build-isolation", "--target", str(tmp_path), str(PROJECT)]
    done = subprocess.run(install, env=env, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    code = "import urlmill; print(urlmill.__file__, urlmill.parse(['http://a/'], columns=['host']).to_pylist())"
    done = subprocess.run([sys.executable, "-c", code], env={**env, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.strip() == f"{tmp_path / 'urlmill' / '__init__.py'} [{{'host': 'a'}}]", done.stderr


def test_there_is_no_source_distribution(tmp_path: Path) -> None:
    """One could not be built from: the library needs all of the repository."""
    for module in ("hatchling", "build"):
        need(module, f"pip install {module}")
    build = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path), str(PROJECT)]
    done = subprocess.run(build, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode != 0 and "there is no source distribution" in done.stdout + done.stderr and not list(tmp_path.iterdir())


def test_oldest() -> None:
    """What make plugins-oldest installs is what pyproject.toml allows at the least."""
    project = (PROJECT / "pyproject.toml").read_text("utf-8")
    allowed = dict(re.findall(r'^(?!test|requires)\w+ = \["(\w+)>=([\d.]+)"\]', project, re.MULTILINE))
    assert set(allowed) == {"pyarrow", "pyspark", "polars", "duckdb", "pandas"}
    taken = dict(re.findall(r"^(\w+)==([\d.]+)$", (PROJECT / "tests" / "oldest.txt").read_text("utf-8"), re.MULTILINE))
    assert {host: re.sub(r"(\.0)+$", "", taken[host]) for host in allowed} == {host: re.sub(r"(\.0)+$", "", v) for host, v in allowed.items()}
    python = re.search(r'requires-python = ">=([\d.]+)"', project)
    assert python and f"v0.0.0-{python.group(1)}." in (ROOT / "Makefile").read_text("utf-8")


def test_it_needs_no_compiler() -> None:
    code = "import urlmill; print(urlmill.parse(['http://a/'], columns=['host']).to_pylist())"
    done = subprocess.run([sys.executable, "-c", code], env={"PATH": "/nowhere", "PYTHONPATH": os.environ.get("PYTHONPATH", "")}, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.strip() == "[{'host': 'a'}]", done.stderr


PAGES = [PROJECT / "README.md", *sorted((ROOT / "docs" / "plugins").glob("*.md"))]
BLOCKS = [
    pytest.param(page.name, m.group(1), id=f"{page.name}:{page.read_text('utf-8')[: m.start()].count(chr(10)) + 1}")
    for page in PAGES
    for m in re.finditer(r"(?<!-->\n)```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
]


@pytest.mark.parametrize(("page", "code"), BLOCKS)
def test_documents(page: str, code: str, tmp_path: Path) -> None:
    """Every block marked python runs, in an empty folder, but for those with a comment above that says where they are run."""
    for host in ("polars", "duckdb", "pandas", "pyspark"):
        if f"import {host}" in code or f"from {host}" in code:
            need(host, f"pip install {host}")
    if "dataSource" in code:
        need("pyspark.sql.datasource", "pip install 'pyspark>=4'")
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("module", ["urlmill", "urlmill.polars", "urlmill.pandas"])
def test_docstrings(module: str) -> None:
    if "." in module:
        need(module.rpartition(".")[2], f"pip install {module.rpartition('.')[2]}")
    code = f"import doctest, importlib, sys; r = doctest.testmod(importlib.import_module({module!r})); sys.exit(r.failed or not r.attempted)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
