//go:build !core

package wire

import "github.com/urlmill/urlmill/sinks/database/postgres"

func init() { add("postgres", func(r *Components) { r.Sinks = append(r.Sinks, postgres.Kind) }) }
