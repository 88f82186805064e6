"""Writes vectors.json: records as fastavro writes them. pip install fastavro; python3 vectors.py > vectors.json"""
import datetime as dt
import decimal
import io
import json
import uuid

import fastavro

SCHEMA = {
    "type": "record", "name": "Click", "namespace": "org.example", "fields": [
        {"name": "id", "type": "long"},
        {"name": "url", "type": ["null", "string"]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "exact", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "clock", "type": {"type": "long", "logicalType": "time-micros"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 30, "scale": 3}},
        {"name": "fixed_price", "type": {"type": "fixed", "name": "Money", "size": 8, "logicalType": "decimal", "precision": 18, "scale": 2}},
        {"name": "session", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["VIEW", "BUY"]}},
        {"name": "ok", "type": "boolean"},
        {"name": "share", "type": "double"},
        {"name": "half", "type": "float"},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "headers", "type": {"type": "map", "values": "string"}},
        {"name": "raw", "type": "bytes"},
    ],
}
UTC = dt.timezone.utc


def record(**changes):
    r = {
        "id": 2**62, "url": "https://a.example/ü", "at": dt.datetime(2026, 11, 21, 12, 0, 0, 123000, UTC),
        "exact": dt.datetime(1969, 12, 31, 23, 59, 59, 999999, UTC), "day": dt.date(2026, 11, 21), "clock": dt.time(1, 2, 3, 4),
        "price": decimal.Decimal("-123456789012345678901.5"), "fixed_price": decimal.Decimal("-0.07"),
        "session": uuid.UUID("12345678-1234-5678-1234-567812345678"), "kind": "BUY", "ok": True, "share": -0.1, "half": 1.5,
        "tags": ["a", "b", "c"], "headers": {"Referer": "https://r.example/"}, "raw": b"plain",
    }
    r.update(changes)
    return r


WANT = {
    "id": 2**62, "at": 1795262400123000, "exact": -1, "day": "2026-11-21", "clock": "01:02:03.000004", "price": "-123456789012345678901.500",
    "fixed_price": "-0.07", "session": "12345678-1234-5678-1234-567812345678", "kind": "BUY", "ok": True, "share": -0.1, "half": 1.5,
    "tags/2": "c", "headers/Referer": "https://r.example/", "raw": "plain", "url": "https://a.example/ü",
}

parsed = fastavro.parse_schema(SCHEMA)
vectors = []
for changes, differ in [
    ({}, {}),
    ({"id": -(2**63), "url": None, "kind": "VIEW", "ok": False, "tags": [], "headers": {}, "price": decimal.Decimal("0")},
     {"id": -(2**63), "url": None, "kind": "VIEW", "ok": False, "tags/2": None, "headers/Referer": None, "price": "0.000"}),
]:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, parsed, record(**changes))
    vectors.append({"record": out.getvalue().hex(), "want": {**WANT, **differ}})
print(json.dumps({"schema": json.dumps(SCHEMA), "vectors": vectors}, indent=1, ensure_ascii=False))
