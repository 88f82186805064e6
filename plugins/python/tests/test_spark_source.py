"""The data source of Spark 4: spark.read.format("urlmill")."""

from __future__ import annotations

import datetime
import json
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import ODD, ROWS, dicts, expected, need

import urlmill


@pytest.fixture(scope="module")
def source(spark: Any) -> Any:
    """Returns what reads files, with options of the data source."""
    import urlmill.spark as host

    try:
        spark.dataSource.register(host.Source)
    except (AttributeError, urlmill.Error):
        pytest.skip("the data source needs PySpark 4: pip install 'pyspark>=4'")

    def read(path: str | Path | list[str], schema: str | None = None, **options: Any) -> Any:
        reader = spark.read.format("urlmill").options(**options)
        return (reader.schema(schema) if schema else reader).load(path if isinstance(path, list) else str(path))

    return read


def test_gives_what_the_command_gives(source: Any, files: Path, command: Any) -> None:
    """All columns, row by row, texts that are no URL among them, from both workers."""
    df = source(files, column="page", carry="id", piece_bytes="3000")
    assert df.rdd.getNumPartitions() > 3
    assert df.schema.names == [*(f.name for f in urlmill.Parser().type), "id"]
    assert df.schema["params"].dataType.simpleString() == "array<struct<key:string,value:string>>"
    assert {f.name: f.dataType.simpleString() for f in df.schema if f.dataType.simpleString() not in ("string", "array<struct<key:string,value:string>>")} == {
        "has_username": "boolean", "port": "int", "url_error_pos": "int", "raw": "binary", "id": "bigint",
    }  # fmt: skip
    rows = dicts(df.orderBy("id").collect())
    assert [r.pop("id") for r in rows] == list(range(ROWS))
    assert rows == expected()

    urls = [u for u in ODD if u is not None]
    theirs = iter(command(urls))
    ours = {ODD[i]: row for i, row in enumerate(rows[: len(ODD)])}
    for url in urls:
        assert {**ours[url], "raw": None} == {**next(theirs), "raw": None}


def test_both_workers_read(source: Any, spark: Any, files: Path) -> None:
    df = source(files, column="page", columns="host", carry="", piece_bytes="1")

    def where(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.record_batch([pa.array([os.getppid()] * batch.num_rows, pa.int32())], names=["pid"])

    assert len(df.mapInArrow(where, "pid int").distinct().collect()) == 2
    assert df.count() == ROWS


def test_options(source: Any, files: Path) -> None:
    """They are those of the parser, in text."""

    def same(given: dict[str, str], **options: Any) -> None:
        df = source(files / "in-0.parquet", column="page", **given)
        want = urlmill.Parser(url="page", **options).table(pq.read_table(files / "in-0.parquet"))
        assert df.schema.names == want.column_names
        assert dicts(df.collect()) == want.to_pylist(maps_as_pydicts="lossy")

    same({"columns": "host, path", "carry": "id,day"}, columns=["host", "path"], carry=["id", "day"])
    same({"COLUMNS": '["host"]', "rename": "host=h", "carry": ""}, columns=["host"], rename={"host": "h"}, carry=[])
    same({"rename": '{"host": "a,b"}', "exclude": "raw,url"}, rename={"host": "a,b"}, exclude=["raw", "url"])
    same({"columns": "host,path", "prefix": "url_", "rename": "path=p", "carry": "id"}, columns=["host", "path"], rename={"host": "url_host", "path": "p"}, carry=["id"])
    same({"profile": "commoncrawl", "carry": ""}, profile="commoncrawl", carry=[])
    same({"canonical": "dedupe", "tracking": "separate", "params": "map", "carry": ""}, canonical="dedupe", tracking="separate", params="map", carry=[])
    promote = [urlmill.Promote("q", name="search", take="all")]
    same({"promote": '["utm_source", {"param": "q", "name": "search", "take": "all"}]', "carry": ""}, promote=["utm_source", *promote], carry=[])
    same({"base_url": "https://base.example/", "columns": "href", "carry": "", "batch_rows": "7"}, base_url="https://base.example/", columns=["href"], carry=[])


def test_a_schema_says_what_is_read(source: Any, files: Path) -> None:
    """Columns in its order and of its types, and no others are made."""
    df = source(files, "day string, host string, port long, id int", column="page")
    assert [f"{n} {t}" for n, t in df.dtypes] == ["day string", "host string", "port bigint", "id int"]
    want = [{"day": "2026-11-22", **r, "id": i} for i, r in enumerate(expected(columns=["host", "port"]))]
    assert dicts(df.orderBy("id").collect()) == want
    assert source(files, "id long", column="page").count() == ROWS
    assert source(files, "h string", column="page", rename="host=h").where("h IS NOT NULL").count() == sum(r["host"] is not None for r in expected(columns=["host"]))
    with pytest.raises(Exception, match="'hots'.*there are url, href"):
        source(files, "hots string", column="page").count()


def test_files_are_found(source: Any, files: Path, tmp_path: Path) -> None:
    one = {"column": "page", "columns": "host", "carry": ""}
    assert source(files / "in-[01].parquet", **one).count() == ROWS * 2 // 3
    assert source([str(files / "in-0.parquet"), str(files / "in-2.parquet")], **one).count() == ROWS * 2 // 3
    (tmp_path / "empty").mkdir()
    pq.write_table(pa.table({"page": pa.array([], pa.string())}), tmp_path / "empty" / "a.parquet")
    assert source(tmp_path / "empty", **one).collect() == []


def test_columns_of_the_path(source: Any, tmp_path: Path) -> None:
    """Folders as Hive names them are columns, with a type that fits all."""
    for day, shop in [(1, "a"), (2, "7"), (2, "__HIVE_DEFAULT_PARTITION__")]:
        folder = tmp_path / f"day={day}" / f"shop={shop}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"page": [f"https://{day}.example/"]}), folder / "x.parquet")
    df = source(tmp_path, column="page", columns="host")
    assert df.dtypes == [("host", "string"), ("day", "int"), ("shop", "string")]
    assert [tuple(r) for r in df.orderBy("day", "shop").collect()] == [("1.example", 1, "a"), ("2.example", 2, None), ("2.example", 2, "7")]
    assert [tuple(r) for r in source(tmp_path, column="page", columns="host", carry="shop").where("shop = 'a'").collect()] == [("1.example", "a")]
    for pattern in ("*", "day=[12]"):
        assert source(tmp_path / pattern, column="page", columns="host").dtypes[1:] == [("day", "int"), ("shop", "string")]
    assert source(tmp_path / "day=2", column="page", columns="host").columns == ["host", "shop"]
    assert source(tmp_path / "day=1" / "shop=a" / "x.parquet", column="page", columns="host").columns == ["host"]


def test_types_that_go_along(source: Any, tmp_path: Path) -> None:
    at = datetime.datetime(2026, 11, 22, 1, 2, 3)
    given = pa.table(
        {
            "page": ["https://a.example/"],
            "ns": pa.array([at], pa.timestamp("ns")),
            "utc": pa.array([at], pa.timestamp("ms", "UTC")),
            "kind": pa.array(["x"]).dictionary_encode(),
            "large": pa.array(["y"], pa.large_string()),
            "inner": pa.array([{"a": [1, None]}]),
        }
    )
    pq.write_table(given, tmp_path / "x.parquet")
    df = source(tmp_path, column="page", columns="host")
    assert [t for _, t in df.dtypes] == ["string", "timestamp_ntz", "timestamp", "string", "string", "struct<a:array<bigint>>"]
    row = df.collect()[0].asDict(recursive=True)
    assert row.pop("utc") == at.replace(tzinfo=datetime.timezone.utc).astimezone().replace(tzinfo=None)
    assert row == {"host": "a.example", "ns": at, "kind": "x", "large": "y", "inner": {"a": [1, None]}}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"column": "pag"}, 'no column "pag"; it has id, page, day'),
        ({"column": "page", "carry": "idd"}, "no column 'idd'; there are id, page, day"),
        ({"column": "page", "columns": "hots"}, "hots"),
        ({"column": "page", "colums": "host"}, "no option 'colums'; is it columns?"),
        ({"column": "page", "zzzz": "host"}, "no option 'zzzz'; there are column, base"),
        ({"column": "page", "rename": "host"}, "'host' should be column=name"),
        ({"column": "page", "piece_bytes": "big"}, "'big' is no size"),
        ({"column": "page", "filters": "host = 1"}, """a filter is a list as ["host", "=", "a.example"], and 'host = 1' is not"""),
        ({"column": "page", "filters": '[["host", "~", 1]]'}, "the operator '~'; there are =, !="),
        ({"column": "page", "filters": '[["hots", "=", 1]]'}, "a filter has a column 'hots', and there is none; there are id, page, day"),
        ({"column": "page", "filters": '[["port", ">", "x"]]'}, "a filter of 'port', which is int32, compares with 'x'"),
        ({"column": "page", "filters": '[["port", "in", 1]]'}, "in and not in take a list"),
        ({"column": "page", "promote": "[q"}, "is no JSON"),
        ({"column": "page", "prefix": "a_", "profile": "ecs"}, "a profile has names of its own"),
    ],
)
def test_errors_say_what_would_be_right(source: Any, files: Path, options: dict[str, str], says: str) -> None:
    with pytest.raises(Exception, match="urlmill") as e:
        source(files, **options).count()
    assert says in str(e.value)


def test_errors_of_files(source: Any, spark: Any, files: Path, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="nowhere: there is no such file or folder"):
        source(tmp_path / "nowhere", column="page")
    with pytest.raises(Exception, match=r"x-\*: there are no such files"):
        source(tmp_path / "x-*", column="page")
    with pytest.raises(Exception, match="there are no Parquet files"):
        source(tmp_path, column="page")
    with pytest.raises(Exception, match="name files or folders"):
        spark.read.format("urlmill").load()
    pq.write_table(pa.table({"page": ["a"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"pages": ["a"]}), tmp_path / "b.parquet")
    with pytest.raises(Exception, match=r"b.parquet: there is no column 'page'; there are pages"):
        source(tmp_path, column="page").collect()


FILTERS = [
    ([["host", "=", "www.example.co.uk"]], "host = 'www.example.co.uk'"),
    ([["host", "!=", "www.example.co.uk"]], "host <> 'www.example.co.uk'"),
    ([["host", "=", None]], "host IS NULL"),
    ([["host", "!=", None], ["port", ">", 80]], "host IS NOT NULL AND port > 80"),
    ([["host", "in", ["example.com", "x.github.io"]]], "host IN ('example.com', 'x.github.io')"),
    ([["host", "not in", ["example.com"]], ["id", "<=", 3000]], "host NOT IN ('example.com') AND id <= 3000"),
    ([["host", "starts with", "www."]], "host LIKE 'www.%'"),
    ([["host", "ends with", ".io"], ["path", "contains", "/"]], "host LIKE '%.io' AND path LIKE '%/%'"),
    ([["has_username", "=", True]], "has_username"),
    ([["day", "=", "2026-11-22"], ["id", ">=", 500], ["id", "<", 1499], ["url_error", "=", None]], "id >= 500 AND id < 1499 AND url_error IS NULL"),
]


@pytest.mark.parametrize(("filters", "where"), FILTERS, ids=[w for _, w in FILTERS])
def test_filters(source: Any, files: Path, filters: list[Any], where: str) -> None:
    """Each keeps the rows that its like keeps in Spark."""
    options = {"column": "page", "columns": "host,port,path,params,has_username,url_error"}
    want = dicts(source(files, **options).where(where).orderBy("id").collect())
    assert dicts(source(files, **options, filters=json.dumps(filters)).orderBy("id").collect()) == want
    assert 0 < len(want) < ROWS


def test_filters_leave_out_what_has_no_such_rows(source: Any, files: Path, tmp_path: Path) -> None:
    """Row groups by their statistics, and files by their folders; the columns need not be among those of the output."""
    options = {"column": "page", "columns": "host", "carry": "", "piece_bytes": "1"}
    assert source(files, **options).rdd.getNumPartitions() == 12
    few = source(files, **options, filters='[["id", ">=", 5500]]')
    assert few.rdd.getNumPartitions() == 1 and few.columns == ["host"] and few.count() == 500
    assert source(files, "id long", column="page", filters='[["host", "=", "x.github.io"]]').count() == ROWS // len(ODD)
    assert source(files, **options, filters='[["id", "<", 0]]').collect() == []
    for day in range(4):
        (tmp_path / f"day={day}").mkdir()
        pq.write_table(pa.table({"page": [f"https://{day}.example/", "x"]}), tmp_path / f"day={day}" / "x.parquet")
    df = source(tmp_path, column="page", columns="host", filters='[["day", "=", 2], ["host", "!=", null]]')
    assert df.rdd.getNumPartitions() == 1
    assert [tuple(r) for r in df.collect()] == [("2.example", 2)]


def test_conditions_of_spark_stay_with_their_query(source: Any, spark: Any, files: Path) -> None:
    """Also where Spark asks its data sources to take them over."""
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        df = source(files, column="page", columns="host")
        a, b = df.where("id < 10"), df.where("id >= 5 AND host IS NOT NULL")
        hosts = [r["host"] for r in expected(columns=["host"])]
        assert a.select("id").join(b.select("id"), "id").count() == sum(h is not None for h in hosts[5:10])
        assert b.count() == sum(h is not None for h in hosts[5:]) and df.count() == ROWS
    finally:
        spark.conf.unset("spark.sql.python.filterPushdown.enabled")


def test_what_is_sent_is_small(spark: Any, files: Path) -> None:
    need("pyspark.sql.datasource", "pip install 'pyspark>=4'")
    from pyspark.sql.types import StructType

    from urlmill._source import Source

    reader = Source({"path": str(files), "column": "page", "columns": "host"}).reader(StructType().add("host", "string"))
    assert len(pickle.dumps(reader)) < 4_000
    assert all(len(pickle.dumps(p)) < 1_000 for p in reader.partitions())


def test_in_sql(source: Any, spark: Any, files: Path) -> None:
    source(files, column="page", columns="registrable_domain", carry="id").createOrReplaceTempView("visits")
    top = spark.sql("SELECT registrable_domain d, count(*) n FROM visits WHERE registrable_domain IS NOT NULL GROUP BY d ORDER BY n DESC, d LIMIT 1").collect()
    domains = [r["registrable_domain"] for r in expected(columns=["registrable_domain"]) if r["registrable_domain"]]
    assert top[0].n == max(map(domains.count, set(domains)))
