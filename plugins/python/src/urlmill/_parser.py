"""What all hosts share: options, and streams of record batches."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any, Literal, overload

import pyarrow as pa

from . import _given, _once
from ._library import Error, Processor, Stream


_Texts = Iterable["str | bytes | None"]


def _names(option: str, names: Any) -> list[str]:
    """Returns names as a list, or raises a TypeError."""
    if isinstance(names, (str, bytes)):
        raise TypeError(f"{option} is a text; give a list of names")
    if isinstance(names, Set) and len(names) > 1:
        raise TypeError(f"{option} is a set, which has no order; give a list of names")
    listed = list(names)
    for name in listed:
        _text(option, name)
    return listed


def _text(option: str, text: Any) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{option} is to be a text; {text!r} is of type {type(text).__name__}")


@dataclass(frozen=True)
class Promote:
    """A parameter of the query that has a column of its own.

    param: its name
    name: of the column; "" for that of the parameter
    also: other names of the parameter, to look for where the query does not have it
    take: which value, if there are several: "first", "last", or "all" as a list
    """

    param: str
    name: str = ""
    also: Sequence[str] = ()
    take: Literal["first", "last", "all"] = "first"

    def __post_init__(self) -> None:
        for option in ("param", "name", "take"):
            _text(f"promote: {option}", getattr(self, option))
        object.__setattr__(self, "also", tuple(_names("promote: also", self.also)))


@dataclass(frozen=True)
class Canonical:
    """The canonical form of the columns canonical_url and url_key: "strict", "dedupe", "surt-cc" or "surt-ia".

    with_steps, without_steps: names of steps to take, or not to take, beside those of the form
    """

    form: str = "dedupe"
    with_steps: Sequence[str] = ()
    without_steps: Sequence[str] = ()

    def __post_init__(self) -> None:
        _text("canonical: form", self.form)
        for option in ("with_steps", "without_steps"):
            object.__setattr__(self, option, tuple(_names(f"canonical: {option}", getattr(self, option))))


@dataclass(frozen=True, kw_only=True, eq=False)
class Parser:
    """A set of options for columns of URLs. It is immutable, can be pickled, and may be used by many threads at once.

    Where the URLs are:

    url: name of the column with the URLs; None for the only column, else "url"
    base: name of the column with a base URL for every row
    base_url: base URL of the rows without one
    carry: names of the other columns that go along; None for all

    What becomes of them, as ``columns:`` in urlmill's configuration has it:

    columns: columns of the URL, in their order; None for the usual ones, up to raw: url, href, scheme, has_username, host, port,
        origin, registrable_domain, public_suffix, path, query, params, fragment, url_error, url_error_pos, raw, effective_port,
        extension, surt_key, subdomain, registry_suffix, registry_domain, host_reversed, top_level_domain, host_2nd_last_part,
        host_3rd_last_part, host_4th_last_part, host_5th_last_part, kept_url, kept_front, userinfo, kept_origin, kept_public_suffix,
        kept_params.
        https://github.com/urlmill/urlmill/blob/main/docs/design/columns.md says what they hold
    exclude: columns to leave out
    rename: new names of columns
    profile: "commoncrawl", "ecs", "otel" or "snowplow": columns under the names that others use; "compact": nothing twice
    params: type of the column params, "list" or "map"
    promote: parameters with columns of their own: names, or :class:`Promote`
    canonical: adds canonical_url and url_key: the name of a form, or :class:`Canonical`
    tracking: "separate" for tracking parameters to go from params to tracking_params
    tracking_rules: path of a file of tracking rules
    psl: path of a Public Suffix List. Files are read once in a process
    batch_rows: most rows of a batch of the output; 0 for as many as the input's has
    """

    url: str | None = None
    base: str | None = None
    base_url: str | None = None
    carry: Sequence[str] | None = None
    columns: Sequence[str] | None = None
    exclude: Sequence[str] = ()
    rename: Mapping[str, str] = field(default_factory=dict)
    profile: str | None = None
    params: Literal["list", "map"] = "list"
    promote: Sequence[str | Promote] = ()
    canonical: str | Canonical | None = None
    tracking: Literal["keep", "separate"] = "keep"
    tracking_rules: str | os.PathLike[str] | None = None
    psl: str | os.PathLike[str] | None = None
    batch_rows: int = 0
    _options: str = field(init=False, repr=False, default="")  # JSON, as urlmill.h has it

    def __post_init__(self) -> None:
        self._check()
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

    def _check(self) -> None:
        """Raises a TypeError for an option of a wrong type, and keeps copies of those that could change."""
        for option in ("carry", "columns", "exclude"):
            if getattr(self, option) is not None:
                object.__setattr__(self, option, _names(option, getattr(self, option)))
        if self.columns is not None and not self.columns:
            raise Error("columns is empty; name at least one, or leave it out for the usual ones")
        for option in ("tracking_rules", "psl"):
            if getattr(self, option) is not None:
                object.__setattr__(self, option, os.fspath(getattr(self, option)))
        for option in ("url", "base", "base_url", "profile", "params", "tracking", "tracking_rules", "psl"):
            if getattr(self, option) is not None:
                _text(option, getattr(self, option))
        if not isinstance(self.rename, Mapping):
            raise TypeError("rename is to be a mapping of columns to their new names")
        if isinstance(self.promote, (str, Promote)):
            raise TypeError("promote is one parameter; give a list of them")
        object.__setattr__(self, "promote", list(self.promote))
        for p in self.promote:
            if not isinstance(p, (str, Promote)):
                raise TypeError(f"promote has {p!r}; give names of parameters, or urlmill.Promote")
        if not isinstance(self.canonical, (str, Canonical, type(None))):
            raise TypeError(f"canonical is {self.canonical!r}; give the name of a form, or urlmill.Canonical")
        if not isinstance(self.batch_rows, int):
            raise TypeError(f"batch_rows is {self.batch_rows!r}; give a number of rows, 0 for any")

    def stream(self, batches: Any) -> pa.RecordBatchReader:
        """Returns a reader of what becomes of a stream of record batches, batch by batch as they are asked for.

        batches is a RecordBatchReader, Table, RecordBatch or Dataset of pyarrow, a data frame, or anything else that has
        ``__arrow_c_stream__`` or is a struct with ``__arrow_c_array__``.
        """
        reader = _given.batches(batches)
        given, out = Stream(), Stream()
        processor = _processor(self._options)
        reader._export_to_c(ctypes.addressof(given))
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
        """The type of what :meth:`parse` returns; without bases, but where ``base`` asks for them."""
        return self._type(self.base is not None)

    def _type(self, bases: bool) -> pa.StructType:
        """The type of what :meth:`parse` returns. With bases there may be the column base_url. Raises what it raises."""
        self._check_bases(bases)
        return _made(self._options, bases)

    # For those who have types of pyarrow: without, it is Any, and the one overload hides the other.
    @overload
    def parse(self, urls: pa.ChunkedArray, bases: pa.ChunkedArray | pa.Array | None = None) -> pa.ChunkedArray: ...
    @overload
    def parse(self, urls: pa.Array | _Texts, bases: pa.ChunkedArray | pa.Array | _Texts | None = None) -> pa.StructArray: ...

    def parse(self, urls: Any, bases: Any = None) -> Any:
        """Returns a struct of the columns for every URL, in their order: an array for an array, a list or a series, and chunks
        for chunks, that is for a ChunkedArray or anything else that has ``__arrow_c_stream__``.

        bases has a base URL for every row, or None. Lists, iterators, series and arrays of numpy may have texts or bytes, and
        None, NaN or pandas.NA for nulls.

        An array cannot hold more than 2 GiB of one column. That is an :class:`Error` for an array, and never happens to chunks.
        """
        self._check_bases(bases is not None)
        columns = [_given.texts(urls, "urls")]
        if bases is not None:
            columns.append(_given.texts(bases, "bases"))
            if len(columns[0]) != len(columns[1]):
                raise Error(f"{len(columns[0])} URLs and {len(columns[1])} bases; give one for every URL, None for those that have none")
        parts, of = self._once(columns) or self._streamed(columns)
        if _given.is_chunks(urls):
            return pa.chunked_array(parts, type=of)
        return parts[0] if len(parts) == 1 else _joined(parts, of)

    def _once(self, columns: list[pa.Array | pa.ChunkedArray]) -> tuple[list[pa.StructArray], pa.StructType] | None:
        """What becomes of columns, chunk by chunk without a stream; None where that is not possible."""
        if not all(_once.is_plain(c.type) for c in columns):
            return None
        chunks = [c.chunks if isinstance(c, pa.ChunkedArray) else [c] for c in columns]
        if len(chunks) == 2 and [len(c) for c in chunks[0]] != [len(c) for c in chunks[1]]:
            return None
        if self.batch_rows and isinstance(columns[0], pa.ChunkedArray) and any(len(c) > self.batch_rows for c in chunks[0]):
            return None
        processor, of = _processor(self._alone(len(columns) == 2)._options), _made(self._options, len(columns) == 2)
        parts = []
        for given in zip(*chunks, strict=True):
            part = _once.parse(processor, given[0], given[1] if len(given) == 2 else None, of)
            if part is None:
                return None
            parts.append(part)
        return parts, of

    def _streamed(self, columns: list[pa.Array | pa.ChunkedArray]) -> tuple[list[pa.StructArray], pa.StructType]:
        names = ["url", "base"][: len(columns)]
        if any(isinstance(c, pa.ChunkedArray) for c in columns):
            given: pa.Table | pa.RecordBatch = pa.table(columns, names=names)
        else:
            given = pa.RecordBatch.from_arrays(columns, names=names)
        out = self._alone(len(columns) == 2).stream(given)
        return [b.to_struct_array() for b in out], pa.struct(list(out.schema))

    def _check_bases(self, given: bool) -> None:
        if self.base is not None and not given:
            raise Error(f"base names the column {self.base!r} of a table; for a column of URLs, give bases beside it")

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


@lru_cache(maxsize=64)
def _made(options: str, bases: bool) -> pa.StructType:
    """The type of what becomes of columns by these options."""
    given = pa.schema([("url", pa.string()), ("base", pa.string())][: 1 + bases])
    return pa.struct(list(_alone(options, bases).schema(given)))


def _joined(parts: list[pa.StructArray], of: pa.StructType) -> pa.StructArray:
    try:
        return pa.concat_arrays(parts) if parts else pa.array([], of)
    except pa.ArrowInvalid as e:
        raise Error(f"what becomes of the URLs does not fit into one array ({e}); give chunks, pa.chunked_array([urls]), or ask for fewer columns") from None


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


@overload
def parse(urls: pa.ChunkedArray, bases: pa.ChunkedArray | pa.Array | None = None, **options: Any) -> pa.ChunkedArray: ...
@overload
def parse(urls: pa.Array | _Texts, bases: pa.ChunkedArray | pa.Array | _Texts | None = None, **options: Any) -> pa.StructArray: ...


def parse(urls: Any, bases: Any = None, **options: Any) -> Any:
    """Returns a struct of columns for every URL: ``parse(pa.Array) -> pa.StructArray``, chunks for chunks; see :meth:`Parser.parse`.

    Options are those of :class:`Parser`. Rows are as many and in the order of urls; one that is no URL has its reason in
    ``url_error``.
    """
    return parser(**options).parse(urls, bases)


_parsers: dict[tuple[Any, ...], Parser] = {}


def parser(**options: Any) -> Parser:
    """Returns Parser(**options), the same for the same options as a rule: to check them takes as long as to parse some hundred URLs."""
    try:
        key = tuple((name, type(value), tuple(value.items()) if isinstance(value, dict) else tuple(value) if isinstance(value, list) else value)
                    for name, value in options.items() if type(value) in _KEYS)  # fmt: skip
        if len(key) < len(options):
            return Parser(**options)
        known = _parsers.get(key)
    except TypeError:  # something in a list cannot be hashed
        return Parser(**options)
    if known is None:
        known = Parser(**options)
        if len(_parsers) >= 64:
            _parsers.clear()
        _parsers[key] = known
    return known


_KEYS = {str, int, type(None), list, tuple, dict, Promote, Canonical}  # of options: equal ones make equal parsers


def map_batches(url: str | None = None, **options: Any) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Returns a function of record batches that Spark's ``DataFrame.mapInArrow`` takes. It can be pickled.

    url names the column with the URLs; the others go along. Options are those of :class:`Parser`. The library is loaded where
    the function is called.
    """
    parser = Parser(url=url, **options)

    def mapped(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from parser.map_batches(batches)

    return mapped
