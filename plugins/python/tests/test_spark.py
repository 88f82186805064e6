"""The real PySpark, and the real files."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import ROWS, dicts, expected, missing

import urlmill


def test_parse_on_both_workers(spark: Any, files: Path) -> None:
    """All columns are those of the library here, whichever worker made them; both did."""
    import urlmill.spark as host

    df = spark.read.parquet(str(files)).repartition(8, "id")
    parsed = host.parse(df, "page", carry=["id"])
    assert parsed.schema.names == [*(f.name for f in urlmill.Parser().type), "id"]
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


def test_backfill(spark: Any, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")  # the workers are not there
    assert host.backfill(spark, os.path.relpath(files), "relative", "page", columns=["host"], carry=[]).rows == ROWS
    assert (tmp_path / "elsewhere" / "relative" / "_SUCCESS").is_file()
    with pytest.raises(urlmill.Error, match="no such file"):
        host.backfill(spark, str(tmp_path / "nowhere"), str(tmp_path / "new"), "page")


def test_the_package_may_come_as_a_zip(spark: Any, files: Path, tmp_path: Path) -> None:
    """A wheel that was renamed is enough for executors that have pyarrow and nothing of ours."""
    package = Path(urlmill.__file__).parent
    if not (package / "liburlmill.so").is_file():
        missing("wheel", "the package is not installed from a wheel; make plugins does that")
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
