"""What all hosts share: options, and streams of record batches."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any, Literal, overload

import pyarrow as pa

from ._library import Error, Processor, Stream


@dataclass(frozen=True)
class Promote:
    """A parameter of the query that has a column of its own."""

    param: str
    name: str = ""  #: of the column; "" for that of the parameter
    also: Sequence[str] = ()  #: names to look for where the query does not have it
    take: Literal["first", "last", "all"] = "first"


@dataclass(frozen=True)
class Canonical:
    """The canonical form of the columns canonical_url and url_key."""

    form: str = "dedupe"
    with_steps: Sequence[str] = ()
    without_steps: Sequence[str] = ()


def _names(option: str, names: Sequence[str] | None) -> list[str] | None:
    if isinstance(names, str):
        raise TypeError(f"{option} is a text; give a list of names")
    return None if names is None else list(names)


@dataclass(frozen=True, kw_only=True, eq=False)
class Parser:
    """A set of options for columns of URLs. It is immutable, can be pickled, and may be used by many threads at once.

    The options are those of ``columns:`` in urlmill's configuration, and where the URLs are.
    """

    url: str | None = None  #: column with the URLs; None for the only column, else "url"
    base: str | None = None  #: column with a base URL for every row
    base_url: str | None = None  #: base URL of rows without one
    carry: Sequence[str] | None = None  #: other columns that go along; None for all
    columns: Sequence[str] | None = None  #: columns of the URL, in their order; None for the usual ones
    exclude: Sequence[str] = ()  #: columns to leave out
    rename: Mapping[str, str] = field(default_factory=dict)
    profile: str | None = None  #: "commoncrawl", "ecs", "otel", "snowplow"
    params: Literal["list", "map"] = "list"  #: type of the column params
    promote: Sequence[str | Promote] = ()  #: parameters with columns of their own
    canonical: str | Canonical | None = None  #: adds canonical_url and url_key
    tracking: Literal["keep", "separate"] = "keep"  #: "separate": tracking parameters go from params to tracking_params
    tracking_rules: str | None = None  #: path of a file of tracking rules
    psl: str | None = None  #: path of a Public Suffix List
    batch_rows: int = 0  #: most rows of a batch of the output; 0 for as many as the input's has
    _options: str = field(init=False, repr=False, default="")  # JSON, as urlmill.h has it

    def __post_init__(self) -> None:
        for option in ("carry", "columns", "exclude"):
            object.__setattr__(self, option, _names(option, getattr(self, option)))
        if self.columns is not None and not self.columns:
            raise Error("columns is empty; name at least one, or leave it out for the usual ones")
        promote = [Promote(p) if isinstance(p, str) else p for p in self.promote]
        canonical = Canonical(self.canonical) if isinstance(self.canonical, str) else self.canonical
        options: dict[str, Any] = {
            "url": self.url, "base": self.base, "base_url": self.base_url, "carry": self.carry, "include": self.columns,
            "exclude": self.exclude, "rename": dict(self.rename), "profile": self.profile, "params": self.params,
            "promote": [{"param": p.param, "name": p.name, "or": list(p.also), "take": p.take} for p in promote],
            "canonical": canonical and {"form": canonical.form, "with": list(canonical.with_steps), "without": list(canonical.without_steps)},
            "tracking": self.tracking, "tracking_rules": self.tracking_rules, "psl": self.psl, "batch_rows": self.batch_rows,
        }  # fmt: skip
        object.__setattr__(self, "_options", json.dumps({k: v for k, v in options.items() if v or (k == "carry" and v is not None)}))

    def stream(self, batches: Any) -> pa.RecordBatchReader:
        """Returns a reader of what becomes of a stream of record batches, batch by batch as they are asked for.

        batches is a pyarrow.RecordBatchReader, Table or RecordBatch, or anything with ``__arrow_c_stream__``.
        """
        if isinstance(batches, pa.RecordBatch):
            batches = pa.RecordBatchReader.from_batches(batches.schema, [batches])
        elif isinstance(batches, pa.Table):
            batches = batches.to_reader()
        elif not isinstance(batches, pa.RecordBatchReader):
            batches = pa.RecordBatchReader.from_stream(batches)
        given, out = Stream(), Stream()
        processor = _processor(self._options)
        batches._export_to_c(ctypes.addressof(given))
        processor.parse(ctypes.addressof(given), ctypes.addressof(out))
        try:
            return pa.RecordBatchReader._import_from_c(ctypes.addressof(out))
        except (pa.ArrowInvalid, ValueError) as e:
            raise Error(str(e)) from None

    def table(self, batches: Any) -> pa.Table:
        """Returns all that becomes of a stream, as :meth:`stream` takes it."""
        return self.stream(batches).read_all()

    def schema(self, given: pa.Schema) -> pa.Schema:
        """Returns the schema that the output has for input of the schema given."""
        return self.stream(pa.RecordBatchReader.from_batches(given, [])).schema

    @property
    def type(self) -> pa.StructType:
        """The type of what :meth:`parse` returns."""
        return pa.struct(list(self._alone().schema(_one("url", pa.string()))))

    # For those who have types of pyarrow: without, it is Any, and the one overload hides the other.
    @overload
    def parse(self, urls: pa.ChunkedArray, bases: pa.ChunkedArray | None = None) -> pa.ChunkedArray: ...
    @overload
    def parse(self, urls: pa.Array | Sequence[str | None], bases: pa.Array | Sequence[str | None] | None = None) -> pa.StructArray: ...

    def parse(self, urls: Any, bases: Any = None) -> Any:
        """Returns a struct of the columns for every URL: an array for an array or a list, chunks for chunks.

        bases has a base URL for every row, or None.
        """
        if isinstance(urls, pa.ChunkedArray):
            columns = [urls] if bases is None else [urls, bases]
            table = pa.table(columns, names=["url", "base"][: len(columns)])
            out = self._alone(bases is not None).stream(table)
            return pa.chunked_array([b.to_struct_array() for b in out], type=pa.struct(list(out.schema)))
        arrays = [a if isinstance(a, pa.Array) else pa.array(a, pa.string()) for a in (urls, bases) if a is not None]
        batch = pa.RecordBatch.from_arrays(arrays, names=["url", "base"][: len(arrays)])
        parts = [b.to_struct_array() for b in self._alone(bases is not None).stream(batch)]
        return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)

    def _alone(self, base: bool = False) -> Parser:
        """The parser of the columns url and base alone."""
        return _alone(self._options, base)

    def map_batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Returns what becomes of every batch. It is what Spark's ``mapInArrow`` takes."""
        rest = iter(batches)
        first = next(rest, None)
        if first is None:
            return
        yield from self.stream(pa.RecordBatchReader.from_batches(first.schema, chain([first], rest)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Parser) and self._options == other._options

    def __hash__(self) -> int:
        return hash(self._options)


@lru_cache(maxsize=64)
def _alone(options: str, base: bool) -> Parser:
    given = json.loads(options)
    parser = Parser()
    given.update(url="url", carry=[])
    given.pop("base", None)
    if base:
        given["base"] = "base"
    object.__setattr__(parser, "_options", json.dumps(given))
    return parser


def _one(name: str, of: pa.DataType) -> pa.Schema:
    return pa.schema([(name, of)])


_processors: dict[str, Processor] = {}


def _processor(options: str) -> Processor:
    """Returns the processor of these options, whose memory is used again from call to call."""
    p = _processors.get(options)
    if p is None or not p.is_of_this_process():
        p = Processor(options)
        if len(_processors) >= 64:
            _processors.clear()  # those in use are kept by who uses them
        _processors[options] = p
    return p


def parse(urls: Any, bases: Any = None, **options: Any) -> Any:
    """Returns a struct of columns for every URL: ``parse(pa.Array) -> pa.StructArray``, chunks for chunks.

    Options are those of :class:`Parser`. Rows are as many and in the order of urls; one that is no URL has its reason in
    ``url_error``.
    """
    return Parser(**options).parse(urls, bases)


def map_batches(url: str | None = None, **options: Any) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Returns a function of record batches that Spark's ``DataFrame.mapInArrow`` takes. It can be pickled.

    url names the column with the URLs; the others go along. Options are those of :class:`Parser`. The library is loaded where
    the function is called.
    """
    parser = Parser(url=url, **options)

    def mapped(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from parser.map_batches(batches)

    return mapped
