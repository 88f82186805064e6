"""The real Polars, DuckDB and pandas."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from conftest import ODD, ROOT, need

import urlmill


def expected(**options: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = urlmill.parse(pa.array(ODD), **options).to_pylist()
    return rows


def test_polars() -> None:
    pl = need("polars", "pip install polars")
    import urlmill.polars as host

    frame = pl.DataFrame({"url": ODD, "id": range(len(ODD))})
    assert frame.select(pl.col("url").urlmill.parse()).to_series().to_list() == expected()
    assert frame["url"].urlmill.parse(columns=["host", "params"]).to_list() == expected(columns=["host", "params"])
    big = pl.concat([frame] * 10_000)
    lazy = big.lazy().with_columns(pl.col("url").urlmill.parse(columns=["host", "path"])).unnest("url")
    assert lazy.collect_schema() == {"host": pl.String, "path": pl.String, "id": pl.Int64}
    assert lazy.collect().select("host", "path").to_dicts() == expected(columns=["host", "path"]) * 10_000
    assert lazy.filter(pl.col("host") == "x.github.io").select(pl.len()).collect().item() == 10_000
    assert host.dtype(urlmill.Parser(columns=["port"])) == pl.Struct({"port": pl.Int32})
    assert frame.clear().select(pl.col("url").urlmill.parse(columns=["host"])).schema == {"url": pl.Struct({"host": pl.String})}
    # Polars' own streams go into the parser as they are.
    assert urlmill.Parser(url="url", columns=["host"], carry=["id"]).table(frame).to_pylist()[0] == {"host": "www.example.co.uk", "id": 0}


def test_duckdb() -> None:
    duckdb = need("duckdb", "pip install duckdb")
    import urlmill.duckdb as host

    con = duckdb.connect()
    given = pa.table({"url": pa.array(ODD * 500), "id": pa.array(range(len(ODD) * 500))})  # noqa: F841
    con.execute("CREATE TABLE clicks AS SELECT * FROM given")
    host.register(con)
    rows = con.sql("SELECT url_parse(url) AS u FROM clicks ORDER BY id").to_arrow_table()["u"].to_pylist()
    assert rows == expected() * 500
    host.register(con, "domain_of", columns=["registrable_domain"])
    got = con.sql("SELECT domain_of(url).registrable_domain AS d, count(*) FROM clicks WHERE d IS NOT NULL GROUP BY d ORDER BY d").fetchall()
    assert ("example.co.uk", 500) in got and ("x.github.io", 500) in got

    parsed = host.parse(con.sql("SELECT * FROM clicks ORDER BY id"), "url", columns=["host", "path"], rows_per_batch=1000)  # noqa: F841
    again = con.cursor().sql("SELECT host, path FROM parsed ORDER BY id").to_arrow_table().to_pylist()
    assert again == expected(columns=["host", "path"]) * 500


def test_pandas() -> None:
    pd = need("pandas", "pip install pandas")
    import urlmill.pandas  # noqa: F401

    for series in [
        pd.Series(ODD, index=range(10, 10 + len(ODD))),
        pd.Series(ODD, index=range(10, 10 + len(ODD)), dtype=pd.ArrowDtype(pa.string())),
        pd.Series(ODD, index=range(10, 10 + len(ODD)), dtype="category"),
    ]:
        frame = series.urlmill.parse(columns=["host", "port", "url_error"])
        assert list(frame.index) == list(series.index)
        got = pa.Table.from_pandas(frame, preserve_index=False).to_pylist()
        assert got == expected(columns=["host", "port", "url_error"])


LINKS, PAGES = ["x", "/y", None, "http://z/"], ["http://a/b/", None, "http://c/", "http://d/"]
RESOLVED = [{"href": h} for h in ("http://a/b/x", None, None, "http://z/")]


def test_bases_in_polars() -> None:
    pl = need("polars", "pip install polars")
    import urlmill.polars as host

    frame = pl.DataFrame({"link": LINKS, "page": PAGES})
    for bases in ("page", pl.col("page")):
        lazy = frame.lazy().select(pl.col("link").urlmill.parse(bases, columns=["href"]))
        assert lazy.collect_schema() == {"link": pl.Struct({"href": pl.String})} and lazy.collect().to_series().to_list() == RESOLVED
    assert frame["link"].urlmill.parse(frame["page"], columns=["href"]).to_list() == RESOLVED
    assert frame.select(host.parse("link", "page", columns=["href"])).to_series().to_list() == RESOLVED
    fixed = frame.lazy().select(pl.col("link").urlmill.parse(pl.lit("http://k/"), columns=["href"]).struct.field("href")).collect()
    assert fixed.to_series().to_list() == ["http://k/x", "http://k/y", None, "http://z/"]
    assert "base_url" in dict(host.dtype(urlmill.Parser(), bases=True)) and "base_url" not in dict(host.dtype(urlmill.Parser()))
    for wrong in (pl.col("link"), frame["link"]):
        with pytest.raises(urlmill.Error, match="give bases"):
            wrong.urlmill.parse(base="page")


def test_columns_of_any_size_in_polars_and_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    """No array of Arrow is made of the whole column: with more than 2 GiB it would fail."""
    pl, pd = need("polars", "pip install polars"), need("pandas", "pip install pandas")
    import urlmill.pandas
    import urlmill.polars  # noqa: F401

    joined = []
    monkeypatch.setattr(pa, "concat_arrays", lambda arrays: joined.append(arrays))
    monkeypatch.setattr(pl, "from_arrow", lambda data, **_: joined.append(data) if len(data) else pl.Series("", data.to_pylist(), dtype=pl.Struct({"host": pl.String})))
    want = expected(columns=["host"])
    assert pl.Series("url", ODD).urlmill.parse(columns=["host"], batch_rows=3).to_list() == want
    assert pd.Series(ODD).urlmill.parse(columns=["host"], batch_rows=3)["host"].isna().tolist() == [r["host"] is None for r in want]
    assert not joined


def test_bases_in_duckdb() -> None:
    duckdb = need("duckdb", "pip install duckdb")
    import urlmill.duckdb as host

    con, given = duckdb.connect(), pa.table({"link": LINKS, "page": PAGES})  # noqa: F841
    host.register(con, "resolve", bases=True, columns=["href"])
    assert [r[0] for r in con.sql("SELECT resolve(link, page) FROM given").fetchall()] == RESOLVED
    host.register(con, "resolve_all", bases=True)
    assert con.sql("SELECT resolve_all('x', 'http://a/').base_url").fetchall() == [("http://a/",)]
    with pytest.raises(urlmill.Error, match="give bases"):
        host.register(con, "wrong", base="page")
    with pytest.raises(urlmill.Error, match="leave params a list"):
        host.register(con, "wrong", params="map")


def test_bases_in_pandas() -> None:
    pd = need("pandas", "pip install pandas")
    import urlmill.pandas as host

    frame = pd.DataFrame({"link": LINKS, "page": PAGES}, index=[4, 4, 5, 6])
    for bases in (frame["page"], PAGES, pa.array(PAGES)):
        got = frame["link"].urlmill.parse(bases, columns=["href"])
        assert pa.Table.from_pandas(got, preserve_index=False).to_pylist() == RESOLVED and list(got.index) == [4, 4, 5, 6]
        assert host.parse(frame["link"], bases, columns=["href"]).equals(got)
    with pytest.raises(urlmill.Error, match="another index"):
        frame["link"].urlmill.parse(frame["page"].reset_index(drop=True))


def test_columns_of_pandas_as_files_give_them() -> None:
    """Bytes, and a column without any text, which read_csv takes for floats."""
    pd = need("pandas", "pip install pandas")
    import urlmill.pandas  # noqa: F401

    def hosts(series: Any) -> list[Any]:
        return [None if h is pd.NA else h for h in series.urlmill.parse(columns=["host"])["host"]]

    assert hosts(pd.Series([float("nan")] * 2)) == [None, None]
    assert hosts(pd.Series([b"http://a/\xff", None])) == ["a", None]
    assert hosts(pd.Series([b"http://a/\xff", None], dtype=pd.ArrowDtype(pa.binary()))) == ["a", None]
    assert hosts(pd.Series([], dtype=object)) == []
    with pytest.raises(urlmill.Error, match="int64"):
        hosts(pd.Series([1]))


def test_frames_are_streams() -> None:
    for module in ("polars", "pandas"):
        frame = need(module, f"pip install {module}").DataFrame({"url": ODD, "id": range(len(ODD))})
        got = urlmill.Parser(url="url", columns=["host"]).table(frame)
        assert got.column_names == ["host", "id"] and got["host"].to_pylist() == [r["host"] for r in expected(columns=["host"])]


def test_the_benchmark_of_calls(tmp_path: Path) -> None:
    """It works in all hosts; what it measures is no matter of a test."""
    for module in ("duckdb", "pandas", "polars"):
        need(module, f"pip install {module}")
    out = tmp_path / "calls.json"
    program = ROOT / "plugins" / "python" / "bench" / "calls.py"
    ran = subprocess.run([sys.executable, program, "--rows", "1,50", "--calls", "3", "--out", out], capture_output=True, text=True, timeout=900)
    assert ran.returncode == 0, ran.stderr
    results = json.loads(out.read_text())["results"]
    assert len(results) == 2 * 7 and all(c["cpu_ns"] >= 0 for r in results for c in r["calls"])
