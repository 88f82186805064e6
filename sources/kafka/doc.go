// Package kafka reads Kafka topics as a member of a consumer group.
//
// A [Source] joins the group once per run and hands out one lane per assigned partition and generation of the
// group. Connections and small requests are kafka-go's; everything else goes around its ConsumerGroup and its Reader:
//
//	membership.go  joining the group, and leaving it
//	group.go     generations: lanes begin, drain before a rebalance, are lost after the deadline
//	commit.go    offsets, committed with the generation's own identity so that a stale one is refused
//	position.go  where a lane begins, and what the policies say if it cannot begin there
//	lane.go      the parts of a lane, and which goroutine owns each
//	reading.go   records into batches
//	damage.go    batches that cannot be read
//	resolve.go   records that wait for their schema
//	prefetch.go  one fetch ahead of the lane, retried while brokers are away
//	turns.go     how many requests there are at the same time
//	fetch.go     the fetch request on the wire; records are decoded by internal/records
//	session.go   what a run holds open; connections are made by internal/kafkaconn
//	errors.go    what stops a lane, and what is tried again
//	topics.go    waiting for brokers and topics at the start
//	options.go   what can be set; validate.go says what is wrong with it
package kafka
