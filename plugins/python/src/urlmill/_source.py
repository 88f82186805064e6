"""The data source "urlmill" of Spark 4: Parquet files as a data frame of the columns of their URLs.

Spark asks for the schema and for the partitions in processes of its own, and reads the partitions in its Python workers. What goes
from one to the other is pickled: a Job, which is small, and a piece for every partition.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from ._filters import Condition, conditions, expression
from ._library import Error
from ._parser import Parser, Promote
from ._pieces import Piece, chosen, conformed, first_schema, needed, open_piece, split

BATCH_ROWS = 16_384  # what becomes of it stays in the cache of a CPU on both sides of the pipe
PIECE_BYTES = 128 << 20


def _list(option: str, value: str) -> list[Any]:
    if not value.lstrip().startswith("["):
        return [part.strip() for part in value.split(",") if part.strip()]
    try:
        return list(json.loads(value))
    except ValueError as e:
        raise Error(f"option {option}: {value!r} is no JSON: {e}") from None


def _rename(option: str, value: str) -> dict[str, str]:
    if value.lstrip().startswith("{"):
        return dict(json.loads(value))
    pairs = [part.partition("=") for part in _list(option, value)]
    if bad := next((p for p in pairs if not p[1] or not p[2]), None):
        raise Error(f"option {option}: {''.join(bad)!r} should be column=name")
    return {p[0].strip(): p[2].strip() for p in pairs}


def _promote(option: str, value: str) -> list[str | Promote]:
    return [Promote(**p) if isinstance(p, dict) else p for p in _list(option, value)]


def _text(option: str, value: str) -> str:
    return value


def _size(option: str, value: str) -> int:
    """A number, or one with k, m or g behind it, as Spark writes sizes."""
    text = value.strip().lower().removesuffix("b")
    factor = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}.get(text[-1:], 1)
    number = text[:-1] if factor > 1 else text
    if not number.isdigit() or int(number) == 0:
        raise Error(f"option {option}: {value!r} is no size; give a number above 0, or one as 128m")
    return int(number) * factor


def _filters(option: str, value: str) -> list[Condition]:
    return conditions(_list(option, value))


# Options of the reader, in the names of Parser but for column.
_OPTIONS: dict[str, Any] = {
    "column": _text, "base": _text, "base_url": _text, "carry": _list, "columns": _list, "exclude": _list, "rename": _rename, "prefix": _text,
    "profile": _text, "params": _text, "promote": _promote, "canonical": _text, "tracking": _text, "tracking_rules": _text, "psl": _text,
    "batch_rows": _size, "piece_bytes": _size, "filters": _filters,
}  # fmt: skip


@dataclass(frozen=True)
class Job:
    """What the tasks of a read have in common."""

    paths: tuple[str, ...]
    parser: Parser
    piece_bytes: int
    batch_rows: int
    filters: tuple[Condition, ...]
    plain: bool  # whether the columns have their own names

    def needed(self) -> list[str] | None:
        """The columns of the input that are read, None for all."""
        columns = needed(self.parser)
        return None if columns is None else list(dict.fromkeys([*columns, *(c[0] for c in self.before())]))

    def input(self) -> pa.Schema:
        return chosen(self.paths[0], first_schema(self.paths), self.needed())

    def before(self) -> list[Condition]:
        """The filters of columns of the input: they hold before the URLs are parsed."""
        return [c for c in self.filters if c[0] not in self.parser.type.names]

    def after(self) -> list[Condition]:
        """The filters of columns of the URL."""
        return [c for c in self.filters if c[0] in self.parser.type.names]

    def narrowed(self, names: list[str], given: pa.Schema) -> Job:
        """The job with no more columns than those names, which a schema of the user's has."""
        parsed = self.parser.type.names
        there = self.parser.schema(given).names
        for name in names:
            if name not in there:
                raise Error(f"the schema has a column {name!r}, and there is none; there are {', '.join(there)}")
        if not self.plain:
            return self
        used = {c[0] for c in self.filters}
        columns = [n for n in parsed if n in names or n in used] or parsed[:1]
        carry = [n for n in there if n in names and n not in parsed]
        return replace(self, parser=replace(self.parser, columns=columns, carry=carry))


def job(options: Mapping[str, str]) -> Job:
    """Reads the options of spark.read, whose names have no case."""
    given: dict[str, Any] = {}
    paths: list[str] = []
    for name, value in options.items():
        key = name.lower()
        if key in ("path", "paths"):
            paths += json.loads(value) if key == "paths" else [value]
        elif key in _OPTIONS:
            given[key] = _OPTIONS[key](key, value)
        else:
            near = get_close_matches(key, _OPTIONS, 1)
            raise Error(f"there is no option {name!r}" + (f"; is it {near[0]}?" if near else f"; there are {', '.join(_OPTIONS)}"))
    if not paths:
        raise Error("name files or folders: spark.read.format('urlmill').load('clicks/')")
    piece_bytes, batch_rows = given.pop("piece_bytes", PIECE_BYTES), given.pop("batch_rows", BATCH_ROWS)
    filters, prefix = tuple(given.pop("filters", ())), given.pop("prefix", "")
    given["url"] = given.pop("column", None)
    plain = not (prefix or given.get("rename") or given.get("profile"))
    if prefix:
        if given.get("profile"):
            raise Error("option prefix: a profile has names of its own; rename them, or leave one of both out")
        renamed = given.pop("rename", {})
        given["rename"] = {name: renamed.get(name, prefix + name) for name in Parser(**given).type.names}
    return Job(tuple(paths), Parser(**given), piece_bytes, batch_rows, filters, plain)


class Partition(InputPartition):
    def __init__(self, piece: Piece) -> None:
        super().__init__(piece)


class Reader(DataSourceReader):
    """Not one that takes filters over (pushFilters): Spark 4.3 keeps what it was told for one query of a data frame and uses it for the next
    one, and for the other side of a join, which then lack rows. Hence the option filters."""

    def __init__(self, job: Job, schema: StructType, given: pa.Schema) -> None:
        self.job = job
        self.schema = schema
        self.before = expression(job.before(), given)
        self.after = expression(job.after(), job.parser.schema(given))

    def partitions(self) -> list[Partition]:
        pieces = split(self.job.paths, self.job.piece_bytes, self.before)
        # Spark makes a partition of its own where there is none.
        return [Partition(p) for p in pieces] or [Partition(Piece(self.job.paths[0], 0, 0, 0))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        piece: Piece = partition.value
        if piece.first == piece.last:
            return
        given, batches = open_piece(piece, self.job.needed(), self.job.batch_rows)
        if self.before is not None:
            before = self.before
            batches = (b for b in (batch.filter(before) for batch in batches) if b.num_rows)
        target = to_arrow_schema(self.schema, timezone="UTC")
        for batch in self.job.parser.stream(pa.RecordBatchReader.from_batches(given, batches)):
            if self.after is not None:
                batch = batch.filter(self.after)
            if batch.num_rows:
                yield conformed(batch, target)


class Source(DataSource):
    """Parquet files as the columns of their URLs: ``spark.dataSource.register(urlmill.spark.Source)``, and then
    ``spark.read.format("urlmill").option("column", "page").option("columns", "host,path").load("clicks/")``.

    The options are those of :class:`urlmill.Parser`, as text: lists with commas or in JSON, ``rename`` as ``host=h,path=p``, and
    ``column`` for the column with the URLs. Besides, ``prefix`` goes before the names of all columns of the URL, ``piece_bytes`` is the size of
    a partition (128m), ``batch_rows`` that of a batch, and ``filters`` is a list in JSON of conditions that all hold for the rows
    wanted: ``[["host", "=", "a.example"], ["id", ">", 5]]``.
    """

    @classmethod
    def name(cls) -> str:
        return "urlmill"

    def schema(self) -> StructType:
        todo = job(self.options)
        return from_arrow_schema(todo.parser.schema(todo.input()))

    def reader(self, schema: StructType) -> DataSourceReader:
        todo = job(self.options)
        given = todo.input()
        return Reader(todo.narrowed(schema.names, given), schema, given)
