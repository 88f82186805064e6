/**
 * Functions of URLs for Spark SQL. {@link io.github.urlmill.spark.UrlmillExtensions} is all that is named in a configuration; the other
 * classes may change with any version.
 */
package io.github.urlmill.spark;
