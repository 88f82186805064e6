package main

import "strings"

// formats are the names of types by how the interface writes them, parameters left out. Errors need them: nobody knows that "+r" is
// run-end encoded.
var formats = map[string]string{
	"b": "bool", "c": "int8", "C": "uint8", "s": "int16", "S": "uint16", "i": "int32", "I": "uint32", "l": "int64", "L": "uint64",
	"e": "float16", "f": "float32", "g": "float64", "d": "decimal", "w": "fixed_size_binary",
	"u": "utf8", "U": "large_utf8", "vu": "utf8_view", "z": "binary", "Z": "large_binary", "vz": "binary_view", "n": "null",
	"tdD": "date32", "tdm": "date64", "tts": "time32", "ttm": "time32", "ttu": "time64", "ttn": "time64",
	"tss": "timestamp", "tsm": "timestamp", "tsu": "timestamp", "tsn": "timestamp",
	"tDs": "duration", "tDm": "duration", "tDu": "duration", "tDn": "duration", "tiM": "interval", "tiD": "interval", "tin": "interval",
	"+l": "list", "+L": "large_list", "+vl": "list_view", "+vL": "large_list_view", "+w": "fixed_size_list",
	"+s": "struct", "+m": "map", "+ud": "union", "+us": "union", "+r": "run_end_encoded",
}

// nameOf returns the name of a format, and the format itself where it is not known.
func nameOf(format string) string {
	kind, _, _ := strings.Cut(format, ":")
	if name, ok := formats[kind]; ok {
		return name
	}
	return format
}
