// Package web reads the files of HTTP servers as objects of a bucket: those at addresses, and those of a list. A file has to have an ETag
// or a time of its last change, by which all requests for it ask for the same content. It implements [objstore.Options], and has no sink.
package web
