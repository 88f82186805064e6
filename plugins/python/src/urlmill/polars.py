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

from ._parser import Parser

__all__ = ["Expression", "Series", "dtype"]

_BATCH = 65_536  # rows: what they become stays in the cache of a CPU


def dtype(parser: Parser) -> pl.DataType:
    """The type of what the parser makes of a column."""
    empty = pl.from_arrow(pa.chunked_array([], type=parser.type))
    assert isinstance(empty, pl.Series)
    return empty.dtype


def _parse(series: pl.Series, parser: Parser) -> pl.Series:
    urls = pa.chunked_array([series.to_arrow()])
    out = pl.from_arrow(parser.parse(urls))
    assert isinstance(out, pl.Series)
    return out.alias(series.name)


@pl.api.register_series_namespace("urlmill")
class Series:
    """``series.urlmill``"""

    def __init__(self, series: pl.Series) -> None:
        self._series = series

    def parse(self, **options: Any) -> pl.Series:
        """Returns a series of structs. Options are those of :class:`urlmill.Parser`."""
        return _parse(self._series, Parser(**{"batch_rows": _BATCH, **options}))


@pl.api.register_expr_namespace("urlmill")
class Expression:
    """``pl.col("url").urlmill``"""

    def __init__(self, expr: pl.Expr) -> None:
        self._expr = expr

    def parse(self, **options: Any) -> pl.Expr:
        """Returns an expression of structs, for ``unnest`` or ``struct.field``. Options are those of :class:`urlmill.Parser`."""
        parser = Parser(**{"batch_rows": _BATCH, **options})
        return self._expr.map_batches(lambda s: _parse(s, parser), return_dtype=dtype(parser), is_elementwise=True)
