// Package convert reads tables from files of several formats and writes them into others, a record batch at a time: what
// "urlmill convert" and "urlmill parquet head" do. The libraries' readers do the decoding, and the sinks the writing.
package convert
