// Package filesink is what the sinks have in common, whatever their format: a writer for every lane, spans and
// sizes, files named after the positions that they hold, the order of a commit, and a shared output stream.
package filesink
