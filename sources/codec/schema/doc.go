// Package schema is what the codecs of records with a schema have in common: how a record says which schema it has, where
// schemas come from, and how the values that a schema describes become columns.
//
// A record begins with a byte 0 and the number of its schema in a registry, in four bytes with the most significant one
// first. Protobuf has the place of its message in the schema after that. Without a registry the schema is a file, and
// records may be without this header.
package schema
