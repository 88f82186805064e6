"""Arrays one by one, without streams, which cost more than the parsing where rows are few.

What is the same for all calls is made once: the schemas that go in, and the types of what comes out.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from ._library import Processor

_Pair = ctypes.c_int64 * 20  # two structs ArrowArray, of ten words each
_ARRAY = 80  # bytes of one

# What texts may be of, without types that have parameters: a number tells such a type.
_plain: dict[int, pa.DataType] = {
    t.id: t for t in [pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.null(), *(getattr(pa, v)() for v in ("string_view", "binary_view") if hasattr(pa, v))]
}


def is_plain(of: pa.DataType) -> bool:
    """Whether it is a type of texts that can be told by a number."""
    return of.id in _plain


@lru_cache(maxsize=None)  # of pairs of few types
def _schema(urls: int, bases: int | None) -> Any:
    """The schema of an array of URLs, or of a record batch of URLs and their bases, for the library to look at."""
    schema = (ctypes.c_int64 * 9)()  # a struct ArrowSchema; kept for as long as the process lives
    if bases is None:
        _plain[urls]._export_to_c(ctypes.addressof(schema))
    else:
        pa.schema([("url", _plain[urls]), ("base", _plain[bases])])._export_to_c(ctypes.addressof(schema))
    return schema


def parse(processor: Processor, urls: pa.Array, bases: pa.Array | None, of: pa.StructType) -> pa.StructArray | None:
    """Returns what the processor makes of texts of plain types; None where they are too large for it. of is the type of the result."""
    pair = _Pair()
    given = ctypes.addressof(pair)
    out = given + _ARRAY
    if bases is None:
        schema = _schema(urls.type.id, None)
        urls._export_to_c(given)
    else:
        schema = _schema(urls.type.id, bases.type.id)
        pa.RecordBatch.from_arrays([urls, bases], names=["url", "base"])._export_to_c(given)
    if not processor.parse_array(ctypes.addressof(schema), given, out):
        return None
    return pa.Array._import_from_c(out, of)
