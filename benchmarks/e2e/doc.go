// Command e2e measures whole jobs, from files or Kafka to Parquet files: urlmill beside a program as a Go user would
// write it, DuckDB, ClickHouse (chdb) and Spark.
//
// Every system runs in a process of its own, which says how long the job took, the time of the CPU and the largest
// resident memory; the broker is another process, whose CPU is nobody's. The systems take turns, so that a busy
// machine is busy for everyone, and the tables show medians.
//
// Every job makes the same seven columns of a generated clickstream, one URL a record: url, scheme, host, port,
// registrable_domain, path and query. urlmill and ClickHouse have functions for each; net/url is another standard; in
// DuckDB a regular expression takes the URL apart, and in DuckDB and Spark another one takes the last two labels of
// the host, or three after a short second one, for the registrable domain.
//
// urlmill_compact is urlmill with the profile compact: the parts, and what of the URL as given is not in them.
//
// Environment: QUICK=1 measures less, without Spark and real Kafka. URLMILL_PYTHON is a Python with the packages
// duckdb, chdb and pyspark; what it lacks is left out and named. KAFKA_BROKERS=HOST:PORT adds a job from a broker that
// is there; REAL_KAFKA=1 from an Apache Kafka that is fetched from Maven Central and started.
package main
