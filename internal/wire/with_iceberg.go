//go:build !core

package wire

import "github.com/urlmill/urlmill/sinks/iceberg"

func init() {
	add("iceberg", func(r *Components) {
		r.tables, r.inspect, r.keep = append(r.tables, iceberg.Kind()), iceberg.Inspect, iceberg.OpenKeeper
	})
}
