"""Prints what the snapshots of an Iceberg table name: iceberg.py CATALOG_FILE TABLE gives [{"files": [...], "added": N}, ...]."""

import json
import sys

from pyiceberg.catalog.sql import SqlCatalog

catalog, name = sys.argv[1:]
table = SqlCatalog("urlmill", uri="sqlite:///" + catalog).load_table(name)
snapshots = sorted(table.snapshots(), key=lambda s: s.sequence_number)
out = []
for s in snapshots:
    files = [t.file.file_path.removeprefix("file://") for t in table.scan(snapshot_id=s.snapshot_id).plan_files()]
    out.append({"files": files, "added": int(s.summary.additional_properties.get("added-records", 0))})
json.dump(out, sys.stdout)
