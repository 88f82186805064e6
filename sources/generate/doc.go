// Package generate makes URLs and clickstream records for demonstrations, tests and benchmarks, and is a source of
// them. What it makes is synthetic and depends on its options alone; any record can be made without those before it.
//
// # The mix
//
// There are two profiles. Their lengths were fitted to what is published about real collections:
//
//   - Clickstream: lengths of which a quarter is below 52 bytes, half below 76, three quarters below 114, and 99.5 %
//     below 250; 88 on average. The URLs of a crawl of 6.6 million pages have 50, 67, 91, 218 and 77
//     (supermind.org/blog/740), those of links found on the 100 most visited sites 87 on average
//     (github.com/ada-url/url-dataset). Clicks are longer than crawled URLs because every fourth carries the
//     parameters of trackers. Six of ten have a query, one of nine an escape, one of twenty-five a fragment.
//   - Crawl: 45 bytes on average, one of twenty with a query, as in the 48,009 URLs of
//     github.com/ada-url/url-various-datasets, others/kasztp.txt.
//
// Hosts follow Zipf's law, 20,000 of them with exponent 0.95 and 100,000 with 0.6, under some 70 public suffixes in
// about the proportions that they have in large crawls, private ones such as github.io among them. Pages of a host
// are popular to different degrees as well. 0.6 % of the hosts are internationalized, in Unicode or in Punycode.
//
// 1 % of the clicks and 0.3 % of the crawled URLs are broken. Public lists have less (26 of the 100,025 URLs above),
// since somebody cleaned them; what pages report about themselves has more. Most of it is what scripts send when
// they have no URL: "undefined", an empty string, a path alone. The rest is spread over every error of the URL
// Standard that ends parsing. [Classes] lists all classes with their shares, and Options.Mix changes them.
package generate
