// Package coproc is the line protocol of "urlmill url --ndjson", by which another program has URLs parsed, in version
// 1. Within a version, answers may get further members and errors further names; what is there stays as it is.
//
// Every line in gives exactly one line out, in order. A request is a JSON object with a string "input" and,
// optionally, "base", a string or null; other members are skipped:
//
//	{"input":"../b?x=1&x=2","base":"https://user@Example.com:8080/a/c"}
//
// The answer to an input that parses has the getters of the URL class, and further the public suffix and the
// registrable domain, null where there is none, and the parameters of the query, decoded, in order:
//
//	{"href":"https://user@example.com:8080/b?x=1&x=2","origin":"https://example.com:8080","protocol":"https:",
//	 "username":"user","password":"","host":"example.com:8080","hostname":"example.com","port":"8080",
//	 "pathname":"/b","search":"?x=1&x=2","hash":"","public_suffix":"com","registrable_domain":"example.com",
//	 "params":[["x","1"],["x","2"]]}
//
// The answer to one that does not has the standard's name of the validation error and the byte position in the
// UTF-8 of the input; when the base does not parse, "base-" is put before the name, and the position is in the base:
//
//	{"error":"host-missing","position":8}
//
// A line that is no request is answered by the error "record-malformed" with the byte position in the line, one
// above [MaxLine] by "record-too-large"; then it goes on with the next line. Unpaired surrogates in a JSON string,
// and bytes that are not UTF-8, count as U+FFFD.
//
// Answers are held back only while there is more input to read without waiting, so that a program may write a
// line and read its answer before it writes the next.
package coproc
