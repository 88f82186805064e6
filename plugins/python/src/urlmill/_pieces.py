"""Parquet files in pieces of about the same size: what the tasks of a cluster read."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as fs
import pyarrow.parquet as pq

from ._library import Error
from ._parser import Parser


@dataclass(frozen=True)
class Key:
    """A column that is the same in a whole file: it is in the file's path (``day=2026-11-22/``), not in the file."""

    name: str
    type: pa.DataType
    value: Any


@dataclass(frozen=True)
class Piece:
    """A run of row groups of a file, which one task reads."""

    path: str
    first: int  # row group
    last: int  # not in it
    number: int  # of the piece among all, which its output is named after
    keys: tuple[Key, ...] = ()


@dataclass(frozen=True)
class File:
    """A file, as its folder names it."""

    system: fs.FileSystem
    path: str  # in the system
    uri: str  # path with the scheme of the system, for other processes
    keys: tuple[Key, ...]


def files(source: str | Sequence[str]) -> Iterator[File]:
    """Returns the files that are named, and the Parquet files in the folders that are, in order. A name may hold * and
    [a-z], and ? where it is no URI."""
    for uri in [source] if isinstance(source, str) else source:
        system, path = opened(uri)
        scheme = uri.partition("://")[0] + "://" if "://" in uri and not uri.startswith("file:") else ""
        found, base = _files(system, path)
        keys = _keys(system, found, base)
        for file in found:
            yield File(system, file, scheme + file, keys.get(file, ()))


def opened(uri: str) -> tuple[fs.FileSystem, str]:
    """Returns the file system of a path or URI, and the path in it, which is the same in processes that run elsewhere."""
    if "://" not in uri and not uri.startswith("file:"):
        return fs.LocalFileSystem(), os.path.abspath(uri)
    system, path = fs.FileSystem.from_uri(uri)
    return system, path


def split(source: str | Sequence[str], piece_bytes: int, where: pc.Expression | None = None) -> list[Piece]:
    """Returns the pieces of files, or of all Parquet files in folders, of about so many bytes each. where leaves out row groups
    that have no such rows, by their statistics."""
    pieces: list[Piece] = []
    for file in files(source):
        with pq.ParquetFile(file.path, filesystem=file.system) as parquet:
            metadata = parquet.metadata
            names = {*parquet.schema_arrow.names}
        keys = tuple(k for k in file.keys if k.name not in names)
        wanted = set(range(metadata.num_row_groups)) if where is None else _groups(file, keys, where)
        first, size = 0, 0
        for group in range(metadata.num_row_groups):
            if group not in wanted:
                first, size = group + 1, 0
                continue
            size += metadata.row_group(group).total_byte_size
            if size >= piece_bytes or group + 1 not in wanted:
                pieces.append(Piece(file.uri, first, group + 1, len(pieces), keys))
                first, size = group + 1, 0
    return pieces


def _groups(file: File, keys: Sequence[Key], where: pc.Expression) -> set[int]:
    known = [pc.field(k.name).is_null() if k.value is None else pc.field(k.name) == pa.scalar(k.value, k.type) for k in keys]
    partition = reduce(lambda a, b: a & b, known) if known else pc.scalar(True)
    fragment = ds.ParquetFileFormat().make_fragment(file.path, file.system, partition)
    schema = pa.schema([*fragment.physical_schema, *(pa.field(k.name, k.type) for k in keys)])
    return {g.id for part in fragment.split_by_row_group(where, schema=schema) for g in part.row_groups}


def _files(system: fs.FileSystem, path: str) -> tuple[list[str], str]:
    """Returns the files that a path names, and the folder below which the names of folders say something of them."""
    info = system.get_file_info(path)
    if info.type == fs.FileType.File:
        return [path], path.rpartition("/")[0]
    if info.type == fs.FileType.NotFound:
        if any(c in path for c in _WILD):
            return _matching(system, path)
        raise Error(f"{path}: there is no such file or folder")
    return _below(system, path), path.rstrip("/")


_WILD = "*?["


def _below(system: fs.FileSystem, folder: str) -> list[str]:
    found = system.get_file_info(fs.FileSelector(folder, recursive=True))
    names = sorted(f.path for f in found if f.type == fs.FileType.File and f.path.endswith(".parquet"))
    return [f for f in names if not any(part.startswith(("_", ".")) for part in _relative(f, folder).split("/"))]


def _matching(system: fs.FileSystem, pattern: str) -> tuple[list[str], str]:
    """The files and the folders' files that a pattern names, and the folder before it; * stays within a name."""
    parts = pattern.split("/")
    fixed = next(i for i, part in enumerate(parts) if any(c in part for c in _WILD))
    base = "/".join(parts[:fixed]) or ("/" if pattern.startswith("/") else ".")
    there = [base]
    for part in parts[fixed:]:
        inside = [i for d in there for i in system.get_file_info(fs.FileSelector(d, allow_not_found=True)) if fnmatch.fnmatchcase(i.base_name, part)]
        there = sorted(i.path for i in inside)
    of = {i.path: i.type for i in system.get_file_info(there)} if there else {}
    names = [f for p in there for f in ([p] if of[p] == fs.FileType.File else _below(system, p))]
    if not names:
        raise Error(f"{pattern}: there are no such files")
    return names, base


def _relative(file: str, folder: str) -> str:
    """file without the folder at its beginning, where it is there."""
    folder = folder.rstrip("/") + "/"
    return file[len(folder) :] if file.startswith(folder) else file


def _keys(system: fs.FileSystem, found: Sequence[str], base: str) -> dict[str, tuple[Key, ...]]:
    """What the folders between base and the files say, as Hive writes it: integers where all are, else text."""
    named = [f for f in found if "=" in _relative(f, base).rpartition("/")[0]]
    if not named:
        return {}
    dataset = ds.FileSystemDatasetFactory(
        system, named, ds.ParquetFileFormat(), ds.FileSystemFactoryOptions(partition_base_dir=base, partitioning=ds.HivePartitioning.discover())
    )
    schema = dataset.inspect()
    keys: dict[str, tuple[Key, ...]] = {}
    for fragment in dataset.finish().get_fragments():
        of = ds.get_partition_keys(fragment.partition_expression)
        keys[fragment.path] = tuple(Key(f.name, f.type, of[f.name]) for f in schema if f.name in of)
    return keys


def open_piece(piece: Piece, columns: Sequence[str] | None, batch_rows: int) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Returns the batches of a piece, read by this thread: the columns named, None for all."""
    system, path = opened(piece.path)
    parquet = pq.ParquetFile(path, filesystem=system, pre_buffer=True)
    schema = chosen(piece.path, _with_keys(parquet.schema_arrow, piece.keys), columns)
    constant = {k.name: k for k in piece.keys}

    def batches() -> Iterator[pa.RecordBatch]:
        groups = list(range(piece.first, piece.last))
        of_file = [c for c in schema.names if c not in constant]
        with parquet:
            for batch in parquet.iter_batches(batch_rows, row_groups=groups, columns=of_file, use_threads=False):
                arrays = [
                    pa.repeat(pa.scalar(constant[c].value, constant[c].type), batch.num_rows) if c in constant else batch.column(c)
                    for c in schema.names
                ]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return schema, batches()


def needed(parser: Parser) -> list[str] | None:
    """The columns of the input that a parser needs, None for all."""
    if parser.carry is None or parser.url is None:
        return None
    return list(dict.fromkeys([parser.url, *parser.carry, *([parser.base] if parser.base else [])]))


def chosen(path: str, schema: pa.Schema, columns: Sequence[str] | None) -> pa.Schema:
    """The columns named of what path has, None for all."""
    if columns is None:
        return schema
    for c in columns:
        if c not in schema.names:
            raise Error(f"{path}: there is no column {c!r}; there are {', '.join(schema.names)}")
    return pa.schema([schema.field(c) for c in columns])


def _with_keys(schema: pa.Schema, keys: Sequence[Key]) -> pa.Schema:
    """The columns of a file, and behind them those of its path."""
    return pa.schema([*schema.remove_metadata(), *(pa.field(k.name, k.type) for k in keys if k.name not in schema.names)])


def first_schema(source: str | Sequence[str]) -> pa.Schema:
    """Returns the columns of the first file, which the others are read as."""
    for file in files(source):
        return _with_keys(pq.read_schema(file.path, filesystem=file.system), file.keys)
    raise Error(f"{source}: there are no Parquet files (*.parquet)")


def conformed(batch: pa.RecordBatch, target: pa.Schema) -> pa.RecordBatch:
    """Returns the columns of target out of a batch, in its types. Nothing is copied where they are the same."""

    def cast(array: pa.Array, to: pa.DataType) -> pa.Array:
        return array if array.type.equals(to) else array.cast(to, safe=not pa.types.is_timestamp(to))

    return pa.RecordBatch.from_arrays([cast(batch.column(f.name), f.type) for f in target], schema=target)
