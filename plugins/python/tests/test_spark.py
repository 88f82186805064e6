"""The real PySpark: a cluster of two workers on this machine, whose Python workers are forked from a daemon."""

from __future__ import annotations

import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import ODD, need

import urlmill

ROWS = 6000


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
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


@pytest.fixture(scope="module")
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


def test_parse_on_both_workers(spark: Any, files: Path) -> None:
    """All columns are those of the library here, whichever worker made them; both did."""
    import urlmill.spark as host

    df = spark.read.parquet(str(files)).repartition(8, "id")
    parsed = host.parse(df, "page", carry=["id"])
    assert parsed.schema.names == [*urlmill.Parser().type.names, "id"]
    rows = dicts(parsed.orderBy("id").collect())
    assert [r.pop("id") for r in rows] == list(range(ROWS))
    assert rows == expected()

    def where(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Tells which process runs, and whether the one that it was forked from had loaded the library."""
        from urlmill import _library

        for _ in batches:
            urlmill.version()
            yield pa.record_batch([pa.array([os.getpid()], pa.int32()), pa.array([_library._forked])], names=["pid", "fork"])

    workers = df.mapInArrow(where, "pid int, fork boolean").distinct().collect()
    assert len({w.pid for w in workers}) >= 2 and not any(w.fork for w in workers)
    assert host.parse(df.limit(0), "page", columns=["host"]).count() == 0


def test_map_batches(spark: Any, files: Path) -> None:
    df = spark.read.parquet(str(files))
    rows = df.mapInArrow(urlmill.map_batches("page", columns=["host", "url_error"]), "host string, url_error string, id long, day string").orderBy("id").collect()
    assert [{"host": r.host, "url_error": r.url_error} for r in rows] == expected(columns=["host", "url_error"])


def test_sql(spark: Any, files: Path) -> None:
    import urlmill.spark as host

    host.parse(spark.read.parquet(str(files)), "page", columns=["registrable_domain"]).createOrReplaceTempView("clicks")
    top = spark.sql("SELECT registrable_domain d, count(*) n FROM clicks WHERE registrable_domain IS NOT NULL GROUP BY d ORDER BY n DESC, d LIMIT 1").collect()
    domains = [r["registrable_domain"] for r in expected(columns=["registrable_domain"]) if r["registrable_domain"]]
    assert top[0].n == max(map(domains.count, set(domains)))


def test_read_parquet(spark: Any, files: Path) -> None:
    import urlmill.spark as host

    df = host.read_parquet(spark, str(files), "page", columns=["host", "path"], carry=["id"], piece_bytes=3_000)
    assert df.rdd.getNumPartitions() > 3
    rows = df.orderBy("id").collect()
    assert [r.id for r in rows] == list(range(ROWS))
    assert [{"host": r.host, "path": r.path} for r in rows] == expected(columns=["host", "path"])


def test_backfill(spark: Any, files: Path, tmp_path: Path) -> None:
    import urlmill.spark as host

    out = tmp_path / "out"
    done = host.backfill(spark, str(files), str(out), "page", piece_bytes=3_000, batch_rows=300)
    bad = sum(r["url_error"] is not None for r in expected(columns=["url_error"]))
    assert (done.rows, done.invalid) == (ROWS, bad) and done.files > 3
    assert sorted(p.name for p in out.iterdir()) == ["_SUCCESS", *(f"part-{i:05}.parquet" for i in range(done.files))]
    table = pa.concat_tables(pq.read_table(p) for p in sorted(out.glob("*.parquet")))
    assert table["id"].to_pylist() == list(range(ROWS)) and set(table["day"].to_pylist()) == {"2026-11-22"}
    assert table.drop_columns(["id", "day"]).to_pylist() == expected()

    with pytest.raises(urlmill.Error, match="not empty"):
        host.backfill(spark, str(files), str(out), "page")
    assert host.backfill(spark, str(files), str(out), "page", overwrite=True, columns=["host"], carry=[]).files == 3
    assert pq.read_schema(out / "part-00000.parquet").names == ["host"]
    with pytest.raises(urlmill.Error, match="hots"):
        host.backfill(spark, str(files), str(tmp_path / "new"), "page", columns=["hots"])
    with pytest.raises(urlmill.Error, match="no such file"):
        host.backfill(spark, str(tmp_path / "nowhere"), str(tmp_path / "new"), "page")


def test_the_package_may_come_as_a_zip(spark: Any, files: Path, tmp_path: Path) -> None:
    """A wheel that was renamed is enough for executors that have pyarrow and nothing of ours."""
    package = Path(urlmill.__file__).parent
    if not (package / "liburlmill.so").is_file():
        pytest.skip("the package is not installed from a wheel; make plugins does that")
    zipped = tmp_path / "urlmill_zip.zip"
    with zipfile.ZipFile(zipped, "w") as z:
        for file in package.iterdir():
            if file.is_file():
                z.write(file, f"zipped_urlmill/{file.name}")
    spark.sparkContext.addPyFile(str(zipped))

    def use(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import zipped_urlmill

        assert ".zip" in zipped_urlmill.__file__
        yield from zipped_urlmill.map_batches("page", columns=["host"], carry=[])(batches)

    hosts = [r.host for r in spark.read.parquet(str(files / "in-0.parquet")).mapInArrow(use, "host string").collect()]
    assert sorted(h or "" for h in hosts) == sorted(r["host"] or "" for r in expected(columns=["host"])[: ROWS // 3])
