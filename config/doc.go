// Package config reads the one YAML file that describes a urlmill pipeline.
//
// A file is decoded strictly. Unknown keys, wrong types, missing values and conflicts are all reported, every
// one of them and not only the first, each with its file, line and column, with what would be right and, for a
// name that was mistyped, with the nearest one that exists:
//
//	clicks.yaml:4:5: unknown key "topcis" in source.kafka; did you mean "topics"?
//
// Values may hold ${NAME}, ${NAME:-default} and ${file:/path}; see [Env]. What was put in for them is never
// printed: messages quote the file as it was written. [Secret] keeps passwords out of logs.
//
// The package knows neither sources nor sinks. It defines plain typed sections, whoever builds the pipeline
// turns them into the options of those, and reports what those refuse through [Config.Problem], so that such
// problems have a line and a column too.
package config
