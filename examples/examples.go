// Package examples holds the example configurations, for the commands and tests that run them.
package examples

import (
	_ "embed"
	"slices"
)

var (
	//go:embed clickstream.yaml
	clickstream []byte
	//go:embed dedupe.yaml
	dedupe []byte
	//go:embed warehouse.yaml
	warehouse []byte
)

// The uses that [Use] knows.
const (
	Clickstream = "clickstream" // clicks from Kafka into Parquet files, with campaigns
	Dedupe      = "dedupe"      // crawled URLs from files, with duplicates marked
	Warehouse   = "warehouse"   // clicks from Kafka into partitions by day and an Iceberg table
)

// Uses returns the names that [Use] knows, the most common one first. The caller owns the slice.
func Uses() []string { return []string{Clickstream, Dedupe, Warehouse} }

// Use returns the configuration to start from for a use, which is the file of that name with the suffix .yaml in this
// folder; nil for a use that is not known. The caller owns the slice.
func Use(name string) []byte {
	return slices.Clone(map[string][]byte{Clickstream: clickstream, Dedupe: dedupe, Warehouse: warehouse}[name])
}
