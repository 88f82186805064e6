// Package examples holds the example configurations, for the commands and tests that run them.
package examples

import _ "embed"

// Clickstream is clickstream.yaml: clicks from Kafka into Parquet files.
//
//go:embed clickstream.yaml
var Clickstream []byte

// Files is files.yaml: URLs from files into Parquet files.
//
//go:embed files.yaml
var Files []byte
