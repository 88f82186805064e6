"""Parquet files into Parquet files with columns of URLs, a piece at a time: what a task of a cluster does."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.fs as fs
import pyarrow.parquet as pq

from ._parser import Parser
from ._pieces import Piece, open_piece, opened


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
    system, folder = opened(target)
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
