"""Columns of URLs into columns of their parts, by the WHATWG URL Standard.

>>> import pyarrow as pa, urlmill
>>> urlmill.parse(pa.array(["https://www.example.co.uk/a/../b?q=1"]), columns=["registrable_domain", "path"]).to_pylist()
[{'registrable_domain': 'example.co.uk', 'path': '/b'}]

The library under it is loaded at the first use, not at the import, and again in a forked child: see :mod:`urlmill._library`.
For hosts: :mod:`urlmill.spark`, :mod:`urlmill.polars`, :mod:`urlmill.duckdb`, :mod:`urlmill.pandas`.
"""

from __future__ import annotations

from ._library import Error, version
from ._parser import Canonical, Parser, Promote, map_batches, parse

__all__ = ["Canonical", "Error", "Parser", "Promote", "__version__", "map_batches", "parse", "version"]

__version__ = "0.1.0"
