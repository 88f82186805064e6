"""Rows of files."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path

import duckdb
import pytest
from conftest import ROOT

LOG = ROOT / "examples" / "testdata" / "access.log"
CALL = f"urlmill_read('{LOG}', codec := 'combined', base_url := 'https://shop.example.com')"


def test_rows_are_those_of_the_command(con: duckdb.DuckDBPyConnection, program: str) -> None:
    """All columns, compared as the text of JSON."""
    lines = subprocess.run([program, "parse", "-q", LOG, "--codec", "combined", "--base-url", "https://shop.example.com", "--to", "ndjson"], capture_output=True, check=True).stdout
    want = [json.loads(line) for line in lines.splitlines()]
    con.execute("SET TimeZone = 'UTC'")
    names = [name for name, *_ in con.execute(f"DESCRIBE FROM {CALL}").fetchall()]
    assert names == list(want[0])
    got = [json.loads(row) for row, in con.execute(f"SELECT to_json(t)::VARCHAR FROM {CALL} t ORDER BY record").fetchall()]
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        assert {k: v for k, v in a.items() if k not in ("time", "raw")} == {k: v for k, v in b.items() if k not in ("time", "raw")}
    times = con.execute(f"SELECT strftime(time AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S') FROM {CALL} ORDER BY record").fetchall()
    assert [t for t, in times] == [None if r["time"] is None else r["time"][:19] for r in want]


def test_only_what_is_asked_for(con: duckdb.DuckDBPyConnection) -> None:
    assert con.execute(f"SELECT count(*) FROM {CALL}").fetchall() == [(8,)]
    assert con.execute(f"SELECT status, count(*) FROM {CALL} WHERE host = 'shop.example.com' GROUP BY status ORDER BY 1 LIMIT 1").fetchall()[0][0] == 200
    assert con.execute(f"SELECT a.path = b.path, a.path = a.path FROM {CALL} a JOIN {CALL} b USING (record) WHERE a.path IS NOT NULL").fetchall() == [(True, True)] * 6


def test_many_files_at_once(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    for k in range(20):
        with gzip.open(tmp_path / f"urls-{k}.gz", "wt") as f:
            f.writelines(f"https://h{i % 10}.example/{k}/{i}\n" for i in range(5000))
    (tmp_path / "more").write_text("https://other.example/\n")
    files = f"['{tmp_path}/urls-*.gz', '{tmp_path}/more']"
    assert con.execute(f"SELECT count(*), count(DISTINCT path), count(DISTINCT file), sum(record) FROM urlmill_read({files})").fetchall() == [(100_001, 100_001, 21, 20 * 4999 * 2500)]
    assert con.execute(f"SELECT host FROM urlmill_read('{tmp_path}') WHERE path = '/7/1234'").fetchall() == [("h4.example",)]
    assert len(con.execute(f"FROM urlmill_read({files}) LIMIT 3").fetchall()) == 3  # the rest is not read


def test_what_is_wrong_is_said(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    for call, says in [
        ("'/nowhere.log'", "there is no such file"), ("[]", "give at least one file"), ("NULL", "give at least one file"), ("7", "there is no such file"),
        (f"'{LOG}', codec := 'apache'", 'there is no codec "apache"; there are lines, .*combined'), (f"'{LOG}', codec := 'combined'", "the format does not say the host"),
        (f"'{LOG}', codec := 'combined', nginx := '$request'", "give one of codec, nginx and apache"), (f"'{LOG}', base_url := 'http://a/'", "lines have whole URLs"),
        (f"'{LOG}', nginx := '$request $nothing '", ""),
    ]:  # fmt: skip
        with pytest.raises(duckdb.Error, match=says):
            con.execute(f"FROM urlmill_read({call})").fetchall()
    broken = tmp_path / "broken.gz"
    broken.write_bytes(gzip.compress(b"http://a/\n" * 100_000)[:-200])
    with pytest.raises(duckdb.Error, match="broken.gz"):
        con.execute(f"SELECT count(*) FROM urlmill_read('{broken}')").fetchall()
    assert con.execute("SELECT url_host('http://a/')").fetchall() == [("a",)]
