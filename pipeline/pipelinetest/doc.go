// Package pipelinetest has sources and sinks in memory that fail where a test tells them to, and a checker
// of what was delivered.
package pipelinetest
