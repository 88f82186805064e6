"""urlmill in DuckDB: a function of SQL, and whole relations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ._library import Error
from ._parser import Parser

if TYPE_CHECKING:
    import duckdb

__all__ = ["parse", "register"]


def register(connection: duckdb.DuckDBPyConnection, name: str = "url_parse", *, bases: bool = False, **options: Any) -> None:
    """Makes ``SELECT url_parse(url).host`` work: a function of a text that returns a struct.

    With bases it is a function of two: ``url_parse(url, base)``, where the base may be NULL. Options are those of
    :class:`urlmill.Parser`. A row that is no URL has its reason in ``url_error``; NULL gives one as well.
    DuckDB calls it for 2,048 rows at a time; :func:`parse` is for whole tables.
    """
    parser = Parser(**options)
    if parser.params == "map":
        raise Error("a map of DuckDB has every key once, and a query would fail at the first URL that repeats a parameter; leave params a list")

    def parsed(urls: pa.ChunkedArray) -> pa.ChunkedArray:
        return parser.parse(urls)

    def resolved(urls: pa.ChunkedArray, bases: pa.ChunkedArray) -> pa.ChunkedArray:
        return parser.parse(urls, bases)

    text = connection.type("VARCHAR")
    connection.create_function(  # type: ignore[call-overload]  # the names of enums that moved between versions
        name, resolved if bases else parsed, [text, text] if bases else [text], _type(connection, parser, bases), type="arrow", null_handling="special"
    )


def _type(connection: duckdb.DuckDBPyConnection, parser: Parser, bases: bool) -> Any:
    """DuckDB's type of what the parser makes."""
    empty = pa.table([pa.array([], type=parser._type(bases))], names=["parsed"])
    return connection.from_arrow(empty).types[0]


def parse(relation: duckdb.DuckDBPyRelation, url: str | None = None, *, rows_per_batch: int = 65_536, **options: Any) -> pa.RecordBatchReader:
    """Returns a reader of the columns of a relation's URLs, and behind them its other columns.

    Rows stream, so the connection of the relation is busy until the reader is done: query the reader, by the name of a
    variable that holds it, with another: ``parsed = parse(...); con.cursor().sql("SELECT host FROM parsed")``.
    """
    names = ("to_arrow_reader", "fetch_record_batch", "fetch_arrow_reader")  # the last one is that of DuckDB 1.0
    read = next(getattr(relation, name) for name in names if hasattr(relation, name))
    return Parser(url=url, **options).stream(read(rows_per_batch))
