"""Asks DataFusion for rows of a Parquet file, and what it did not have to read for that.

Usage: prune.py FILE CONDITIONS, with a list of SQL conditions as JSON. Prints {"results": [{"rows", "statistics",
"bloom", "page_rows"}, ...]}: the ids found, and pairs of numbers before and after pruning of row groups by their
statistics, of those that are left by bloom filters, and of rows by the page index.
"""

import json
import re
import sys

try:
    import datafusion
except ImportError as e:
    print(json.dumps({"unavailable": str(e)}))
    sys.exit(0)

path, conditions = sys.argv[1], json.loads(sys.argv[2])
config = datafusion.SessionConfig().with_target_partitions(1)
context = datafusion.SessionContext(config)
for name in ["bloom_filter_on_read", "enable_page_index", "pruning", "pushdown_filters"]:
    context.sql(f"SET datafusion.execution.parquet.{name} = true").collect()
context.sql("SET datafusion.explain.analyze_level = 'dev'").collect()
context.register_parquet("t", path)
units = {"": 1, "K": 10**3, "M": 10**6}


def pair(plan, metric):
    m = re.search(metric + r"=([0-9.]+) ?([KM]?) total → ([0-9.]+) ?([KM]?) matched", plan)
    return [round(float(m[1]) * units[m[2]]), round(float(m[3]) * units[m[4]])] if m else [0, 0]


results = []
for condition in conditions:
    query = f"SELECT id FROM t WHERE {condition}"
    rows = [v for batch in context.sql(query).collect() for v in batch.column(0).to_pylist()]
    plan = "".join(v for batch in context.sql("EXPLAIN ANALYZE " + query).collect() for v in batch.column(1).to_pylist())
    results.append({
        "rows": sorted(rows), "statistics": pair(plan, "row_groups_pruned_statistics"),
        "bloom": pair(plan, "row_groups_pruned_bloom_filter"), "page_rows": pair(plan, "page_index_rows_pruned"),
    })
print(json.dumps({"results": results}))
