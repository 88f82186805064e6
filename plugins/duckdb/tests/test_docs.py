"""The queries of docs/plugins/duckdb.md, word for word. A statement's rows are in the comments behind it."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import duckdb
import pytest
from conftest import ROOT

PAGE = ROOT / "docs" / "plugins" / "duckdb.md"


def test_page(con: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(ROOT / "examples" / "testdata" / "access.log", tmp_path)
    monkeypatch.chdir(tmp_path)
    compared = 0
    for reason, block in re.findall(r"(<!-- not run: [^\n]*-->\n)?```sql\n(.*?)```", PAGE.read_text(), re.DOTALL):
        if reason:
            continue
        for statement, answer in re.findall(r"(.*?;)\n((?:-- [^\n]*\n)*)", block, re.DOTALL):
            rows = con.execute(statement).fetchall()
            if answer:
                compared += 1
                assert [repr(r) for r in rows] == [line.removeprefix("-- ") for line in answer.splitlines()], statement
    assert compared >= 4 and os.getcwd() == str(tmp_path)


def test_functions_are_in_the_table(con: duckdb.DuckDBPyConnection) -> None:
    named = set(re.findall(r"`(url\w+)\(", PAGE.read_text().split("## Functions")[1].split("```")[0]))
    there = {name for name, in con.execute("SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_name LIKE 'url\\_%' ESCAPE '\\' OR function_name LIKE 'urlmill%'").fetchall()}
    assert named == there - {"url_decode", "url_encode"}
