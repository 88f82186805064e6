// Package itest reads what urlmill writes with readers that have nothing to do with the code that wrote it. It is
// a module of its own, since they need a C compiler and hundreds of megabytes of libraries.
//
//	go test ./...                                         DuckDB, parquet-go, and pyarrow if python3 can import it
//	URLMILL_REQUIRE_PYARROW=1 go test ./...               fails without pyarrow
//	URLMILL_PYTHON=venv/bin/python go test ./...          with the pyarrow of that Python
package itest
