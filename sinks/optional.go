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

// Queried is the options of a sink whose rows query engines read. It is optional.
type Queried interface {
	// Described returns where they find rows of a schema.
	Described(rows *arrow.Schema) Described
}

// Described says where query engines find rows.
type Described struct {
	// Table is the name of the table that a database or a catalog has of them, "" if none has.
	Table string
	// Format is that of the files, "" if the rows are in a database alone.
	Format string
	// Place is the folder of the files, and Partitions are its levels of directories.
	Place      string
	Partitions []arrow.Field
}
