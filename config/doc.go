// Package config reads a YAML file into variables. It is the engine alone: what keys there are, which variables they are bound
// to, their defaults, bounds and sentences of documentation are said by a [Section], and from it follow also the reference,
// the JSON Schema, the list of what has changed between two files, and the settings that a status page shows.
//
// A file is decoded strictly: every problem is reported and not only the first, each with its file, line and column, with what
// would be right and, for a name that was mistyped, with the nearest one that exists.
//
// Values may hold ${NAME}, ${NAME:-default} and ${file:/path}; see [Env]. What was put in for them is never
// printed: messages quote the file as it was written. [Secret] keeps passwords out of logs.
package config
