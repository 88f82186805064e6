"""The real Polars, DuckDB and pandas."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from conftest import ODD, need

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
