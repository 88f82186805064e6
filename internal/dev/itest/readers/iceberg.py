# Reads an Iceberg table with pyiceberg: iceberg.py CATALOG_FILE TABLE COLUMN FILTER PROPERTIES. Prints a JSON object.
import json
import sys

try:
    from pyiceberg.catalog.sql import SqlCatalog
except ImportError as e:
    print(json.dumps({"unavailable": str(e)}))
    sys.exit(0)

catalog_file, name, column, row_filter, properties = sys.argv[1:]
table = SqlCatalog("urlmill", uri="sqlite:///" + catalog_file, **(json.loads(properties) or {})).load_table(name)
rows = table.scan().to_arrow()
filtered = table.scan(row_filter=row_filter)
print(json.dumps({
    "rows": rows.num_rows,
    "columns": rows.schema.names,
    "sum": sum(rows[column].to_pylist()),
    "distinct": len(set(rows[column].to_pylist())),
    "partitions": [f.name for f in table.spec().fields],
    "files": [t.file.file_path for t in table.scan().plan_files()],
    "filtered": filtered.to_arrow().num_rows,
    "planned": len(list(filtered.plan_files())),
    "snapshots": len(table.snapshots()),
    "summary": dict(table.current_snapshot().summary.additional_properties),
}))
