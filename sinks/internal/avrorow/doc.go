// Package avrorow writes rows in Avro's binary encoding, with a schema that follows from the Arrow schema of the rows.
//
//	Arrow                                         Avro
//	nullable T                                    ["null", T], null by default
//	bool                                          boolean
//	int8, int16, int32, uint8, uint16             int
//	int64, uint32                                 long
//	uint64                                        bytes, decimal of precision 20 and scale 0
//	float16, float32; float64                     float; double
//	decimal128, decimal256                        bytes, decimal of their precision and scale
//	utf8, large_utf8                              string
//	binary, large_binary                          bytes
//	fixed_size_binary                             fixed
//	date32, date64                                int, date
//	time32; time64[us]                            int, time-millis; long, time-micros
//	timestamp with a zone, s and ms; us; ns       long, timestamp-millis; -micros; -nanos
//	timestamp without                             the same, local-timestamp-…
//	dictionary                                    what its values are
//	list, large_list, fixed_size_list             array
//	map with keys that are text                   map
//	map with other keys                           array of records with key and value
//	struct                                        record
//	null                                          null
//
// Named types within the row are called by the row's name and the path of columns and fields to them, with _ between, so
// that a name means the same whatever columns are beside it.
package avrorow
