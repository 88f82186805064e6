// Package urlcols turns batches of records into Arrow records of URL columns: it joins package pipeline and
// package urlcore/columns.
package urlcols
