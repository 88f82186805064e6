package sinks

import "github.com/apache/arrow/go/v15/arrow"

// What options and sinks may have beside [Options] and [Sink]; package wire asks for it.

// Trial is a sink that can write the same into a folder, where it can be measured. It is optional: the rows of others become
// NDJSON in a trial.
type Trial interface {
	// IntoFolder returns options like these whose rows, dead letters and late rows go to folders below dir, in one go and without
	// keeping positions.
	IntoFolder(dir string) Options
}

// Movable is a sink of files that can write them into another folder, from where they are moved. It is optional.
type Movable interface {
	// InFolder returns options like these whose rows go to another folder, or an error that says what to take out.
	InFolder(path string) (Options, error)
}

// AvroSchemer is a [Sink] that may write rows in Avro. It is optional.
type AvroSchemer interface {
	// AvroSchema returns the schema that rows have then, and the subject that it is under in a registry.
	AvroSchema(rows *arrow.Schema) (text, subject string, err error)
}
