// Package compat gives what other programs' functions give for a URL, right or wrong: Spark's parse_url and the URL
// functions of ClickHouse. It is for those who replace such a function by urlmill's columns and need yesterday's values
// beside today's; whoever wants to know what a URL is uses package urlcore.
//
//	yesterday, err := compat.ParseSpark("https://my_shop.example/a b") // err: an illegal character in the path
//	yesterday.Host()                                                   // "", false: NULL
//	compat.ClickHouse("https://example.com:8080/a/../b").Path()        // "/a/../b"
//
// # What is reproduced
//
// [Spark] is parse_url and try_parse_url of Spark 3 and 4, that is, the grammar of java.net.URI (RFC 2396 with what Java
// changes in it) and the regular expression that finds parameters. [ClickHouse] is ClickHouse 25.8; releases
// from 26.9 on give something else for ports with a fallback, hierarchies and parameters that are cut out. Both are compared with
// the programs themselves, pyspark and chdb, on a million URLs each: see "make compat".
//
// What the functions do not agree on with themselves is not here: the functions of ClickHouse that end in RFC, which
// change from release to release, and parse_url of Hive, which reads with java.net.URL, asks the protocol handlers of
// the Java machine, and so has no fixed grammar.
//
// # Cost
//
// Everything takes time linear in the length of the URL and allocates nothing, but for lists, errors, what is put together
// or decoded anew, and text that is not UTF-8. All values are immutable and safe for concurrent use.
package compat
