// Package recordbatch reads the record sets of Kafka's fetch responses: record batches of message format v2, and
// the message sets of the formats v0 and v1 that old log segments still hold.
//
// A record set is a run of entries that begin alike:
//
//	 0        8        12              16      17
//	+--------+--------+---------------+-------+----
//	| offset | length | epoch or CRC  | magic | ...
//	+--------+--------+---------------+-------+----
//
// offset is the first of the batch in v2 and the last of the message, or of the compressed messages in it, in
// v0 and v1; length counts the bytes after itself. The last entry of a response may be cut off.
//
// Source: https://kafka.apache.org/documentation/#messageformat, and KIP-98 for v2.
package recordbatch
