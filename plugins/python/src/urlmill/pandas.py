"""urlmill in pandas: importing this module gives series the accessor ``urlmill``.

>>> import pandas as pd, urlmill.pandas
>>> pd.Series(["https://www.example.co.uk/a"]).urlmill.parse(columns=["host", "path"]).loc[0, "host"]
'www.example.co.uk'
"""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa

from ._parser import Parser

__all__ = ["Accessor"]


@pd.api.extensions.register_series_accessor("urlmill")
class Accessor:
    """``series.urlmill``"""

    def __init__(self, series: pd.Series) -> None:
        self._series = series

    def parse(self, **options: Any) -> pd.DataFrame:
        """Returns a data frame with a column for every part, of Arrow's types, and with the index of the series.

        Options are those of :class:`urlmill.Parser`.
        """
        urls = pa.array(self._series, type=pa.large_string(), from_pandas=True)
        if isinstance(urls, pa.ChunkedArray):
            urls = urls.combine_chunks()
        parts = pa.Table.from_batches([pa.RecordBatch.from_struct_array(Parser(**options).parse(urls))])
        frame = parts.to_pandas(types_mapper=pd.ArrowDtype)
        frame.index = self._series.index
        return frame
