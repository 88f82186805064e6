"""urlmill in pandas: importing this module gives series the accessor ``urlmill``.

>>> import pandas as pd, urlmill.pandas
>>> pd.Series(["https://www.example.co.uk/a"]).urlmill.parse(columns=["host", "path"]).loc[0, "host"]
'www.example.co.uk'
"""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa

from . import _given
from ._library import Error
from ._parser import parser

__all__ = ["Accessor", "parse"]


@pd.api.extensions.register_series_accessor("urlmill")
class Accessor:
    """``series.urlmill``"""

    def __init__(self, series: pd.Series) -> None:
        self._series = series

    def parse(self, bases: Any = None, **options: Any) -> pd.DataFrame:
        """Returns a data frame with a column for every part, of Arrow's types, and with the index of the series.

        bases has a base URL for every row, or a null: a series with the same index, or anything else that
        :meth:`urlmill.Parser.parse` takes. Options are those of :class:`urlmill.Parser`. Texts may be bytes.
        """
        return parse(self._series, bases, **options)


def parse(urls: pd.Series, bases: Any = None, **options: Any) -> pd.DataFrame:
    """What :meth:`Accessor.parse` returns, for those who check types: an accessor has none."""
    if isinstance(bases, pd.Series) and not bases.index.equals(urls.index):
        raise Error("the bases have another index than the URLs: reindex them, or give bases.array")
    parts = parser(**options).parse(_chunks(urls), None if bases is None else _chunks(bases))
    # Not by Table.to_pandas, which takes twice the time of all the rest of a call with few rows.
    columns = {f.name: pd.arrays.ArrowExtensionArray(pa.chunked_array([c.field(i) for c in parts.chunks], f.type)) for i, f in enumerate(parts.type)}
    return pd.DataFrame(columns, index=urls.index, copy=False)


def _chunks(column: Any) -> pa.ChunkedArray:
    """Returns a column as chunks, so that what becomes of it may have any size."""
    given = _given.texts(column, "the series")
    return given if isinstance(given, pa.ChunkedArray) else pa.chunked_array([given])
