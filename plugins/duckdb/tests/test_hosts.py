"""The shared cases in every host of DuckDB, and every version of it that is said to work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CASES, HERE, HOSTS, ROOT, connect, missing

HOW = "make hosts-duckdb"


def statements(extension: Path) -> str:
    return f"LOAD '{extension}';\n" + (HERE / "cases.sql").read_text().replace("CASES is", "the file is").replace("CASES", str(CASES))


def wanted() -> str:
    return f"{len(CASES.read_text().splitlines())} cases, 0 wrong: none"


def run(command: list[str], given: str, **env: str) -> str:
    done = subprocess.run(command, input=given, capture_output=True, text=True, env={**os.environ, **env}, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_cases_are_many() -> None:
    cases = [json.loads(line) for line in CASES.read_text().splitlines()]
    assert len(cases) >= 40 and all(c["url"] is None or (c["href"] is None) != (c["url_error"] is None) for c in cases)


def test_python(extension: Path) -> None:
    con, got = connect(extension), []
    for statement in statements(extension).split(";\n"):
        if statement.strip():
            got = con.execute(statement).fetchall()
    assert got == [(wanted(),)]


POISONED = """
import sys
sys.path.insert(0, sys.argv[1])
from conftest import connect
from test_functions import ask_for_many_sets
ask_for_many_sets(connect())
con = connect()
for statement in sys.stdin.read().split(";\\n"):
    if statement.strip():
        rows = con.execute(statement).fetchall()
print(rows[0][0])
"""


def test_memory_is_written_before_it_is_read(extension: Path) -> None:
    """The memory that DuckDB hands out is filled: a text that nobody wrote is one of gigabytes at an address that is none."""
    got = run([sys.executable, "-c", POISONED, str(HERE)], statements(extension), DUCKDB_JE_MALLOC_CONF="junk:true", MALLOC_PERTURB_="90", URLMILL_DUCKDB_EXTENSION=str(extension))
    assert got == wanted()


def test_cli(extension: Path) -> None:
    program = Path(sys.executable).parent / "duckdb"
    if not program.is_file():
        missing("DuckDB's command line is missing: pip install duckdb-cli")
    assert run([str(program), "-unsigned", "-noheader", "-list"], statements(extension)) == wanted()


def test_node(extension: Path) -> None:
    if not (HOSTS / "duckdb-node" / "node_modules" / "@duckdb" / "node-api").is_dir():
        missing(f"@duckdb/node-api is missing: {HOW}")
    assert run(["node", str(HERE / "cases.mjs"), str(HOSTS / "duckdb-node")], statements(extension)) == wanted()


def test_java(extension: Path) -> None:
    jars = [HOSTS / "jruby-complete.jar", HOSTS / "duckdb_jdbc.jar"]
    if not all(jar.is_file() for jar in jars):
        missing(f"the packages of Java are missing: {HOW}")
    command = ["java", "-cp", os.pathsep.join(map(str, jars)), "org.jruby.Main", str(HERE / "cases.rb")]
    assert run(command, statements(extension)) == wanted()


OLDER = """
import duckdb, sys
con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
con.execute("SET enable_progress_bar = false")  # which goes to standard output where a query takes long
try:
    for statement in sys.stdin.read().split(";\\n"):
        if statement.strip():
            rows = con.execute(statement).fetchall()
    print(rows[0][0])
except duckdb.Error as e:
    print(duckdb.__version__, e)
"""


def older(version: str, extension: Path) -> str:
    folder = HOSTS / f"duckdb-{version}"
    if not folder.is_dir():
        missing(f"DuckDB {version} is missing: {HOW}")
    return run([sys.executable, "-c", OLDER], statements(extension), PYTHONPATH=str(folder))


@pytest.mark.parametrize("version", ["1.4.5", "1.3.2"])
def test_older_versions(extension: Path, version: str) -> None:
    """One file for all: the C API of version 1.2.0."""
    assert older(version, extension) == wanted()


def test_the_oldest_version(extension: Path, tmp_path: Path) -> None:
    """1.2 has the API. Its package for Python calls the platform otherwise, which is said, and is nothing but a name in the file."""
    says = older("1.2.0", extension)
    assert "1.2.0" in says and "linux_amd64_gcc4" in says
    data = extension.read_bytes()
    at = data.rindex(b"linux_amd64\0")
    other = tmp_path / extension.name
    other.write_bytes(data[:at] + b"linux_amd64_gcc4" + data[at + 16 :])
    assert older("1.2.0", other) == wanted()


def test_a_version_before_the_api_says_so(extension: Path) -> None:
    says = older("1.1.3", extension)
    assert says.startswith("1.1.3") and "built for DuckDB C API version 'v1.2.0'" in says


def test_layout_of_the_community_repository() -> None:
    """Its description names the version of the release and what is built."""
    text = (ROOT / "plugins" / "duckdb" / "description.yml").read_text()
    release = (ROOT / "plugins" / "python" / "src" / "urlmill" / "__init__.py").read_text()
    version = next(line.split('"')[1] for line in release.splitlines() if line.startswith("__version__"))
    assert f"version: {version}\n" in text and "name: urlmill\n" in text
