// Package sinktest makes tables to test sinks with, and turns Arrow values into plain Go ones to compare what
// readers find in the output.
package sinktest
