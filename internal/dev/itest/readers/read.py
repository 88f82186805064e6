"""Reads a Parquet or Arrow file with pyarrow and prints it as JSON, a value a line.

Usage: read.py FORMAT PATH, with FORMAT one of parquet, arrow, stream, json.

The first line tells about the file, every other one is a row as [[column, value], ...]. Values that JSON does not
have, or not exactly, are objects with the type as their only key.
"""

import json
import sys

try:
    import pyarrow as pa
    import pyarrow.ipc
    import pyarrow.json
    import pyarrow.parquet as pq
except ImportError as e:
    print(json.dumps({"unavailable": str(e)}))
    sys.exit(0)


def plain(value, kind):
    """Returns a Python value of an Arrow type in the form described above."""
    if value is None or isinstance(value, bool):
        return value
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [plain(v, kind.value_type) for v in value]
    if pa.types.is_struct(kind):
        return {"struct": [[f.name, plain(value[f.name], f.type)] for f in kind]}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, float):
        return {"float": value.hex() if value == value else "nan"}
    if isinstance(value, int):
        return {"int": str(value)}
    return value


def numbers(column):
    """Turns timestamps and dates into integers, which Python's own cannot hold in full."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
        nanos = 10**9 // per_second
        return [None if v is None else {"nanos": str(v * nanos)} for v in column.cast(pa.int64()).to_pylist()]
    if pa.types.is_date32(kind):
        return [None if v is None else {"nanos": str(v * 86400 * 10**9)} for v in column.cast(pa.int32()).to_pylist()]
    return [plain(v, kind) for v in column.to_pylist()]


def strings(metadata):
    """Returns key-value metadata as strings."""
    return {k.decode(): v.decode() for k, v in (metadata or {}).items()}


def about_parquet(path):
    """Returns what the footer says, with the statistics of every column chunk."""
    with pq.ParquetFile(path) as f:
        meta = f.metadata
        groups = []
        for g in range(meta.num_row_groups):
            group = meta.row_group(g)
            chunks = []
            for c in range(group.num_columns):
                chunk = group.column(c)
                stats = chunk.statistics
                chunks.append({
                    "path": chunk.path_in_schema,
                    "compression": chunk.compression,
                    "values": chunk.num_values,
                    "nulls": stats.null_count if stats is not None and stats.has_null_count else None,
                    "distinct": stats.distinct_count if stats is not None and stats.has_distinct_count else None,
                    "bounded": stats is not None and stats.has_min_max,
                })
            groups.append({"rows": group.num_rows, "chunks": chunks})
        return {
            "rows": meta.num_rows,
            "created_by": meta.created_by,
            "schema": str(meta.schema),
            "groups": groups,
            "metadata": strings(meta.metadata),
        }


def main():
    form, path = sys.argv[1:]
    about = {}
    if form == "parquet":
        about = about_parquet(path)
        table = pq.read_table(path, page_checksum_verification=True)
    elif form == "arrow":
        with pa.ipc.open_file(path) as f:
            table = f.read_all()
    elif form == "stream":
        with open(path, "rb") as src, pa.ipc.open_stream(src) as f:
            table = f.read_all()
    else:
        table = pyarrow.json.read_json(path)
    table.validate(full=True)
    about["types"] = {f.name: str(f.type) + ("" if f.nullable else " not null") for f in table.schema}
    about.setdefault("metadata", strings(table.schema.metadata))
    about["version"] = pa.__version__
    print(json.dumps(about))
    columns = [numbers(c) for c in table.columns]
    for row in zip(*columns):
        print(json.dumps(list(zip(table.column_names, row))))


main()
