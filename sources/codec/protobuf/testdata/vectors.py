"""Writes vectors.json: records as Google's Python library writes them. pip install protobuf; python3 vectors.py > vectors.json"""
import datetime as dt
import json

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf import duration_pb2, timestamp_pb2, wrappers_pb2

SCHEMA = """syntax = "proto3";
package org.example;
import "google/protobuf/timestamp.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/wrappers.proto";
message Click {
  enum Kind { VIEW = 0; BUY = 1; }
  message Request { string url = 1; map<string, string> headers = 2; repeated sint32 numbers = 3; }
  sint64 id = 1; Request request = 2; google.protobuf.Timestamp at = 3; google.protobuf.Duration took = 4;
  google.protobuf.StringValue note = 5; Kind kind = 6; bool ok = 7; double share = 8; fixed32 low = 9; sfixed64 high = 10; bytes raw = 11;
}
"""
F = descriptor_pb2.FieldDescriptorProto
file = descriptor_pb2.FileDescriptorProto(name="click.proto", package="org.example", syntax="proto3")
file.dependency.extend(["google/protobuf/timestamp.proto", "google/protobuf/duration.proto", "google/protobuf/wrappers.proto"])
click = file.message_type.add(name="Click")
click.enum_type.add(name="Kind").value.extend([descriptor_pb2.EnumValueDescriptorProto(name=n, number=i) for i, n in enumerate(["VIEW", "BUY"])])
request = click.nested_type.add(name="Request")
entry = request.nested_type.add(name="HeadersEntry")
entry.options.map_entry = True


def field(message, name, number, kind, label=F.LABEL_OPTIONAL, of=None):
    message.field.add(name=name, number=number, type=kind, label=label, type_name=of)


field(entry, "key", 1, F.TYPE_STRING)
field(entry, "value", 2, F.TYPE_STRING)
field(request, "url", 1, F.TYPE_STRING)
field(request, "headers", 2, F.TYPE_MESSAGE, F.LABEL_REPEATED, ".org.example.Click.Request.HeadersEntry")
field(request, "numbers", 3, F.TYPE_SINT32, F.LABEL_REPEATED)
field(click, "id", 1, F.TYPE_SINT64)
field(click, "request", 2, F.TYPE_MESSAGE, of=".org.example.Click.Request")
field(click, "at", 3, F.TYPE_MESSAGE, of=".google.protobuf.Timestamp")
field(click, "took", 4, F.TYPE_MESSAGE, of=".google.protobuf.Duration")
field(click, "note", 5, F.TYPE_MESSAGE, of=".google.protobuf.StringValue")
field(click, "kind", 6, F.TYPE_ENUM, of=".org.example.Click.Kind")
field(click, "ok", 7, F.TYPE_BOOL)
field(click, "share", 8, F.TYPE_DOUBLE)
field(click, "low", 9, F.TYPE_FIXED32)
field(click, "high", 10, F.TYPE_SFIXED64)
field(click, "raw", 11, F.TYPE_BYTES)

pool = descriptor_pool.DescriptorPool()
for known in (timestamp_pb2, duration_pb2, wrappers_pb2):
    pool.AddSerializedFile(known.DESCRIPTOR.serialized_pb)
pool.Add(file)
Click = message_factory.GetMessageClass(pool.FindMessageTypeByName("org.example.Click"))

full = Click(id=-(2**63), kind=1, ok=True, share=-0.1, low=2**32 - 1, high=-2, raw=b"plain")
full.request.url = "https://a.example/ü"
full.request.headers["Referer"] = "https://r.example/"
full.request.numbers.extend([1, -300, 7])
full.at.FromDatetime(dt.datetime(1969, 12, 31, 23, 59, 59, 250000))
full.took.FromTimedelta(dt.timedelta(seconds=-1.5))
full.note.value = "note"
want = {
    "id": -(2**63), "request/url": "https://a.example/ü", "request/headers/Referer": "https://r.example/", "request/numbers/1": -300, "at": -750000,
    "took": -1.5, "note": "note", "kind": "BUY", "ok": True, "share": -0.1, "low": 2**32 - 1, "high": -2, "raw": "plain",
}
none = {
    "id": 0, "request/url": None, "request/headers/Referer": None, "request/numbers/1": None, "at": None, "took": None, "note": None, "kind": "VIEW",
    "ok": False, "share": 0.0, "low": 0, "high": 0, "raw": "",
}
vectors = [{"record": m.SerializeToString(deterministic=True).hex(), "want": w} for m, w in ((full, want), (Click(), none))]
print(json.dumps({"schema": SCHEMA, "vectors": vectors}, indent=1, ensure_ascii=False))
