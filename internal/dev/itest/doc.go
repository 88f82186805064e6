// Package itest reads what urlmill writes with readers that have nothing to do with the code that wrote it. It is
// a module of its own, since they need a C compiler and hundreds of megabytes of libraries.
//
//	go test ./...                                  arrow v15, DuckDB, parquet-go; pyarrow, polars and DataFusion if
//	                                               python3 can import them
//	URLMILL_REQUIRE_PYARROW=1 go test ./...        fails without those
//	URLMILL_SPARK=1 go test -timeout 30m ./...     and with Spark, by the package pyspark and Java 17 (minutes)
//	URLMILL_PYTHON=venv/bin/python go test ./...   with the packages of that Python
//	URLMILL_SPARK_PYTHON=venv/bin/python           with URLMILL_SPARK=1: Spark writes to tables, too, by the package pyspark
//	                                               4.0, the newest that Iceberg has a runtime for in the catalog's version
package itest
