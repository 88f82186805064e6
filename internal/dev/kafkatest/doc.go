// Package kafkatest gives tests a Kafka to talk to: a real Apache Kafka in KRaft mode with [Start], and
// franz-go's in-process imitation with [Fake], which needs nothing but Go.
//
// The real one is fetched from its Maven artifacts into the user's cache folder the first time, runs on
// 127.0.0.1 with free ports, and dies with the test binary. It needs Java 17 or newer and Maven; where one of
// them is missing the test is skipped with the reason, or fails if URLMILL_REQUIRE_KAFKA=1, as it is set in
// continuous integration.
package kafkatest
