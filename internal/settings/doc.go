// Package settings has the sections of the one YAML file that describes a urlmill pipeline, each bound to typed values with
// their defaults, and the conflicts between them. Package config reads the file.
//
// A file is decoded strictly. Unknown keys, wrong types, missing values and conflicts are all reported, every
// one of them and not only the first, each with its file, line and column, with what would be right and, for a
// name that was mistyped, with the nearest one that exists:
//
//	clicks.yaml:4:5: unknown key "topcis" in source.kafka; did you mean "topics"?
package settings
