"""Writes vectors.json: rows as fastavro writes them. pip install fastavro; python3 vectors.py > vectors.json

Each column has the type that package avrorow is to give it, and beside each value, as fastavro takes it, the same as Arrow
for Go reads it from JSON."""
import base64
import datetime as dt
import decimal
import io
import json

import fastavro

UTC = dt.timezone.utc


def logical(type, name, **more):
    return {"type": type, "logicalType": name, **more}


def null(type):
    return ["null", type]


def param(name):
    return {"type": "record", "name": name, "fields": [
        {"name": "key", "type": "string"}, {"name": "value", "type": null("bytes"), "default": None}]}


def b64(data):
    return base64.b64encode(data).decode()


D = decimal.Decimal
MS = dt.datetime(2026, 11, 22, 5, 6, 7, 123000, UTC)
US = dt.datetime(1969, 12, 31, 23, 59, 59, 999999, UTC)
INF = float("inf")

# name, type, doc, then of each row: what fastavro takes, what Arrow takes. A pair of one is the same in both.
COLUMNS = [
    ("text", "string", "a comment", ("",), ("https://a.example/ü\0",), ("x" * 64,)),
    ("text_null", null("string"), None, (None,), ("",), ("b",)),
    ("large_text", null("string"), None, ("large",), (None,), ("ü" * 40,)),
    ("bytes", null("bytes"), None, (b"\0\xff", b64(b"\0\xff")), (b"", ""), (None,)),
    ("large_bytes", "bytes", None, (b"\0\xff", b64(b"\0\xff")), (b"", ""), (b"z", b64(b"z"))),
    ("fixed", null({"type": "fixed", "name": "Click_fixed", "size": 3}), None, (b"abc", b64(b"abc")), (None,), (b"\0\1\2", b64(b"\0\1\2"))),
    ("flag", "boolean", None, (True,), (False,), (True,)),
    ("flag_null", null("boolean"), None, (None,), (False,), (True,)),
    ("i8", null("int"), None, (-128,), (127,), (None,)),
    ("i16", null("int"), None, (-(2**15),), (2**15 - 1,), (None,)),
    ("i32", "int", None, (-(2**31),), (2**31 - 1,), (0,)),
    ("i64", "long", None, (-(2**63),), (2**63 - 1,), (64,)),
    ("u8", null("int"), None, (255,), (0,), (None,)),
    ("u16", null("int"), None, (65535,), (0,), (None,)),
    ("u32", null("long"), None, (2**32 - 1,), (0,), (None,)),
    ("u64", null(logical("bytes", "decimal", precision=20, scale=0)), None, (D(2**64 - 1), 2**64 - 1), (D(0), 0), (D(128), 128)),
    ("f16", null("float"), None, (1.5,), (None,), (-65504.0,)),
    ("f32", "float", None, (1.5,), (-0.25,), (0.0,)),
    ("f64", null("double"), None, (0.1,), (1e300,), (None,)),
    ("d128", logical("bytes", "decimal", precision=30, scale=3), None,
     (D("-123456789012345678901.500"), "-123456789012345678901.500"), (D("0.127"), "0.127"), (D("-0.129"), "-0.129")),
    ("d256", null(logical("bytes", "decimal", precision=60, scale=0)), None,
     (D(-(10**59)), str(-(10**59))), (None,), (D(10**59), str(10**59))),
    ("day", null(logical("int", "date")), None, (dt.date(1969, 12, 31), "1969-12-31"), (None,), (dt.date(2026, 11, 22), "2026-11-22")),
    ("day_ms", null(logical("int", "date")), None, (dt.date(1969, 12, 31), "1969-12-31"), (None,), (dt.date(2026, 11, 22), "2026-11-22")),
    ("clock_s", null(logical("int", "time-millis")), None, (dt.time(1, 2, 3), "01:02:03"), (None,), (dt.time(0, 0), "00:00:00")),
    ("clock_ms", null(logical("int", "time-millis")), None, (dt.time(1, 2, 3, 4000), "01:02:03.004"), (None,), (dt.time(0, 0), "00:00:00")),
    ("clock_us", null(logical("long", "time-micros")), None, (dt.time(1, 2, 3, 4), "01:02:03.000004"), (None,), (dt.time(0, 0), "00:00:00")),
    ("at_s", logical("long", "timestamp-millis"), None, (MS.replace(microsecond=0), "2026-11-22T05:06:07Z"), (dt.datetime(1900, 1, 1, tzinfo=UTC), "1900-01-01T00:00:00Z"),
     (dt.datetime(1970, 1, 1, tzinfo=UTC), "1970-01-01T00:00:00Z")),
    ("at_ms", null(logical("long", "timestamp-millis")), None, (MS, "2026-11-22T05:06:07.123Z"), (None,), (None,)),
    ("at_us", null(logical("long", "timestamp-micros")), None, (US, "1969-12-31T23:59:59.999999Z"), (None,), (None,)),
    ("at_ns", null(logical("long", "timestamp-nanos")), None, (1795323967123456789, 1795323967123456789), (None,), (None,)),
    ("local_ms", null(logical("long", "local-timestamp-millis")), None, (MS.replace(tzinfo=None), "2026-11-22T05:06:07.123"), (None,), (None,)),
    ("local_us", null(logical("long", "local-timestamp-micros")), None, (US.replace(tzinfo=None), "1969-12-31T23:59:59.999999"), (None,), (None,)),
    ("word", null("string"), None, ("yes",), (None,), ("yes",)),
    ("list", null({"type": "array", "items": "string"}), None, (["a", "b"],), ([],), (None,)),
    ("list_null", {"type": "array", "items": null("long")}, None, ([1, None, -1],), ([],), ([None],)),
    ("large_list", {"type": "array", "items": "int"}, None, ([],), (list(range(70)),), ([7],)),
    ("pair", null({"type": "array", "items": null("long")}), None, ([1, 2],), (None,), ([3, 4],)),
    ("matrix", {"type": "array", "items": null({"type": "array", "items": null("int")})}, None, ([[1, None], None, []],), ([],), ([[2]],)),
    ("params", null({"type": "array", "items": param("Click_params")}), None,
     ([{"key": "a", "value": b"1"}, {"key": "a", "value": None}], [{"key": "a", "value": b64(b"1")}, {"key": "a", "value": None}]), (None,), ([],)),
    ("map", null({"type": "map", "values": null("string")}), None,
     ({"a": "1", "b": None}, [{"key": "a", "value": "1"}, {"key": "b", "value": None}]), ({}, []), (None,)),
    ("numbered", {"type": "array", "items": {"type": "record", "name": "Click_numbered", "fields": [
        {"name": "key", "type": "int"}, {"name": "value", "type": null("string"), "default": None}]}}, None,
     ([{"key": 2, "value": "two"}],), ([],), ([{"key": 3, "value": None}],)),
    ("nested", null({"type": "record", "name": "Click_nested", "fields": [
        {"name": "name", "type": null("string"), "doc": "an inner comment", "default": None},
        {"name": "inner", "type": {"type": "record", "name": "Click_nested_inner", "fields": [{"name": "n", "type": "int"}]}},
    ]}), None, ({"name": "x", "inner": {"n": 1}},), (None,), ({"name": None, "inner": {"n": -1}},)),
    ("nothing", "null", None, (None,), (None,), (None,)),
]


def field(name, type, doc):
    out = {"name": name, "type": type}
    if doc:
        out["doc"] = doc
    if type == "null" or isinstance(type, list):
        out["default"] = None
    return out


schema = {"type": "record", "name": "Click", "namespace": "org.example", "fields": [field(*c[:3]) for c in COLUMNS]}
parsed = fastavro.parse_schema(schema)
rows = []
for row in range(3):
    out = io.BytesIO()
    fastavro.schemaless_writer(out, parsed, {c[0]: c[3 + row][0] for c in COLUMNS})
    rows.append({"row": {c[0]: c[3 + row][-1] for c in COLUMNS}, "avro": out.getvalue().hex()})
print(json.dumps({"schema": json.loads(json.dumps(schema)), "rows": rows}, indent=1))
