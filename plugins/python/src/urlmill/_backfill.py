"""Parquet files into Parquet files with columns of URLs, a piece at a time: what a task of a cluster does."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.fs as fs
import pyarrow.parquet as pq

from ._library import Error
from ._parser import Parser


@dataclass(frozen=True)
class Piece:
    """A run of row groups of a file, which one task reads."""

    path: str
    first: int  # row group
    last: int  # not in it
    number: int  # of the piece among all, which its output is named after


def split(source: str | Sequence[str], piece_bytes: int) -> list[Piece]:
    """Returns the pieces of files, or of all Parquet files in folders, of about so many bytes each."""
    pieces: list[Piece] = []
    for uri in [source] if isinstance(source, str) else source:
        system, path = fs.FileSystem.from_uri(uri) if "://" in uri else (fs.LocalFileSystem(), uri)
        scheme = uri.partition("://")[0] + "://" if "://" in uri and not uri.startswith("file:") else ""
        for file in _files(system, path):
            with pq.ParquetFile(file, filesystem=system) as parquet:
                metadata = parquet.metadata
                first, size = 0, 0
                for group in range(metadata.num_row_groups):
                    size += metadata.row_group(group).total_byte_size
                    if size >= piece_bytes or group == metadata.num_row_groups - 1:
                        pieces.append(Piece(scheme + file, first, group + 1, len(pieces)))
                        first, size = group + 1, 0
    return pieces


def _files(system: fs.FileSystem, path: str) -> list[str]:
    info = system.get_file_info(path)
    if info.type == fs.FileType.File:
        return [path]
    if info.type == fs.FileType.NotFound:
        raise Error(f"{path}: there is no such file or folder")
    found = system.get_file_info(fs.FileSelector(path, recursive=True))
    files = sorted(f.path for f in found if f.type == fs.FileType.File and f.path.endswith(".parquet"))
    hidden = [f for f in files if any(part.startswith(("_", ".")) for part in f[len(path) :].split("/"))]
    return [f for f in files if f not in hidden]


def open_piece(piece: Piece, columns: Sequence[str] | None, batch_rows: int) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Returns the batches of a piece, read by this thread."""
    system, path = fs.FileSystem.from_uri(piece.path) if "://" in piece.path else (fs.LocalFileSystem(), piece.path)
    parquet = pq.ParquetFile(path, filesystem=system, pre_buffer=True)
    schema = parquet.schema_arrow
    if columns is not None:
        schema = pa.schema([schema.field(c) for c in columns])

    def batches() -> Iterator[pa.RecordBatch]:
        groups = range(piece.first, piece.last)
        with parquet:
            yield from parquet.iter_batches(batch_rows, row_groups=list(groups), columns=columns and list(columns), use_threads=False)

    return schema.remove_metadata(), batches()


@dataclass(frozen=True)
class Written:
    """What a task has written."""

    path: str
    rows: int
    invalid: int  # rows that are no URL, where url_error is among the columns


def write_piece(piece: Piece, target: str, parser: Parser, columns: Sequence[str] | None, batch_rows: int, compression: str) -> Written:
    """Writes what becomes of a piece into the folder target. The file appears when it is complete, and under the same name when
    it is written again."""
    schema, given = open_piece(piece, columns, batch_rows)
    out = parser.stream(pa.RecordBatchReader.from_batches(schema, given))
    system, folder = fs.FileSystem.from_uri(target) if "://" in target else (fs.LocalFileSystem(), target)
    final = f"{folder}/part-{piece.number:05}.parquet"
    renames = isinstance(system, (fs.LocalFileSystem, fs.HadoopFileSystem))
    path = f"{folder}/_temporary-{uuid.uuid4().hex}" if renames else final  # objects of a store appear when they are closed
    rows = invalid = 0
    try:
        with pq.ParquetWriter(path, out.schema, filesystem=system, compression=compression) as writer:
            held: list[pa.RecordBatch] = []
            for batch in out:
                rows += batch.num_rows
                if "url_error" in batch.schema.names:
                    invalid += batch.num_rows - batch.column("url_error").null_count
                held.append(batch)
                if sum(b.num_rows for b in held) >= _GROUP_ROWS:
                    writer.write_table(pa.Table.from_batches(held), row_group_size=1 << 30)
                    held = []
            if held or rows == 0:
                writer.write_table(pa.Table.from_batches(held, out.schema), row_group_size=1 << 30)
    except BaseException:
        if renames and system.get_file_info(path).type == fs.FileType.File:
            system.delete_file(path)
        raise
    if renames:
        system.move(path, final)
    return Written(final, rows, invalid)


_GROUP_ROWS = 1 << 17
