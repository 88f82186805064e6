"""urlmill in Polars: importing this module gives expressions and series the namespace ``urlmill``.

>>> import polars as pl, urlmill.polars
>>> df = pl.DataFrame({"url": ["https://www.example.co.uk/a"]})
>>> df.with_columns(pl.col("url").urlmill.parse(columns=["host", "path"])).unnest("url").row(0)
('www.example.co.uk', '/a')
"""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa

from ._parser import Parser, parser

__all__ = ["Expression", "Series", "dtype", "parse"]

_BATCH = 65_536  # rows: what they become stays in the cache of a CPU


def dtype(parser: Parser, *, bases: bool = False) -> pl.DataType:
    """The type of what the parser makes of a column, or of one with bases."""
    empty = pl.from_arrow(pa.chunked_array([], type=parser._type(bases)))
    assert isinstance(empty, pl.Series)
    return empty.dtype


def _parse(urls: pl.Series, bases: pl.Series | None, parser: Parser) -> pl.Series:
    parts = parser.parse(pa.chunked_array([urls.to_arrow()]), None if bases is None else pa.chunked_array([bases.to_arrow()]))
    if parts.num_chunks == 0:
        return pl.Series(urls.name, [], dtype=dtype(parser, bases=bases is not None))
    # One by one: Polars would have them in one array of Arrow, which cannot hold more than 2 GiB of a column.
    out = pl.Series(urls.name, parts.chunk(0))
    for i in range(1, parts.num_chunks):
        out.append(pl.Series(urls.name, parts.chunk(i)))
    return out


def _of_structs(both: pl.Series, parser: Parser) -> pl.Series:
    urls, bases = both.struct.fields
    return _parse(both.struct.field(urls), both.struct.field(bases), parser)


@pl.api.register_series_namespace("urlmill")
class Series:
    """``series.urlmill``"""

    def __init__(self, series: pl.Series) -> None:
        self._series = series

    def parse(self, bases: pl.Series | None = None, **options: Any) -> pl.Series:
        """Returns a series of structs. bases has a base URL for every row, or null. Options are those of :class:`urlmill.Parser`."""
        return _parse(self._series, bases, parser(**{"batch_rows": _BATCH, **options}))


@pl.api.register_expr_namespace("urlmill")
class Expression:
    """``pl.col("url").urlmill``"""

    def __init__(self, expr: pl.Expr) -> None:
        self._expr = expr

    def parse(self, bases: pl.Expr | str | None = None, **options: Any) -> pl.Expr:
        """Returns an expression of structs, for ``unnest`` or ``struct.field``.

        bases is an expression or the name of a column that has a base URL for every row, or null; for one base for all rows there
        is the option base_url. Options are those of :class:`urlmill.Parser`.
        """
        return parse(self._expr, bases, **options)


def parse(urls: pl.Expr | str, bases: pl.Expr | str | None = None, **options: Any) -> pl.Expr:
    """What :meth:`Expression.parse` returns, for those who check types: a namespace has none. A text is the name of a column."""
    of = parser(**{"batch_rows": _BATCH, **options})
    expr = _column(urls)
    if bases is None:
        return expr.map_batches(lambda s: _parse(s, None, of), return_dtype=dtype(of), is_elementwise=True)
    both = pl.struct(expr, _column(bases).alias("the bases of urlmill"))  # two columns of one name make no struct
    return both.map_batches(lambda s: _of_structs(s, of), return_dtype=dtype(of, bases=True), is_elementwise=True)


def _column(given: pl.Expr | str) -> pl.Expr:
    return pl.col(given) if isinstance(given, str) else given
