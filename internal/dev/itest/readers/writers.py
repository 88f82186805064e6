# Changes an Iceberg table as its other writers do: writers.py pyiceberg|spark CATALOG_URL TABLE [JAR]. It reads the names of steps, a
# line each, and answers each with a line of JSON.
import json
import sys
import time

engine, uri, name = sys.argv[1:4]


class Pyiceberg:
    def __init__(self):
        from pyiceberg.catalog.rest import RestCatalog

        self.catalog = RestCatalog("rest", uri=uri)

    def table(self):
        return self.catalog.load_table(name)

    def again(self, change):
        """pyiceberg gives up when another one was faster, or has merged what it was to change; whoever uses it tries again."""
        from pyiceberg.exceptions import CommitFailedException, ValidationException

        for _ in range(50):
            try:
                return change(self.table())
            except (CommitFailedException, ValidationException):
                pass
        raise RuntimeError("others were always faster")

    def columns(self):
        from pyiceberg.types import LongType, StringType

        def change(t):
            with t.update_schema() as u:
                u.add_column("note", StringType())
                u.rename_column("host", "site")
                u.update_column("port", field_type=LongType())

        self.again(change)

    def partition(self):
        from pyiceberg.transforms import BucketTransform, IdentityTransform

        def change(t):  # two fields of ts it cannot write
            with t.update_spec() as u:
                u.add_field("port", IdentityTransform(), "port")
                u.add_field("site", BucketTransform(4), "bucket_of_site")

        self.again(change)

    def delete(self):
        self.again(lambda t: t.delete("n < 100 and n >= 50"))

    def branch(self):
        self.again(lambda t: t.manage_snapshots().create_branch(t.current_snapshot().snapshot_id, "audit").create_tag(t.current_snapshot().snapshot_id, "then").commit())

    def expire(self):
        import datetime

        self.again(lambda t: t.maintenance.expire_snapshots().older_than(datetime.datetime.now()).commit())

    def append(self):
        import pyarrow as pa

        self.again(lambda t: t.append(pa.Table.from_pylist([{"n": -1}, {"n": -2}], schema=t.schema().as_arrow())))

    def count(self):
        t = self.table()
        n = t.scan(selected_fields=("n",)).to_arrow()["n"].to_pylist()
        audit = t.scan(selected_fields=("n",), snapshot_id=t.refs()["audit"].snapshot_id).to_arrow().num_rows if "audit" in t.refs() else 0
        names = t.schema().column_names
        sites = None
        if "site" in names:
            sites = t.scan(selected_fields=("site",), row_filter="site is not null").to_arrow().num_rows
            one = t.scan(selected_fields=("site",), row_filter="site = 'site3.example'").to_arrow().num_rows
        else:
            one = 0
        return {"rows": len(n), "distinct": len(set(n)), "sum": sum(n), "sites": sites, "one": one, "audit": audit, "columns": names,
                "files": [f.file.file_path for f in t.scan().plan_files()], "specs": sorted({f.file.spec_id for f in t.scan().plan_files()})}


class Spark:
    def __init__(self):
        from pyspark.sql import SparkSession

        self.s = (
            SparkSession.builder.master("local[2]")
            .config("spark.jars", sys.argv[4])
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.memory", "1g")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
            .config("spark.sql.catalog.r", "org.apache.iceberg.spark.SparkCatalog")
            .config("spark.sql.catalog.r.type", "rest")
            .config("spark.sql.catalog.r.uri", uri)
            .getOrCreate()
        )
        self.s.sparkContext.setLogLevel("ERROR")

    def sql(self, text):
        """Spark gives up when another one has merged what it was to change; whoever uses it tries again."""
        for attempt in range(20):
            try:
                self.s.sql("REFRESH TABLE r." + name)
                return [r.asDict() for r in self.s.sql(text.replace("$t", "r." + name)).collect()]
            except Exception as e:
                if attempt == 19 or not any(w in str(e) for w in ("ValidationException", "CommitFailedException", "concurrently modified")):
                    raise

    def rewrite(self):
        return self.sql(f"CALL r.system.rewrite_data_files(table => '{name}', options => map('rewrite-all', 'true', 'partial-progress.enabled', 'true'))")[0]

    def columns(self):
        for change in "ADD COLUMN note string", "RENAME COLUMN host TO site", "ALTER COLUMN port TYPE bigint":
            self.sql("ALTER TABLE $t " + change)
        # Spark's vectorized reader does not stand a column that was widened in some of the files.
        self.sql("ALTER TABLE $t SET TBLPROPERTIES ('read.parquet.vectorization.enabled' = 'false')")

    def partition(self):
        self.sql("ALTER TABLE $t ADD PARTITION FIELD hours(ts) AS hour_of_ts")
        self.sql("ALTER TABLE $t ADD PARTITION FIELD bucket(4, site) AS bucket_of_site")

    def delete(self):
        self.sql("DELETE FROM $t WHERE n >= 50 AND n < 75")
        self.sql("ALTER TABLE $t SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
        self.sql("DELETE FROM $t WHERE n >= 75 AND n < 100")

    def branch(self):
        self.sql("ALTER TABLE $t CREATE BRANCH audit")
        self.sql("ALTER TABLE $t CREATE TAG then")

    def expire(self):
        return self.sql(f"CALL r.system.expire_snapshots(table => '{name}', older_than => now(), retain_last => 1)")[0]

    def orphans(self):
        self.sql(f"CALL r.system.rewrite_manifests(table => '{name}')")
        yesterday = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(time.time() - 25 * 3600))
        self.sql(f"CALL r.system.remove_orphan_files(table => '{name}', older_than => TIMESTAMP '{yesterday}')")

    def append(self):
        self.sql("INSERT INTO $t VALUES (NULL, NULL, -1, NULL, NULL), (NULL, NULL, -2, NULL, NULL)")

    def count(self):
        out = self.sql("SELECT count(*) AS rows, count(DISTINCT n) AS distinct, sum(n) AS sum FROM $t")[0]
        out["columns"] = self.s.table("r." + name).columns
        if "site" in out["columns"]:
            out.update(self.sql("SELECT count(site) AS sites, count_if(site = 'site3.example') AS one FROM $t")[0])
            out["one"] = self.sql("SELECT count(*) AS one FROM $t WHERE site = 'site3.example'")[0]["one"]
        files = self.sql("SELECT file_path, spec_id FROM $t.files WHERE content = 0")
        out["files"], out["specs"] = [f["file_path"] for f in files], sorted({f["spec_id"] for f in files})
        if self.sql("SELECT * FROM $t.refs WHERE name = 'audit'"):
            out["audit"] = self.sql("SELECT count(*) AS audit FROM $t VERSION AS OF 'audit'")[0]["audit"]
        return out


try:
    writer = {"pyiceberg": Pyiceberg, "spark": Spark}[engine]()
except ImportError as e:
    print(json.dumps({"unavailable": str(e)}), flush=True)
    sys.exit(0)
print("{}", flush=True)
for line in sys.stdin:
    answer = getattr(writer, line.strip())()
    print(json.dumps(answer or {}), flush=True)
