// Package accesslog takes the access logs of web servers, load balancers and caches apart: one line is one request,
// whose URL is put together of what the log has of it.
//
// A format is a pattern of fields with text between them. It is written in the syntax of nginx or of Apache, or is one
// that ships with urlmill; W3C logs name their fields themselves.
package accesslog
