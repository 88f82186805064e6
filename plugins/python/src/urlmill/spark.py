"""urlmill in PySpark: columns of URLs by ``mapInArrow``, and whole backfills of Parquet files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.fs as fs
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from ._backfill import Written, write_piece
from ._library import Error
from ._parser import Parser, map_batches
from ._pieces import needed, open_piece, opened, split

if TYPE_CHECKING:
    from ._source import Source
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["Backfilled", "Source", "backfill", "parse", "read_parquet", "schema"]


def __getattr__(name: str) -> Any:
    if name != "Source":
        raise AttributeError(name)
    try:
        from ._source import Source
    except ModuleNotFoundError as e:
        raise Error(f"the data source needs PySpark 4: {e}") from None
    return Source


def schema(df: DataFrame, url: str | None = None, **options: Any) -> StructType:
    """Returns the schema that :func:`parse` gives a data frame."""
    return from_arrow_schema(Parser(url=url, **options).schema(to_arrow_schema(df.schema)))


def parse(df: DataFrame, url: str | None = None, *, barrier: bool = False, **options: Any) -> DataFrame:
    """Returns the columns of the URLs in the column url, and behind them the other columns of df.

    Options are those of :class:`urlmill.Parser`; ``carry`` names the columns that go along, and what is not needed should
    not, since Spark hands every row over to Python and back.
    """
    columns = needed(Parser(url=url, **options))
    given = df if columns is None else df.select(*columns)
    return given.mapInArrow(map_batches(url, **options), schema(given, url, **options), barrier)


@dataclass(frozen=True)
class Backfilled:
    """What a backfill has written."""

    files: int
    rows: int
    invalid: int  #: rows that are no URL, where url_error is among the columns


def backfill(
    spark: SparkSession,
    source: str | Sequence[str],
    target: str,
    url: str | None = None,
    *,
    piece_bytes: int = 128 << 20,
    batch_rows: int = 65_536,
    compression: str = "snappy",
    overwrite: bool = False,
    **options: Any,
) -> Backfilled:
    """Reads Parquet files, and writes their columns of URLs, and behind them their other columns, as Parquet files.

    Spark hands out pieces of files to its executors, tries them again where one fails, and does nothing else: rows go from
    the files through the library into files without passing the JVM. source and target are paths that all executors
    have, or URIs of a store that pyarrow.fs knows (s3, gs, abfs, hdfs). Each piece of about piece_bytes becomes one file,
    in the order of the input; a file appears when it is complete, and the file _SUCCESS when all are.
    """
    parser = Parser(url=url, **options)
    columns = needed(parser)
    pieces = split(source, piece_bytes)
    system, folder = opened(target)
    if isinstance(system, fs.LocalFileSystem):
        target = folder  # tasks may run in other folders
    there = system.get_file_info(fs.FileSelector(folder, allow_not_found=True))
    if there and not overwrite:
        raise Error(f"{target} is not empty; give overwrite=True to empty it")
    if there:
        system.delete_dir_contents(folder)
    system.create_dir(folder, recursive=True)
    written: list[Written] = []
    if pieces:
        parser.schema(open_piece(pieces[0], columns, 1)[0])  # wrong options are told here, and not by every task
        tasks = spark.sparkContext.parallelize(pieces, len(pieces))
        written = tasks.map(lambda p: write_piece(p, target, parser, columns, batch_rows, compression)).collect()
    with system.open_output_stream(f"{folder}/_SUCCESS"):
        pass
    return Backfilled(len(written), sum(w.rows for w in written), sum(w.invalid for w in written))


def read_parquet(
    spark: SparkSession, source: str | Sequence[str], url: str | None = None, *, piece_bytes: int = 128 << 20, batch_rows: int = 16_384, **options: Any
) -> DataFrame:
    """Returns the columns of the URLs of Parquet files, and behind them their other columns, as a data frame.

    The files are read where the URLs are parsed, so that rows pass into the JVM once and not out of it before. What
    :func:`backfill` says of source holds here.
    """
    parser = Parser(url=url, **options)
    columns = needed(parser)
    pieces = split(source, piece_bytes)
    if not pieces:
        raise Error(f"{source}: there are no Parquet files")
    result = from_arrow_schema(parser.schema(open_piece(pieces[0], columns, 1)[0]))

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                schema, given = open_piece(pieces[number], columns, batch_rows)
                yield from parser.stream(pa.RecordBatchReader.from_batches(schema, given))

    # A range has a row in each of its partitions, and needs no shuffle to have it there.
    return spark.range(0, len(pieces), 1, len(pieces)).mapInArrow(read, result)
