"""What callers give: texts that become Arrow arrays, and streams of record batches. All that cannot be taken is refused by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

import pyarrow as pa

from ._library import Error
from ._once import is_plain

TEXT = "string, large_string, string_view, one of their binary kin, or a dictionary of one"


def texts(given: Any, what: str) -> pa.Array | pa.ChunkedArray:
    """Returns texts as chunks where they are chunks, and as an array otherwise: but as chunks where no array can hold them.

    what names them in errors. Objects of pandas and numpy, lists and iterators may have bytes for texts, and None, NaN or
    pandas.NA for nulls. Unpaired surrogates become U+FFFD, as they do in browsers.
    """
    if not isinstance(given, (pa.Array, pa.ChunkedArray)):
        given = _converted(given, what)
    if not is_plain(given.type) and not _is_text(given.type):
        more = ": decode it with pyarrow.compute.run_end_decode" if pa.types.is_run_end_encoded(given.type) else ""
        raise Error(f"{what} of type {given.type}, which are no text; give {TEXT}{more}")
    return given


def is_chunks(given: Any) -> bool:
    """Whether the answer to given is chunks: it is a stream of arrays, and no series."""
    return isinstance(given, pa.ChunkedArray) or (hasattr(given, "__arrow_c_stream__") and not _is_of(given, "pandas", "polars"))


def _is_of(given: Any, *packages: str) -> bool:
    return type(given).__module__.partition(".")[0] in packages


def _is_text(of: pa.DataType) -> bool:
    t = pa.types
    if isinstance(of, pa.BaseExtensionType):
        return _is_text(of.storage_type)
    if t.is_dictionary(of):
        return not t.is_dictionary(of.value_type) and _is_text(of.value_type)
    views = (getattr(t, name, None) for name in ("is_string_view", "is_binary_view"))  # pyarrow 15 has none
    tests = (t.is_string, t.is_large_string, t.is_binary, t.is_large_binary, t.is_null, *filter(None, views))
    return any(is_one(of) for is_one in tests)


def _converted(given: Any, what: str) -> pa.Array | pa.ChunkedArray:
    if given is None or isinstance(given, (str, bytes, bytearray, memoryview, pa.Scalar)):
        raise TypeError(f"{what} is one {type(given).__name__}, and no column of texts; put it into a list")
    if isinstance(given, (Mapping, Set)):
        raise TypeError(f"{what} is a {type(given).__name__}; rows have an order: give a list")
    if isinstance(given, (pa.Table, pa.RecordBatch)) or type(given).__name__ in ("DataFrame", "LazyFrame"):
        raise TypeError(f"{what} is a {type(given).__name__}; give one of its columns, or the whole of it to Parser.table")
    if _is_of(given, "polars"):
        return given.to_arrow()
    if is_chunks(given):
        return pa.chunked_array(given)
    if hasattr(given, "__arrow_c_array__"):
        return pa.array(given)
    if not isinstance(given, Iterable):
        raise TypeError(f"{what} is a {type(given).__name__}; give an array of pyarrow, a series, or a list")
    if not hasattr(given, "__len__"):
        given = list(given)  # it may be gone through twice
    try:
        made = pa.array(given, from_pandas=True)
    except UnicodeEncodeError:
        made = pa.array([_without_surrogates(text) for text in given], from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as e:
        raise TypeError(f"{what}: {e}; give texts, bytes and None") from None
    return pa.nulls(len(made)) if made.null_count == len(made) else made  # without texts its type is a guess


def _without_surrogates(text: Any) -> Any:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if isinstance(text, str) else text


def batches(given: Any) -> pa.RecordBatchReader:
    """Returns a reader of record batches."""
    if isinstance(given, pa.RecordBatchReader):
        return given
    if isinstance(given, pa.RecordBatch):
        return pa.RecordBatchReader.from_batches(given.schema, [given])
    if _is_of(given, "pyarrow") and hasattr(given, "scanner"):  # a dataset
        given = given.scanner()
    if _is_of(given, "pyarrow") and hasattr(given, "to_reader"):  # a table, a scanner
        return given.to_reader()
    if type(given).__name__ == "DataFrame" and not hasattr(given, "__arrow_c_stream__"):  # before pandas 2.2 and Polars 1.3
        return (given.to_arrow() if _is_of(given, "polars") else pa.Table.from_pandas(given)).to_reader()
    try:
        if hasattr(given, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(given)
        if hasattr(given, "__arrow_c_array__"):
            return batches(pa.record_batch(given))
    except pa.ArrowInvalid:
        raise TypeError(f"a {type(given).__name__} is no table; Parser.parse is for columns of URLs") from None
    raise TypeError(
        f"a {type(given).__name__} is no stream of record batches; give a Table, RecordBatch, RecordBatchReader or Dataset of pyarrow, a data"
        " frame, or anything else that has __arrow_c_stream__. Parser.map_batches is for iterators of record batches"
    )
